package lag

import (
	"math"
	"strings"
	"testing"
	"time"
)

const everything = hasCPU | hasRunDelay | hasThrottled | hasPressure | hasSteal | hasSuspended | hasPauses | hasGC | hasRunnable

// timerLate is an episode of one slot that was late because no timer ran.
func timerLate(d time.Duration, e evidence) evidence {
	e.length, e.parts = d, parts{timer: d}
	return complete(e)
}

// queueLate is an episode in which a slot waited in the run queue.
func queueLate(timer, queue time.Duration, e evidence) evidence {
	e.length, e.parts = timer+queue, parts{timer: timer, queue: queue}
	return complete(e)
}

// complete adds the machine on which the numbers were measured: two CPUs.
func complete(e evidence) evidence {
	if e.has == 0 {
		e.has = everything
	}
	if e.procs == 0 {
		e.procs, e.cpus = 2, 2
	}
	return e
}

// The numbers are of injections on a quiet machine, except where a comment says
// otherwise.
func TestRank(t *testing.T) {
	for _, tt := range []struct {
		name string
		e    evidence
		want Cause
		at   float64 // least weight
	}{
		{"SIGSTOP of 300 ms", timerLate(253*ms, evidence{cpu: 800 * time.Microsecond, runDelay: ms, pressure: 6 * ms}), CauseStopped, 0.9},
		{"SIGSTOP after the timer", queueLate(0, 158*ms, evidence{cpu: ms, runDelay: ms}), CauseStopped, 0.9},
		{"freezer", timerLate(277*ms, evidence{cpu: 700 * time.Microsecond, runDelay: 2500 * time.Microsecond}), CauseStopped, 0.9},
		{"real-time hog on both CPUs", timerLate(293*ms, evidence{cpu: 700 * time.Microsecond, runDelay: 597 * ms, pressure: 303 * ms}), CauseHost, 0.9},
		{"hog, one thread wanted to run", timerLate(293*ms, evidence{cpu: 700 * time.Microsecond, runDelay: 293 * ms}), CauseHost, 0.9},
		{"quota of 15 ms in 100", timerLate(69*ms, evidence{cpu: 18 * ms, runDelay: 281 * ms, throttled: 178 * ms, periods: 1, exhausted: 1}), CauseThrottled, 0.9},
		{"quota, longest", timerLate(173*ms, evidence{cpu: 22 * ms, runDelay: 558 * ms, throttled: 361 * ms, periods: 2, exhausted: 2}), CauseThrottled, 0.9},
		{"quota, only one CPU had something to throttle", timerLate(1283*ms, evidence{cpu: 190 * ms, runDelay: 3309 * ms, throttled: 1250 * ms, periods: 13, exhausted: 13}), CauseThrottled, 0.9},
		{"quota now and then, others most of the time", timerLate(1000*ms, evidence{cpu: 200 * ms, runDelay: 1800 * ms, throttled: 200 * ms, periods: 10, exhausted: 2}), CauseHost, 0.7},
		{"quota of a pod", timerLate(400*ms, evidence{cpu: 60 * ms, runDelay: 790 * ms, throttled: 700 * ms, above: 700 * ms, periods: 4, exhausted: 4}), CauseThrottled, 0.9},
		{"GC pause in a pod whose others are throttled", timerLate(150*ms, evidence{cpu: 150 * ms, runDelay: 3 * ms, throttled: 800 * ms, above: 800 * ms, periods: 2, exhausted: 2, totalGC: pauses{2, 140 * ms}}), CausePauseGC, 0.9},
		{"copy that a stop-the-world waits for", timerLate(1682*ms, evidence{cpu: 1699 * ms, stoppingOther: pauses{1, 1879 * ms}}), CausePauseOther, 0.9},
		{"the total is written later", timerLate(1682*ms, evidence{cpu: 1699 * ms, stoppingOther: pauses{1, 2 * ms}, totalOther: pauses{1, 1879 * ms}}), CausePauseOther, 0.9},
		{"many short stop-the-worlds", timerLate(431*ms, evidence{cpu: 300 * ms, totalOther: pauses{4000, 400 * ms}}), CausePauseOther, 0.9},
		{"GC pause", timerLate(150*ms, evidence{cpu: 150 * ms, totalGC: pauses{2, 140 * ms}, gcCPU: 100 * ms, cycles: 1}), CausePauseGC, 0.9},
		{"GC work", queueLate(20*ms, 40*ms, evidence{cpu: 118 * ms, gcCPU: 1300 * ms, cycles: 1, assist: 20 * ms, totalGC: pauses{2, ms}, runnable: 4}), CauseGC, 0.9},
		{"1000 goroutines of 100 µs", queueLate(0, 51*ms, evidence{cpu: 100 * ms, runnable: 1000}), CauseRunQueue, 0.9},
		{"64 goroutines of 2 ms", queueLate(ms, 67*ms, evidence{cpu: 134 * ms, runnable: 62}), CauseRunQueue, 0.9},
		{"8 spinners", queueLate(10*ms, 121*ms, evidence{cpu: 260 * ms, runnable: 6}), CauseCPU, 0.9},
		{"32 spinners", queueLate(27*ms, 343*ms, evidence{cpu: 738 * ms, runnable: 30}), CauseCPU, 0.9},
		{"copies that nothing waits for", timerLate(1600*ms, evidence{cpu: 3190 * ms, runnable: 1}), CauseNonPreemptible, 0.9},
		{"copies that begin behind a timer", queueLate(0, 274*ms, evidence{cpu: 570 * ms, runnable: 1}), CauseNonPreemptible, 0.9},
		{"and nothing else to run", queueLate(0, 304*ms, evidence{cpu: 580 * ms, runnable: 0}), CauseNonPreemptible, 0.9},
		{"the probe itself behind a queue", timerLate(637*ms, evidence{cpu: 1270 * ms, runnable: 9157, queue: 480 * ms}), CauseRunQueue, 0.9},
		{"and behind goroutines that compute", timerLate(331*ms, evidence{cpu: 660 * ms, runnable: 16, queue: 190 * ms}), CauseCPU, 0.9},
		{"copies, and requests that pile up behind them", queueLate(600*ms, 50*ms, evidence{cpu: 1290 * ms, runnable: 1000, queue: 60 * ms}), CauseNonPreemptible, 0.9},
		{"machine suspended", timerLate(120*ms, evidence{suspended: time.Hour}), CauseSuspended, 0.9},
		{"a lock in the application", complete(evidence{length: 631 * ms, parts: parts{timer: ms, queue: 3600 * time.Microsecond, loop: 626 * ms}, cpu: 9 * ms}), CauseApplication, 0.9},
		{"a loop in an overloaded process", complete(evidence{length: 150 * ms, parts: parts{queue: 70 * ms, loop: 80 * ms}, cpu: 298 * ms, runnable: 62}), CauseRunQueue, 0.8},
		{"half by the host, half by itself", timerLate(400*ms, evidence{cpu: 400 * ms, runDelay: 400 * ms}), CauseHost, 0.45},
		{"stolen", timerLate(200*ms, evidence{cpu: 390 * ms, steal: 380 * ms}), CauseHost, 0.9},
		{"page faults", timerLate(200*ms, evidence{cpu: 45 * ms, faults: 300}), CauseUnknown, 0.5},
		{"nothing is known", timerLate(200*ms, evidence{has: hasGC}), CauseUnknown, 1},
		{"no run delay, so not known to be stopped", timerLate(253*ms, evidence{has: hasCPU | hasPauses, cpu: ms}), CauseUnknown, 0.9},
		{"no length", evidence{}, CauseUnknown, 1},
	} {
		causes := rank(tt.e)
		if causes[0].Cause != tt.want || causes[0].Weight < tt.at {
			t.Errorf("%s: got %+v, want %s of at least %v", tt.name, causes, tt.want, tt.at)
		}
		sum := 0.0
		for i, c := range causes {
			sum += c.Weight
			if math.IsNaN(c.Weight) || c.Weight < 0 || i > 0 && c.Weight > causes[i-1].Weight {
				t.Errorf("%s: got %+v, want weights that fall", tt.name, causes)
			}
		}
		if sum > 1.0001 {
			t.Errorf("%s: the weights add up to %v: %+v", tt.name, sum, causes)
		}
	}
}

