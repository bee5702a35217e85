package lag

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A clock is time as a ticker sees it. Tests replace its functions.
type clock struct {
	now func() int64
	// wait sleeps until due; false if the ticker was told to stop.
	wait func(t *ticker, due int64) bool
}

// A ticker wakes up at a schedule of absolute deadlines, for all tracks that
// share it. It lives from the first to the last of them. All times are
// probe.Now's.
type ticker struct {
	clock
	interval int64
	timer    *time.Timer // one, reused
	stop     chan struct{}
	ended    chan struct{}
	floor    *floor
	history  *history     // nil while no track has asked for evidence
	queued   atomic.Int64 // goroutines of the tracks in the run queue
	episodes atomic.Int64 // of the tracks, not complete
	stopper  stopper
	// The ticker goroutine's: slots since the last snapshot, and the last one in
	// which the time for which the machine was suspended was known.
	rest  int
	awake snapshot

	mu     sync.Mutex
	next   int64    // deadline of the first slot that has not been seen
	tracks []*track // replaced, never changed
}

// newTicker begins a schedule now, whose first slot is due one interval later.
func newTicker(c clock, interval time.Duration, f *floor) *ticker {
	t := &ticker{clock: c, interval: int64(interval), stop: make(chan struct{}), ended: make(chan struct{}), floor: f}
	t.next = t.now() + t.interval
	t.timer = time.NewTimer(interval) // reset before it is waited for
	return t
}

// run is the ticker goroutine. The deadlines are absolute: however late a
// wake-up is, the grid does not shift.
func (t *ticker) run() {
	defer close(t.ended)
	defer t.timer.Stop()
	for due := t.next; t.wait(t, due); {
		woke := t.now()
		late := max(woke-due, 0)
		slots := late/t.interval + 1
		t.mu.Lock()
		t.next = due + slots*t.interval
		tracks, history := t.tracks, t.history
		t.mu.Unlock()
		busy := t.queued.Load() > 0 || t.episodes.Load() > 0 // before this slot
		for _, tr := range tracks {
			tr.tick(due, woke, slots)
		}
		idle := t.floor.look(late, woke)
		t.explain(history, tracks, due, woke, busy || !idle || late > int64(onTime))
		due += slots * t.interval
	}
}

const (
	// onTime is how late a wake-up may be that is nothing to look into.
	onTime = 5 * time.Millisecond
	// restLooks is at how many slots evidence is taken once while nothing moves.
	restLooks = 5
)

// explain takes the evidence of a wake-up, after its slots have been recorded,
// and lets the tracks look after their episodes. While the process is idle, its
// slots on time and no stall under way, the counters stand still: an older
// snapshot is as good a base for the next stall, and the reading of the
// kernel's files, with cold caches, would cost as much as the wake-up.
func (t *ticker) explain(h *history, tracks []*track, due, woke int64, moved bool) {
	if h == nil {
		return
	}
	var now snapshot
	var suspended time.Duration
	if t.rest++; moved || t.rest >= restLooks {
		t.rest = 0
		now = h.look()
		now.runnable = max(now.runnable-int(t.queued.Load()), 0) // the probes do not hold themselves up
		suspended = t.suspended(now)
	}
	for _, tr := range tracks {
		if suspended >= suspendedLeast {
			tr.suspension(suspended)
		}
		tr.observe(due, woke, now)
	}
}

// sleep waits until due by the real timer. A tick that comes before is one that was
// in the channel already, as there may be under GODEBUG=asynctimerchan=1.
func (t *ticker) sleep(due int64) bool {
	for {
		t.timer.Reset(time.Duration(due - t.now()))
		select {
		case <-t.timer.C:
			if t.now() >= due {
				return true
			}
		case <-t.stop:
			return false
		}
	}
}

// end stops the ticker goroutine and waits for it.
func (t *ticker) end() {
	close(t.stop)
	<-t.ended
	if t.history != nil {
		t.history.sampler.close()
	}
}

// add lets a track follow the schedule, from its next slot in the future on:
// what a stall has swallowed by now was not due to the track.
func (t *ticker) add(tr *track) {
	t.mu.Lock()
	defer t.mu.Unlock()
	first := t.next
	if late := t.now() - first; late >= 0 {
		first += (late/t.interval + 1) * t.interval
	}
	if tr.probe.threshold > 0 && t.history == nil {
		t.history = &history{sampler: tr.probe.newSampler()}
		t.awake = t.history.look()
	}
	tr.begin(first)
	t.tracks = append(slices.Clip(t.tracks), tr) // run may be going through the old ones
}

// remove takes a track off the schedule and reports whether it was the last.
func (t *ticker) remove(tr *track) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tracks = slices.DeleteFunc(slices.Clone(t.tracks), func(o *track) bool { return o == tr })
	return len(t.tracks) == 0
}
