package lag

import "slices"

// maxWaiting bounds the goroutines in the run queue. Under the worst load that
// was measured ten were waiting at a time.
const maxWaiting = 64

// An errand is a goroutine's: go through the run queue, and from there, if the
// probe has a Through, through the loop, and record how long that took for all
// slots of one wake-up.
type errand struct {
	due     int64 // deadline of the first slot
	woke    int64 // when the ticker saw it
	turn    int64 // when it was through the run queue; 0 before
	slots   int64 // a saturated track adds later ones
	missed  int64 // slots without a wake-up of their own
	records int64 // how many of the slots are recorded
	served  bool
	run     func() // its goroutine, made once for all slots: a closure is an allocation
	life    uint64 // how many slots' it has been, by which a beat knows that it is another's

	// Of a loop's: its call of Through has returned, and so many later slots have
	// been served since.
	returned  bool
	overtaken int
}

// enqueue sends a fresh goroutine on the errand, under mu. It must not be the
// ticker itself: a probe that waits for its own result misses the slots of the
// meantime, which are the worst ones. The oldest unserved slot stays the same.
func (tr *track) enqueue(e errand) {
	tr.next = e.due + e.slots*tr.interval
	if tr.saturated(e.woke) {
		left := tr.waiting[len(tr.waiting)-1].merge(&e)
		tr.probe.series.saturated.Add(e.slots)
		tr.probe.series.gap.Add(left)
		return
	}
	own := tr.take(e)
	tr.waiting = append(tr.waiting, own)
	tr.ticker.queued.Add(1)
	if tr.probe.through != nil {
		tr.loop.calls++
	} else {
		tr.errands.Add(1)
	}
	go own.run()
}

// saturated says whether as many slots are under way as may be, under mu.
func (tr *track) saturated(now int64) bool {
	if tr.probe.through != nil {
		return tr.loopSaturated(now)
	}
	return len(tr.waiting) >= maxWaiting
}

// take is an errand from the idle ones, under mu.
func (tr *track) take(e errand) *errand {
	var own *errand
	if n := len(tr.idle); n > 0 {
		own, tr.idle = tr.idle[n-1], tr.idle[:n-1]
	} else {
		own = tr.newErrand()
	}
	e.run, e.life = own.run, own.life+1
	*own = e
	return own
}

func (tr *track) newErrand() *errand {
	e := new(errand)
	e.run = func() { tr.serve(e) }
	if tr.probe.through != nil {
		e.run = func() { tr.send(e) }
	}
	return e
}

// release keeps an errand that nobody works on any more for reuse, under mu.
func (tr *track) release(e *errand) {
	if len(tr.idle) < maxWaiting { // those that were given up and come back late may be more
		tr.idle = append(tr.idle, e)
	}
}

// queue goes through the run queue and returns when that was done. The yield puts
// the goroutine at the tail of the global queue; without it, a fresh one would
// run next on the ticker's processor.
func (tr *track) queue() (now int64) {
	tr.probe.yield()
	tr.ticker.queued.Add(-1)
	return tr.ticker.now()
}

// serve is the fresh goroutine of a slot that goes through the run queue alone. It
// records under mu, so that no slot is merged into an errand that has been
// recorded already.
func (tr *track) serve(e *errand) {
	defer tr.errands.Done()
	now := tr.queue()
	tr.mu.Lock()
	defer tr.mu.Unlock()
	e.turn = now
	tr.finish(e, now)
	tr.release(e)
}

// finish records an errand as served at now and forgets it, under mu.
func (tr *track) finish(e *errand, now int64) {
	e.served = true
	if tr.closed {
		return
	}
	tr.record(e, now)
	tr.late(e, now, false)
	i := slices.Index(tr.waiting, e)
	if i < 0 { // it was given up
		return
	}
	tr.waiting = slices.Delete(tr.waiting, i, i+1)
	if tr.probe.through != nil {
		tr.overtake(i)
	}
	tr.advance()
}

// record records the errand's slots, under mu. A slot that was merged into the
// errand has no wake-up of its own: it begins at its deadline, which may even
// be after the errand's turn.
func (tr *track) record(e *errand, now int64) {
	profile := tr.ticker.stopper.lastProfile()
	backfill(e.slots, e.records, func(i int64) {
		due := e.due + i*tr.interval
		from := max(e.woke, due)
		series := tr.seriesOf(profile, due, now)
		series.queue.RecordShard(0, max(e.turn-from, 0))
		if series.loop != nil {
			series.loop.RecordShard(0, max(now-max(e.turn, from), 0))
		}
		series.total.RecordShard(0, max(now-due, 0))
	})
}

// merge lets an errand that is waiting carry another's slots, and returns how many
// of these will not be recorded: whoever serves it must not be kept for long.
func (e *errand) merge(o *errand) (left int64) {
	e.slots += o.slots
	e.missed += o.missed
	e.records += o.records
	left = max(e.records-maxBackfill, 0)
	e.records -= left
	return left
}
