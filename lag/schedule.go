package lag

import (
	"sync"
	"sync/atomic"
	"time"
)

// maxBackfill bounds the records of one wake-up. At 50 ms it is a gap of 83
// minutes; after a longer one (a process that was stopped overnight) that many
// records stand, evenly spread, for all slots.
const maxBackfill = 100_000

// A schedule is the probe between the first window and the last: the ticker
// goroutine and the slots that wait in the run queue. All times are
// probe.Now's.
type schedule struct {
	probe    *Probe
	interval int64
	timer    *time.Timer // one, reused
	stop     chan struct{}
	// goroutines are the ticker and one for each of waiting.
	goroutines sync.WaitGroup
	// unserved is the deadline of the oldest slot that is not recorded yet,
	// possibly in the future. It is written under mu.
	unserved atomic.Int64

	mu       sync.Mutex
	next     int64      // deadline of the first slot that the ticker has not seen
	waiting  []*errand  // in the run queue, oldest first, at most maxWaiting
	idle     []*errand  // for reuse
	settlers []*settler // waiting for unserved to pass a time
}

// newSchedule begins a schedule at the time start, whose first slot is due one
// interval later.
func newSchedule(p *Probe, start int64) *schedule {
	s := &schedule{probe: p, interval: int64(p.interval), stop: make(chan struct{}), next: start + int64(p.interval)}
	s.timer = time.NewTimer(p.interval)
	s.unserved.Store(s.next)
	return s
}

// run is the ticker goroutine. The deadlines are absolute: however late a
// wake-up is, the grid does not shift.
func (s *schedule) run() {
	defer s.goroutines.Done()
	defer s.timer.Stop()
	for due := s.next; s.probe.wait(s, due); {
		due += s.tick(due, s.probe.now()) * s.interval
	}
}

// wait sleeps until due; false if the schedule was stopped.
func (s *schedule) wait(due int64) bool {
	s.timer.Reset(time.Duration(due - s.probe.now()))
	select {
	case <-s.timer.C:
		return true
	case <-s.stop:
		return false
	}
}

// tick serves the slot that is due and those after it that the wake-up, at
// woke, came too late for. It returns how many they are.
func (s *schedule) tick(due, woke int64) int64 {
	series := &s.probe.series
	late := max(woke-due, 0)
	slots := late/s.interval + 1
	records := min(slots, maxBackfill)

	series.slots.Add(slots)
	series.wakes.Add(1)
	series.gap.Add(slots - records)
	backfill(slots, records, func(i int64) {
		series.timer.RecordShard(0, late-i*s.interval)
	})
	s.enqueue(errand{due: due, woke: woke, slots: slots, records: records})
	return slots
}

// backfill calls record with the indices of the slots that are to be recorded:
// all of them, or if there are fewer records than slots, evenly spread ones,
// the first (and latest served) among them.
func backfill(slots, records int64, record func(i int64)) {
	for j := range records {
		record(j * slots / records)
	}
}