// Of a process that others starved, the length of the queue tells what it had to
// run, though no timer ran.
func TestRankStarved(t *testing.T) {
	for _, tt := range []struct {
		runnable int
		want     Cause
	}{{46, CauseCPU}, {4744, CauseRunQueue}, {1, CauseNonPreemptible}} {
		causes := rank(timerLate(993*ms, evidence{cpu: 316 * ms, runDelay: 2050 * ms, runnable: tt.runnable}))
		if len(causes) != 2 || causes[0].Cause != CauseHost || causes[1].Cause != tt.want {
			t.Errorf("%d runnable: got %+v, want the host and then %s", tt.runnable, causes, tt.want)
		}
	}
}

// Nor is it the doing of what it had to run that no timer ran while nothing did.
func TestRankStarvedTimer(t *testing.T) {
	causes := rank(timerLate(388*ms, evidence{cpu: 47 * ms, runDelay: 874 * ms, runnable: 1}))
	if len(causes) != 2 || causes[0].Cause != CauseHost || causes[1].Cause != CauseCPU {
		t.Errorf("got %+v, want the host and then %s", causes, CauseCPU)
	}
}

// The CPU time of the time around the stall is not the stall's.
func TestWeigh(t *testing.T) {
	const second = int64(time.Second)
	earlier := snapshot{at: second, has: hasCPU, procs: 2, cpu: 10 * ms, runDelay: ms}
	base := snapshot{at: second + 50e6, has: hasCPU, procs: 2, cpu: 70 * ms, capacity: 100 * ms} // 1.2 processors
	prompt := snapshot{at: second + 400e6, has: hasCPU, procs: 2, cpu: 130 * ms, capacity: 800 * ms}
	e := weigh(300*ms, parts{timer: 300 * ms}, earlier, base, prompt, prompt, prompt)
	if e.cpu != 0 || e.procs != 2 {
		t.Errorf("got %v of CPU, %v processors, want 0 (of 60 ms, 50 ms at 1.2 processors lie outside), 2", e.cpu, e.procs)
	}
	// A run delay of 299 ms that was counted just before is that of an older wait.
	earlier.runDelay, base.runDelay, prompt.runDelay = 878*ms, 1177*ms, 1613*ms
	if e = weigh(300*ms, parts{timer: 300 * ms}, earlier, base, prompt, prompt, prompt); e.runDelay != 336*ms {
		t.Errorf("got a run delay of %v, want 336ms (of 436 ms, 50 ms on two processors lie outside)", e.runDelay)
	}
	prompt.capacity, prompt.procs = 450*ms, 1
	if e = weigh(300*ms, parts{}, earlier, base, prompt, prompt, prompt); e.procs != 1 {
		t.Errorf("got %v processors, want 1 on average", e.procs)
	}
	// The first period of a quota is counted in the stall.
	settled := prompt
	settled.has, settled.throttled, settled.periods, settled.exhausted = hasCPU|hasThrottled, 200*ms, 2, 2
	if e = weigh(300*ms, parts{}, earlier, base, prompt, settled, settled); e.has != hasCPU|hasThrottled || e.throttled != 200*ms || e.exhausted != 2 {
		t.Errorf("got %b, throttled for %v in %d periods, want 200ms in 2", e.has, e.throttled, e.exhausted)
	}
	// What else one of the snapshots lacks, nobody knows.
	prompt.has = 0
	if e = weigh(300*ms, parts{}, earlier, base, prompt, prompt, prompt); e.has != 0 {
		t.Errorf("got %b, want nothing known", e.has)
	}
}

