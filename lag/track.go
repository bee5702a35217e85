package lag

import (
	"sync"
	"sync/atomic"
)

// maxBackfill bounds the records of one wake-up. At 50 ms it is a gap of 83
// minutes; after a longer one (a process that was stopped overnight) that many
// records stand, evenly spread, for all slots.
const maxBackfill = 100_000

// A track is one probe's part of a schedule, between its first window and its
// last: the slots that have fallen due and those of them that are under way.
type track struct {
	probe    *Probe
	interval int64
	group    *group
	ticker   *ticker
	// errands are the goroutines that go through the run queue, one for each
	// of waiting.
	errands sync.WaitGroup
	// unserved is the deadline of the oldest slot that is not recorded yet,
	// possibly in the future. It is written under mu.
	unserved atomic.Int64

	mu       sync.Mutex
	closed   bool
	next     int64      // deadline of the first slot that the ticker has not seen
	waiting  []*errand  // under way, oldest first; see saturated
	idle     []*errand  // for reuse
	settlers []*settler // waiting for unserved to pass a time
	loop     loopState
	episode  *episode // that is going on or not settled; nil most of the time
	early    early    // of the oldest slot, if it is late
	answers  answers
	captures *captures
}

func newTrack(p *Probe) *track {
	return &track{probe: p, interval: int64(p.interval), captures: newCaptures(p.capture, p.whose(), p.now)}
}

// begin is called once, with the deadline of the first slot.
func (tr *track) begin(first int64) {
	tr.next = first
	tr.unserved.Store(first)
	tr.loop.lastBeat = first - tr.interval
}

// tick serves the slot that is due and those after it that the wake-up, at
// woke, came too late for: slots in all.
func (tr *track) tick(due, woke, slots int64) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if skip := (tr.next - due) / tr.interval; skip > 0 { // due before the track began
		due, slots = due+skip*tr.interval, slots-skip
	}
	if tr.closed || slots <= 0 {
		return
	}
	series := &tr.probe.series
	late := max(woke-due, 0)
	records := min(slots, maxBackfill)

	series.slots.Add(slots)
	series.wakes.Add(1)
	series.gap.Add(slots - records)
	profile := tr.ticker.stopper.lastProfile()
	backfill(slots, records, func(i int64) {
		tr.seriesOf(profile, due+i*tr.interval, woke).timer.RecordShard(0, late-i*tr.interval)
	})
	tr.enqueue(errand{due: due, woke: woke, slots: slots, missed: slots - 1, records: records})
}

// backfill calls record with the indices of the slots that are to be recorded:
// all of them, or if there are fewer records than slots, evenly spread ones,
// the first (and latest served) among them.
func backfill(slots, records int64, record func(i int64)) {
	for j := range records {
		record(j * slots / records)
	}
}

// end stops the track. When it returns, no slot is recorded any more and the
// errands in the run queue have ended, and the ticker if nobody else needs it.
// A Through that does not return is left behind: whoever holds it holds that
// goroutine too. So is a peer that does not answer.
func (tr *track) end() {
	tr.leave()
	tr.errands.Wait()
	tr.mu.Lock()
	tr.closed = true
	if tr.episode != nil { // of which the last Close has told so far
		tr.episode = nil
		tr.ticker.episodes.Add(-1)
	}
	tr.mu.Unlock()
	tr.captures.end()
	tr.awaitAnswers()
	tr.awaitLoop()
}
