package lag

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// The names of the events.
const (
	eventStall      = "tidestaff.scheduler.stall"
	eventLoopStall  = "tidestaff.loop.stall"
	eventSuspension = "tidestaff.machine.suspension"
)

// attrs collects the evidence of an event. All that StallsOf shows is in attributes, so
// that it works on a report that was read from disk.
type attrs []probe.Attr

const attrPrefix = "tidestaff.stall."

func (a *attrs) text(key, value string) {
	*a = append(*a, probe.Attr{Key: attrPrefix + key, Value: value})
}

func (a *attrs) count(key string, n int64) { a.text(key, strconv.FormatInt(n, 10)) }

// seconds adds a time, in seconds like all times of the contract.
func (a *attrs) seconds(key string, d time.Duration) {
	a.text(key, strconv.FormatFloat(d.Seconds(), 'g', 6, 64))
}

// nameAttr is the attribute that tells the probe from others, if it has a name.
func (p *Probe) nameAttr() attrs {
	if p.core.Name == "" {
		return nil
	}
	return attrs{{Key: probe.AttrProbeName, Value: p.core.Name}}
}

// A state is how far an episode was when it was emitted.
type state uint8

const (
	ongoing state = iota // a slot is late
	over                 // none is, but it may be one episode with what comes
	final                // nobody changes it any more
)

// emit makes the event of an episode, under mu.
func (tr *track) emit(ep *episode, state state) {
	// CPU time and faults are the process's up to the first snapshot after the
	// stall; what the kernel and the runtime add late is up to the one after that.
	h := tr.ticker.history
	prompt, settled := h.after(ep.end)
	length := time.Duration(ep.end - ep.start)
	e := weigh(length, ep.worst, ep.earlier, ep.base, prompt, settled, h.latest())
	e.cpus, e.runnable, e.queue = runtime.NumCPU(), ep.runnable, time.Duration(ep.queue)
	ep.slots = length.Nanoseconds()/tr.interval + 1
	ep.told = length.Nanoseconds()
	causes := rank(e)

	// The schedule's clock does not tell the time of day. It is taken now, and not when
	// the stall began, so that a clock that was set meanwhile does not change its length.
	end := time.Now().Add(-time.Duration(tr.ticker.now() - ep.end))
	start := end.Add(-length)
	overlaps := within(ep.overlaps, start, end, maxOverlaps)
	h.mu.Lock() // the sampler has one user at a time
	f := h.sampler.facts()
	h.mu.Unlock()

	a := tr.probe.nameAttr()
	a.episode(ep, length, tr.interval)
	a.causes(causes, overlaps)
	a.levels(ep, prompt, f)
	a.counters(e)
	name := eventStall
	if tr.probe.through != nil {
		name = eventLoopStall
	}
	tr.publish(ep, state == final, probe.Event{
		Name: name, Start: start, Duration: length, Ongoing: state == ongoing, Cause: string(causes[0].Cause),
		Text: sentence(tr.probe, start, length, state == ongoing, causes, overlaps), Attrs: a,
	})
}

// sentence is what a person reads: how long and when, the three heaviest causes with
// their evidence, and the three longest operations in flight. A length that is
// not final says so.
func sentence(p *Probe, start time.Time, length time.Duration, ongoing bool, causes []RankedCause, overlaps []probe.Overlap) string {
	var b strings.Builder
	b.WriteString("stall ")
	if p.through != nil {
		b.WriteString("of the loop ")
		if p.core.Name != "" {
			b.WriteString(p.core.Name + " ")
		}
	}
	if ongoing {
		b.WriteString("for ")
	}
	fmt.Fprintf(&b, "%v at %s", short(length), start.Format(time.TimeOnly))
	if ongoing {
		b.WriteString(" so far")
	}
	for i, c := range causes[:min(len(causes), 3)] {
		b.WriteString([...]string{": ", ", ", ", "}[i])
		fmt.Fprintf(&b, "%.0f %% %s", 100*c.Weight, c.Cause)
		if c.Evidence != "" {
			fmt.Fprintf(&b, " (%s)", c.Evidence)
		}
	}
	for i, o := range overlaps[:min(len(overlaps), 3)] {
		b.WriteString([...]string{"; in flight: ", "; ", "; "}[i])
		b.WriteString(describe(o))
	}
	return b.String()
}