// What a GC cycle takes that goes on at the end of a stall is known when it ends, and
// shared by time; until then the causes say that there was one.
func TestMidCycle(t *testing.T) {
	at := func(d time.Duration, cpu, gc, assist time.Duration, cycles uint64, marking bool) snapshot {
		return snapshot{at: int64(time.Second + d), has: everything, procs: 2, capacity: 2 * d, cpu: cpu, gcCPU: gc, assist: assist, cycles: cycles, marking: marking}
	}
	earlier, base := at(0, 0, ms, 0, 3, false), at(10*ms, 0, ms, 0, 3, false)
	prompt, settled := at(310*ms, 600*ms, ms, 0, 3, true), at(320*ms, 620*ms, ms, 0, 3, true)
	e := weigh(300*ms, parts{timer: 300 * ms}, earlier, base, prompt, settled, settled)
	if c := rank(e)[0]; !e.marking || !strings.Contains(c.Evidence, midCycle) || c.Cause == CauseGC {
		t.Errorf("got %+v, want one that says that %s", c, midCycle)
	}
	e = weigh(300*ms, parts{timer: 300 * ms}, earlier, base, prompt, settled, at(630*ms, 1240*ms, 1201*ms, 400*ms, 4, false))
	if c := rank(e)[0]; e.marking || e.gcCPU != 600*ms || e.assist != 200*ms || c.Cause != CauseGC {
		t.Errorf("got %v of GC, %v of assists, %+v, want half of the cycle's", e.gcCPU, e.assist, c)
	}
}

