package lag

import (
	"sync"
	"time"
)

// A measure is something that a snapshot may have. What could not be read is
// absent, never zero.
type measure uint16

const (
	hasCPU measure = 1 << iota
	hasRunDelay
	hasThrottled
	hasPressure
	hasSteal
	hasSuspended
	hasPauses
	hasGC
	hasRunnable
)

// pauses are stop-the-worlds so far. The runtime keeps their lengths in
// buckets, of which the middle is added: the sum is right to about an eighth.
type pauses struct {
	n   uint64
	sum time.Duration
}

func (p pauses) minus(o pauses) pauses { return pauses{p.n - o.n, p.sum - o.sum} }

// A snapshot is what can be known at one instant, in totals that only grow, but for
// the levels at its end. The difference of two is what happened between them.
type snapshot struct {
	at  int64 // probe.Now
	has measure

	capacity  time.Duration // GOMAXPROCS, integrated over time
	procs     int           // GOMAXPROCS now
	cpu       time.Duration // used by the process
	faults    uint64        // major page faults
	runDelay  time.Duration // of all threads: ready to run, without a CPU
	threads   int           // that exist; 0 if not known
	throttled time.Duration // summed over CPUs; added up to a quota period late
	above     time.Duration // the part of it by a quota above the process's own group
	periods   uint64        // of the quota; of these,
	exhausted uint64        // those in which it ran out
	pressure  time.Duration // time in which some task of the machine waited for a CPU; added late
	steal     time.Duration // by the hypervisor, summed over CPUs, in steps of 10 ms
	stealAt   int64         // when steal was read
	suspended time.Duration // of the machine

	// From the decision to stop the world until it was stopped, and until it ran
	// again; the latter is added when it runs.
	stoppingGC, stoppingOther, totalGC, totalOther pauses

	cycles     uint64        // of the GC that have ended
	gcCPU      time.Duration // added at the end of a cycle, for all of it
	assist     time.Duration // the part of gcCPU that allocating goroutines had to do
	marking    bool          // a cycle is going on
	goroutines int
	runnable   int // goroutines in run queues
}

// historyLen is how many snapshots are kept. An episode copies the snapshot from
// before it when it is noticed, or earlier; see [track.remember].
const historyLen = 64

// A history is the last snapshots of a ticker.
type history struct {
	sampler sampler

	mu   sync.Mutex // also held while the sampler works
	ring [historyLen]snapshot
	n    int
}

// look takes a snapshot and returns it.
func (h *history) look() (now snapshot) {
	h.mu.Lock()
	defer h.mu.Unlock()
	last := h.ring[(h.n+historyLen-1)%historyLen]
	slot := &h.ring[h.n%historyLen]
	h.sampler.sample(slot)
	if h.n > 0 {
		slot.capacity = last.capacity + time.Duration(slot.at-last.at)*time.Duration(last.procs)
	}
	h.n++
	return *slot
}

// before is the last snapshot that was taken no later than at, and the one
// before that, or the oldest that are left.
func (h *history) before(at int64) (base, earlier snapshot) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := h.n - 1
	oldest := max(h.n-historyLen, 0)
	for i > oldest && h.ring[i%historyLen].at > at {
		i--
	}
	return h.ring[i%historyLen], h.ring[max(i-1, oldest)%historyLen]
}

// after is the first snapshot that was taken at a time or later, and the one
// after that, in which late counters have arrived; or the last there is.
func (h *history) after(at int64) (prompt, settled snapshot) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := max(h.n-historyLen, 0)
	for i < h.n-1 && h.ring[i%historyLen].at < at {
		i++
	}
	return h.ring[i%historyLen], h.ring[min(i+1, h.n-1)%historyLen]
}

// latest is the last snapshot.
func (h *history) latest() snapshot {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ring[(h.n-1)%historyLen]
}

