package lag

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// A Cause is a family of reasons for a stall.
type Cause string

// The causes, in the order in which a stall is charged to them: the earlier
// ones are certain where they apply, and make later ones look guilty.
const (
	// CauseApplication: the loop was waiting in the application, for a lock or
	// for what it was doing, while the scheduler ran.
	CauseApplication Cause = "waiting in the application"
	// CauseSuspended: the machine was suspended.
	CauseSuspended Cause = "machine suspended"
	// CauseThrottled: the CPU quota of the process's cgroup was used up.
	CauseThrottled Cause = "CPU quota"
	// CauseHost: the process was ready to run, and others had the CPUs.
	CauseHost Cause = "other processes on the host"
	// CausePauseGC: the GC had stopped the world.
	CausePauseGC Cause = "GC stop-the-world"
	// CausePauseOther: something else had, such as a profile, a heap dump, a
	// read of the memory statistics or a change of GOMAXPROCS.
	CausePauseOther Cause = "stop-the-world"
	// CauseStopped: the process did not run and did not want to: SIGSTOP, a
	// debugger, a frozen cgroup, a virtual machine that was paused.
	CauseStopped Cause = "process stopped"
	// CauseGC: the GC's marking, and the allocating goroutines that had to help,
	// had the processors.
	CauseGC Cause = "GC work"
	// CauseRunQueue: many goroutines were runnable, each for a short time.
	CauseRunQueue Cause = "run queue"
	// CauseCPU: goroutines that compute used up their turns.
	CauseCPU Cause = "CPU-bound goroutines"
	// CauseNonPreemptible: goroutines computed and could not be made to stop,
	// for instance in one copy of gigabytes.
	CauseNonPreemptible Cause = "non-preemptible work"
	// CauseUnknown: nothing that was measured explains it.
	CauseUnknown Cause = "unknown"
)

// A RankedCause is one cause of a stall.
type RankedCause struct {
	Cause Cause
	// Weight is the share of the stall that it explains, 0 to 1.
	Weight float64
	// Evidence is the numbers that say so, for a person.
	Evidence string
}

// The limits of the rules. They are few and round on purpose; the families lie
// far apart (see the package's documentation).
const (
	leastWeight = 0.05                   // of a cause that is worth a word
	frozenShare = 0.1                    // of the processors: a process that uses less does not run
	quantum     = 5 * time.Millisecond   // a goroutine that computes is made to yield after 10 ms
	preemption  = 40 * time.Millisecond  // a timer waits no longer than some such turns
	longTurn    = 100 * time.Millisecond // no goroutine that can be made to yield holds a processor for so long
)

// rank charges an episode to its causes, the heaviest first. Each takes its
// share, but no more than those before it in the list have left.
func rank(e evidence) []RankedCause {
	l := &ledger{evidence: e, left: 1, length: float64(max(e.length, 1))}
	l.chargeApplication()
	l.chargeSuspended()
	l.chargeQuota()
	l.chargeHost()
	l.chargePauses()
	l.chargeStopped()
	l.chargeProcessors()
	slices.SortStableFunc(l.causes, func(a, b RankedCause) int { return cmp.Compare(b.Weight, a.Weight) })
	if len(l.causes) == 0 || l.left > l.causes[0].Weight {
		l.causes = slices.Insert(l.causes, 0, RankedCause{CauseUnknown, l.left, l.unknown()})
	}
	return l.causes
}

// A ledger is a stall that is being charged.
type ledger struct {
	evidence
	causes  []RankedCause
	left    float64 // not explained so far
	length  float64
	quota   float64 // share
	outside float64 // share of all that kept the process from the CPUs
}

// charge gives a cause its share of the stall, at most what is left.
func (l *ledger) charge(c Cause, share float64, format string, args ...any) {
	w := min(share, l.left)
	if math.IsNaN(w) || w < leastWeight {
		return
	}
	l.left -= w
	l.causes = append(l.causes, RankedCause{c, w, fmt.Sprintf(format, args...)})
}

// share is a time as a share of the stall.
func (l *ledger) share(d time.Duration) float64 { return float64(d) / l.length }