// Steal is read once a second and spread over the time between two readings.
func TestStolen(t *testing.T) {
	s := func(at, read, steal time.Duration) snapshot {
		return snapshot{at: int64(at), stealAt: int64(read), steal: steal}
	}
	for _, tt := range []struct {
		base, settled snapshot
		want          time.Duration
	}{
		{s(5000*ms, 4500*ms, ms), s(5300*ms, 4500*ms, ms), 0},
		{s(5000*ms, 4500*ms, 100*ms), s(5500*ms, 5500*ms, 300*ms), 100 * ms},
		{s(5000*ms, 5000*ms, 100*ms), s(6500*ms, 6000*ms, 300*ms), 200 * ms},
	} {
		if got := stolen(tt.base, tt.settled); got != tt.want {
			t.Errorf("got %v, want %v", got, tt.want)
		}
	}
}

func TestHistory(t *testing.T) {
	s := &fixedTimes{}
	h := &history{sampler: s}
	for range historyLen + 10 {
		h.look() // at 10, 20, 30, …, 740
	}
	for _, tt := range []struct{ at, base, earlier, prompt, settled int64 }{
		{500, 500, 490, 500, 510},
		{505, 500, 490, 510, 520},
		{740, 740, 730, 740, 740},
		{900, 740, 730, 740, 740},
		{3, 110, 110, 110, 120}, // before the oldest that is left
	} {
		base, earlier := h.before(tt.at)
		prompt, settled := h.after(tt.at)
		if base.at != tt.base || earlier.at != tt.earlier || prompt.at != tt.prompt || settled.at != tt.settled {
			t.Errorf("at %d: got %d, %d, %d, %d, want %+v", tt.at, base.at, earlier.at, prompt.at, settled.at, tt)
		}
	}
	if base, _ := h.before(700); base.capacity != time.Duration(2*690) {
		t.Errorf("got a capacity of %d, want 1380: two processors since the first", base.capacity)
	}
}

type fixedTimes struct {
	script
	at int64
}

func (f *fixedTimes) sample(dst *snapshot) {
	f.at += 10
	*dst = snapshot{at: f.at, procs: 2}
}

func TestShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 µs", 170 * time.Microsecond: "170 µs", 1040 * time.Microsecond: "1.0 ms", 411600 * time.Microsecond: "412 ms",
		1259 * ms: "1.26 s", 61 * time.Second: "61.0 s",
	} {
		if got := short(d); got != want {
			t.Errorf("%d: got %q, want %q", d, got, want)
		}
	}
}