// evidence is what is known of one episode: how late it was in which part, and
// what the counters did meanwhile.
type evidence struct {
	has      measure
	length   time.Duration // of the episode
	parts    parts         // of the worst slot
	queue    time.Duration // the longest wait in the run queue of any slot
	procs    float64       // mean GOMAXPROCS
	cpus     int           // of the machine that the process may use
	runnable int           // most that were seen at a wake-up
	marking  bool          // a GC cycle was going on at the end, and still is

	// Within the episode; what lies outside is taken off by estimate. A thread's
	// run delay is counted when it runs again, which may be after the process does.
	cpu, runDelay time.Duration
	// Until a slot after the episode, when late counters have arrived.
	throttled, above, pressure, steal, suspended   time.Duration
	periods, exhausted, faults, cycles             uint64
	gcCPU, assist                                  time.Duration
	stoppingGC, stoppingOther, totalGC, totalOther pauses
}

// parts are where a slot's lag was: before the probe's goroutine ran, in the
// run queue, and in the application's loop.
type parts struct{ timer, queue, loop time.Duration }

func (p parts) total() time.Duration { return p.timer + p.queue + p.loop }

// weigh is the evidence of an episode of a length: between the snapshot from
// before it (and the one before that, which tells what was normal), the first
// one after it, one when the late counters had settled, and the latest, in which a
// GC cycle that went on then may have ended.
func weigh(length time.Duration, worst parts, earlier, base, prompt, settled, latest snapshot) evidence {
	e := evidence{
		// A quota may have been used up for the first time in this stall.
		has: base.has&prompt.has&settled.has | settled.has&hasThrottled, length: length, parts: worst,
		procs:     float64(max(prompt.procs, 1)),
		throttled: settled.throttled - base.throttled, above: settled.above - base.above,
		periods: settled.periods - base.periods, exhausted: settled.exhausted - base.exhausted,
		pressure: settled.pressure - base.pressure, steal: stolen(base, settled),
		suspended: settled.suspended - base.suspended,
		faults:    prompt.faults - base.faults, cycles: settled.cycles - base.cycles,
		gcCPU: settled.gcCPU - base.gcCPU, assist: settled.assist - base.assist,
		stoppingGC: settled.stoppingGC.minus(base.stoppingGC), stoppingOther: settled.stoppingOther.minus(base.stoppingOther),
		totalGC: settled.totalGC.minus(base.totalGC), totalOther: settled.totalOther.minus(base.totalOther),
	}
	e.midCycle(base, settled, latest)
	window := time.Duration(prompt.at - base.at)
	if window > 0 && prompt.capacity > base.capacity {
		e.procs = float64(prompt.capacity-base.capacity) / float64(window)
	}
	before := time.Duration(base.at - earlier.at)
	e.cpu = max(prompt.cpu-base.cpu-outside(base.cpu-earlier.cpu, before, window-length, e.procs), 0)
	window = time.Duration(settled.at - base.at)
	e.runDelay = max(settled.runDelay-base.runDelay-outside(base.runDelay-earlier.runDelay, before, window-length, e.procs), 0)
	return e
}

// midCycle adds the part, by time, of what the GC cycle took that was going on at the
// end of the episode, if that has ended since: the runtime adds it up at the end
// of a cycle (so do its classes of marking, dedicated, idle and assist).
func (e *evidence) midCycle(base, settled, latest snapshot) {
	if !settled.marking {
		return
	}
	if e.marking = latest.cycles == settled.cycles; e.marking {
		return
	}
	part := float64(settled.at-base.at) / float64(latest.at-base.at)
	e.gcCPU += time.Duration(float64(latest.gcCPU-settled.gcCPU) * part)
	e.assist += time.Duration(float64(latest.assist-settled.assist) * part)
	e.cycles++
}

// outside is how much a counter is thought to have moved in the time d around an
// episode: at the rate of the time before, but no faster than one for each
// processor. What goes beyond that is an older wait, which was counted when the
// thread ran again.
func outside(moved, before, d time.Duration, procs float64) time.Duration {
	if before <= 0 || d <= 0 || moved <= 0 {
		return 0
	}
	return time.Duration(min(float64(moved)/float64(before), procs) * float64(d))
}

// stolen is the part that falls between two snapshots of what was stolen
// between the two readings that they carry.
func stolen(base, settled snapshot) time.Duration {
	read := settled.stealAt - base.stealAt
	if read <= 0 {
		return 0
	}
	part := min(float64(settled.at-base.at)/float64(read), 1)
	return time.Duration(float64(settled.steal-base.steal) * part)
}