// chargeApplication charges the wait for a turn in the loop beyond what the scheduler
// makes every goroutine wait.
func (l *ledger) chargeApplication() {
	if wait := l.parts.loop - l.parts.queue; wait > 0 {
		l.charge(CauseApplication, float64(wait)/float64(l.parts.total()), "%v of its turn in the loop", short(l.parts.loop))
	}
}

// chargeSuspended charges a suspension that the schedule's clock did not stand still for.
func (l *ledger) chargeSuspended() {
	if l.has&hasSuspended != 0 && l.suspended > 0 {
		s := float64(l.suspended)
		l.charge(CauseSuspended, s/(s+l.length), "for %v", short(l.suspended))
	}
}

// wanted is how many processors the process used or waited for, at least one:
// times that are sums over processors are divided by it.
func (l *ledger) wanted() float64 {
	return min(max(l.share(l.cpu+l.runDelay), 1), max(l.procs, 1))
}

// chargeQuota charges the time in which the process was throttled.
func (l *ledger) chargeQuota() {
	if l.has&hasThrottled == 0 || l.throttled <= 0 {
		return
	}
	// The kernel adds up over the CPUs on which there was something to
	// throttle: all that the process wanted, or as few as one. A quota that
	// ran out in every period was the limit on all of them.
	always := min(float64(l.exhausted)/float64(max(l.periods, 1)), 1)
	throttled := l.share(l.throttled)
	l.quota = min(throttled*always+throttled/l.wanted()*(1-always), 1)
	whose := ""
	if l.above > l.throttled/2 {
		whose = " by the quota of a group above"
		if l.has&hasRunDelay != 0 {
			// That counts other members of the group too. This process lost no
			// more than it waited.
			l.quota = min(l.quota, l.share(l.runDelay)/l.wanted())
		}
	}
	l.charge(CauseThrottled, l.quota, "throttled for %v over all CPUs%s, in %d of %d periods",
		short(l.throttled), whose, l.exhausted, l.periods)
}

// chargeHost charges what others had of the CPUs that the process wanted. A
// throttled thread waits for a CPU too, so that its quota explains a part of the run
// delay.
func (l *ledger) chargeHost() {
	share, words := 0.0, []string{}
	if l.has&hasRunDelay != 0 {
		share = max(l.share(l.runDelay)/l.wanted()-l.quota, 0)
		if l.has&hasCPU != 0 && l.cpus > 0 {
			// What the process itself had, no other could have.
			share = min(share, max(1-l.share(l.cpu)/float64(l.cpus), 0))
		}
		words = append(words, fmt.Sprintf("run delay %v", short(l.runDelay)))
	}
	if l.has&hasSteal != 0 && l.steal > 0 && l.cpus > 0 {
		share = max(share, l.share(l.steal)/float64(l.cpus))
		words = append(words, fmt.Sprintf("stolen %v", short(l.steal)))
	}
	before := l.left
	l.charge(CauseHost, share, "%s", strings.Join(words, ", "))
	l.outside = l.quota + before - l.left
}

// chargePauses charges stop-the-worlds. Many short ones starve a timer as a long one does,
// so it is their sum that counts. The total is written when the world runs
// again, the time to stop it before: whichever is larger.
func (l *ledger) chargePauses() {
	if l.has&hasPauses == 0 {
		return
	}
	pause := func(c Cause, stopping, total pauses) {
		sum, n := max(stopping.sum, total.sum), max(stopping.n, total.n)
		l.charge(c, l.share(sum), "%d of together %v, %v of it until all had stopped", n, short(sum), short(stopping.sum))
	}
	pause(CausePauseGC, l.stoppingGC, l.totalGC)
	pause(CausePauseOther, l.stoppingOther, l.totalOther)
}

// chargeStopped finds a process that neither ran nor waited for a CPU, though a timer was
// due or a goroutine runnable.
func (l *ledger) chargeStopped() {
	const needs = hasCPU | hasRunDelay
	if l.has&needs != needs || l.share(l.cpu) > frozenShare*l.procs || l.share(l.runDelay) > 0.2 {
		return
	}
	if l.share(l.parts.timer+l.parts.queue) > 0.2 {
		l.charge(CauseStopped, 1, "used the CPU for %v and waited %v for one", short(l.cpu), short(l.runDelay))
	}
}