// episode adds how late it was.
//
// The stall began after the last slot that was on time, which is an interval before
// the first that was late: that bounds its length.
func (a *attrs) episode(ep *episode, length time.Duration, interval int64) {
	a.seconds("upper_bound", length+time.Duration(interval))
	a.count("slots", ep.slots)
	a.count("missed", ep.missed)
	a.seconds("timer", time.Duration(ep.timer))
	a.seconds("queue", time.Duration(ep.queue))
	a.seconds("loop", time.Duration(ep.loop))
}

// causes adds why, and what overlapped it.
func (a *attrs) causes(causes []RankedCause, overlaps []probe.Overlap) {
	for i, c := range causes {
		key := "cause." + strconv.Itoa(i+1)
		a.text(key, string(c.Cause))
		a.text(key+".weight", strconv.FormatFloat(c.Weight, 'f', 2, 64))
		a.text(key+".evidence", c.Evidence)
	}
	for i, o := range overlaps {
		key := "overlap." + strconv.Itoa(i+1)
		a.text(key, o.Name)
		a.text(key+".activity", o.Activity)
		a.text(key+".role", o.Role)
		a.text(key+".start", o.Start.UTC().Format(time.RFC3339Nano))
		a.seconds(key+".duration", o.Duration)
		a.text(key+".running", strconv.FormatBool(o.Running))
	}
}

// levels adds what the process was like. What is not known is left out. GOMAXPROCS
// follows the quota by itself, so that it may have changed in the stall, which
// stops the world for once.
func (a *attrs) levels(ep *episode, now snapshot, f facts) {
	if ep.goroutines > 0 {
		a.count("goroutines", int64(ep.goroutines))
	}
	if now.threads > 0 {
		a.count("threads", int64(now.threads))
	}
	a.count("gomaxprocs", int64(now.procs))
	if ep.base.procs != now.procs {
		a.count("gomaxprocs.before", int64(ep.base.procs))
	}
	if f.rss > 0 {
		a.count("rss", int64(f.rss))
	}
	if f.load > 0 {
		a.text("load", strconv.FormatFloat(f.load, 'f', 2, 64))
	}
	if len(f.missing) > 0 {
		a.text("missing", strings.Join(f.missing, "; "))
	}
}

// counters adds the evidence that there is. Times that are sums over threads or
// processors are left as they are: what they are divided by is a matter of the rules,
// and with the counters in the event a person can disagree.
func (a *attrs) counters(e evidence) {
	times := func(has measure, key string, d time.Duration) {
		if e.has&has != 0 {
			a.seconds(key, d)
		}
	}
	times(hasCPU, "cpu", e.cpu)
	times(hasRunDelay, "run_delay", e.runDelay)
	times(hasThrottled, "throttled", e.throttled)
	times(hasThrottled, "throttled.above", e.above)
	times(hasPressure, "pressure", e.pressure)
	times(hasSteal, "steal", e.steal)
	times(hasSuspended, "suspended", e.suspended)
	times(hasPauses, "pause.gc", max(e.totalGC.sum, e.stoppingGC.sum))
	times(hasPauses, "pause.other", max(e.totalOther.sum, e.stoppingOther.sum))
	times(hasGC, "gc.cpu", e.gcCPU)
	times(hasGC, "gc.assist", e.assist)
	// Periods of the quota, pauses and cycles tell one long wait from many short ones.
	counts := func(has measure, key string, n uint64) {
		if e.has&has != 0 {
			a.count(key, int64(n))
		}
	}
	counts(hasThrottled, "throttled.periods", e.exhausted)
	counts(hasPauses, "pauses.gc", max(e.totalGC.n, e.stoppingGC.n))
	counts(hasPauses, "pauses.other", max(e.totalOther.n, e.stoppingOther.n))
	counts(hasGC, "gc.cycles", e.cycles)
	counts(hasRunnable, "runnable", uint64(e.runnable))
	counts(hasCPU, "faults.major", e.faults)
}
