package lag

import (
	"slices"
)

// maxWaiting bounds the goroutines in the run queue. Under the worst load that
// was measured ten were waiting at a time.
const maxWaiting = 64

// An errand is a goroutine's: go through the run queue, and record how long
// that took for all slots of one wake-up.
type errand struct {
	due     int64 // deadline of the first slot
	woke    int64 // when the ticker saw it
	slots   int64 // a saturated schedule adds later ones, under mu
	records int64 // how many of them are recorded
}

// enqueue sends a fresh goroutine through the run queue. It must not be the
// ticker itself: a probe that waits for its own result misses the slots of the
// meantime, which are the worst ones. The oldest unserved slot stays the same.
func (s *schedule) enqueue(e errand) {
	s.mu.Lock()
	s.next = e.due + e.slots*s.interval
	merged := len(s.waiting) == maxWaiting
	var own *errand
	if merged {
		newest := s.waiting[maxWaiting-1]
		newest.slots += e.slots
		newest.records += e.records
	} else {
		own = s.take(e)
		s.waiting = append(s.waiting, own)
	}
	s.mu.Unlock()

	if merged {
		s.probe.series.saturated.Add(e.slots)
		return
	}
	s.goroutines.Add(1)
	go s.serve(own)
}

// take is an errand from the idle ones, under mu.
func (s *schedule) take(e errand) *errand {
	var own *errand
	if n := len(s.idle); n > 0 {
		own, s.idle = s.idle[n-1], s.idle[:n-1]
	} else {
		own = new(errand)
	}
	*own = e
	return own
}

// serve is the fresh goroutine. The yield puts it at the tail of the global run
// queue; without it the goroutine would run next on the ticker's processor.
//
// It records under mu, so that no slot is merged into an errand that has been
// recorded already.
func (s *schedule) serve(e *errand) {
	defer s.goroutines.Done()
	s.probe.yield()
	now := s.probe.now()

	s.mu.Lock()
	defer s.mu.Unlock()
	s.record(e, now)
	i := slices.Index(s.waiting, e)
	s.waiting = slices.Delete(s.waiting, i, i+1)
	s.idle = append(s.idle, e)
	s.advance()
}

// record records the errand's slots as served at now, under mu.
func (s *schedule) record(e *errand, now int64) {
	series := &s.probe.series
	backfill(e.slots, e.records, func(i int64) {
		due := e.due + i*s.interval
		// A slot that was merged into the errand has no wake-up of its own: its
		// queue part counts from its deadline, which may even be after now.
		series.queue.RecordShard(0, max(now-max(e.woke, due), 0))
		series.total.RecordShard(0, max(now-due, 0))
	})
}