// chargeProcessors finds a process that used what it had. The GC's part of that time is
// known when a cycle has ended, and is time in which it held processors, by the
// wall clock: more than CPU time if others had the CPUs meanwhile. The rest is goroutines, and how long each held
// a processor tells which kind: the queue's length is known too.
func (l *ledger) chargeProcessors() {
	if l.has&hasCPU == 0 {
		return
	}
	busy := min(l.share(l.cpu)/max(l.procs, 1), 1)
	gc := 0.0
	if l.has&hasGC != 0 && l.cpu > 0 && l.gcCPU > 0 {
		gc = min(float64(l.gcCPU)/float64(l.cpu), 1)
		l.charge(CauseGC, busy*gc, "%d cycles held processors for %v, %v of it assists; the process used the CPU for %v",
			l.cycles, short(l.gcCPU), short(l.assist), short(l.cpu))
	}
	cause, words := l.goroutines()
	if l.marking {
		words += ", " + midCycle
	}
	l.charge(cause, busy*(1-gc), "%s", words)
}

// goroutines tells what the goroutines were that had the processors.
func (l *ledger) goroutines() (Cause, string) {
	used := fmt.Sprintf("used %.1f of %.1f processors", l.share(l.cpu), l.procs)
	timer, queue := l.parts.timer, l.parts.queue
	if l.runnable > 4*int(l.procs) && (l.outside > 0.25 || 2*l.queue > timer) {
		// Timers were late because nothing ran, or because the probe's own goroutine
		// was in the queue: it goes to the end of that if it is pre-empted or comes
		// back from a system call. The queue tells what there was to run.
		timer, queue = 0, timer+queue
	}
	held := timer - time.Duration(l.outside*l.length) // by the process itself
	switch {
	case held > preemption && timer > queue:
		return CauseNonPreemptible, fmt.Sprintf("%s, no timer ran for %v", used, short(timer))
	case l.has&hasRunnable != 0 && l.outside < 0.25 && queue > timer && turn(queue, l.procs, l.runnable) > longTurn:
		return CauseNonPreemptible, fmt.Sprintf("%s, %d goroutines runnable, %v through the queue",
			used, l.runnable, short(queue))
	case l.has&hasRunnable != 0 && l.runnable > 0 && queue > timer && turn(queue, l.procs, l.runnable) < quantum:
		return CauseRunQueue, fmt.Sprintf("%d goroutines runnable, %v through the queue, %s", l.runnable, short(queue), used)
	case l.has&hasRunnable != 0:
		return CauseCPU, fmt.Sprintf("%s, %d goroutines runnable", used, l.runnable)
	}
	return CauseCPU, used
}

// midCycle is evidence where the GC's part is not known, since the runtime counts it at
// a cycle's end.
const midCycle = "a GC cycle was going on"

// turn is how long each of the goroutines in front had a processor.
func turn(queue time.Duration, procs float64, runnable int) time.Duration {
	return time.Duration(float64(queue) * procs / float64(max(runnable, 1)))
}

// unknown is what there is to say of a stall that nothing explains.
func (l *ledger) unknown() string {
	if l.has&hasCPU == 0 {
		return "the process's CPU time is not known"
	}
	s := "CPU time " + short(l.cpu)
	if l.has&hasRunDelay != 0 {
		s += ", run delay " + short(l.runDelay)
	}
	if l.marking {
		s += ", " + midCycle
	}
	if l.faults > 0 {
		s += fmt.Sprintf(", %d page faults waited for a device", l.faults)
	}
	return s
}

// short is a duration as a person wants to read it: "412 ms", "1.26 s".
func short(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d >= time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	case d >= 10*time.Millisecond:
		return fmt.Sprintf("%d ms", d.Round(time.Millisecond).Milliseconds())
	case d >= time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d)/1e6)
	}
	return fmt.Sprintf("%d µs", d.Microseconds())
}
