package lag

import (
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// An episode is a stall: slots that were late by the threshold or more, each
// within two intervals of the one before. Two intervals, because a process that
// is overloaded serves a slot on time now and then, and because the counters
// that explain a stall take one to arrive.
//
// A track has one at most. It is opened by whoever first sees that a slot is late:
// the goroutine that serves it, the ticker while it is still waiting, or a Close.
// Its fields are under the track's mu.
type episode struct {
	start, end int64 // from the first slot's deadline to the last one's service, so far
	worst      parts // of the worst slot
	timer      int64 // the largest of each part
	queue      int64
	loop       int64
	slots      int64 // that were due in it
	missed     int64 // of these, slots without a wake-up of their own
	runnable   int   // most that were seen
	goroutines int

	earlier, base snapshot // from before it
	overlaps      []probe.Overlap
	asked         int64         // how much of the episode the peers have been asked for: up to this end
	told          int64         // how long it was when it was last emitted
	id            uint64        // 0 until it was emitted as going on or is captured
	capture       *capture      // nil without captures
	explained     chan struct{} // closed when it was emitted for good
}

// late takes an errand into account that has been served at now, or is running:
// has not been by now, so that its lag is known so far. It does nothing to one
// that is not late. Under mu.
//
// The parts of the worst slot are kept together, beside the largest of each part:
// causes are shares of one wait, and the largest parts may belong to several.
func (tr *track) late(e *errand, now int64, running bool) {
	threshold := int64(tr.probe.threshold)
	if threshold == 0 || now-e.due < threshold {
		return
	}
	ep := tr.open(e.due)
	ep.end = max(ep.end, now)
	woke := max(e.woke, e.due) // a slot that was merged into an errand was due after that's wake-up
	turn := e.turn
	if turn == 0 {
		turn = now
	}
	p := parts{timer: time.Duration(woke - e.due), queue: time.Duration(turn - woke), loop: time.Duration(now - turn)}
	if p.total() > ep.worst.total() {
		ep.worst = p
	}
	ep.timer, ep.queue, ep.loop = max(ep.timer, int64(p.timer)), max(ep.queue, int64(p.queue)), max(ep.loop, int64(p.loop))
	if !running {
		ep.missed += e.missed
	}
}

// open is the episode that a late slot, due at start, belongs to, under mu. One
// that ended two intervals before is complete.
func (tr *track) open(start int64) *episode {
	if ep := tr.episode; ep != nil && start >= ep.end+2*tr.interval {
		tr.complete(ep)
	}
	if tr.episode == nil {
		ep := &episode{start: start, explained: make(chan struct{})}
		if ep.base, ep.earlier = tr.ticker.history.before(start); tr.early.due == start {
			ep.base, ep.earlier = tr.early.base, tr.early.earlier
		}
		tr.episode = ep
		tr.ticker.episodes.Add(1)
	}
	tr.episode.start = min(tr.episode.start, start)
	return tr.episode
}

// An early is what was known before a slot fell due that is late, but not by the
// threshold so far.
type early struct {
	due           int64
	earlier, base snapshot
}

// remember keeps the snapshots from before the oldest slot, once that is late by
// a quarter of what the history holds, since its threshold may be longer than all
// of it. Under mu.
func (tr *track) remember(now int64) {
	if tr.episode != nil || len(tr.waiting) == 0 {
		return
	}
	due := tr.waiting[0].due
	if now-due > historyLen/4*tr.interval && tr.early.due != due {
		tr.early.due = due
		tr.early.base, tr.early.earlier = tr.ticker.history.before(due)
	}
}

// complete emits the episode for good, under mu. From now on nobody changes it.
func (tr *track) complete(ep *episode) {
	tr.episode = nil
	tr.ticker.episodes.Add(-1)
	tr.emit(ep, final)
}

// markWait is how long the event of a stall waits for the end of a GC cycle.
const markWait = time.Second

// observe looks after the episode at a wake-up for the slot that was due, with the
// evidence of now, if some was taken. The oldest slot that waits may be late
// without having been served: so a stall of the run queue or of a loop is an
// episode, with what it overlaps, while it is going on.
func (tr *track) observe(due, woke int64, now snapshot) {
	if tr.probe.threshold == 0 {
		return
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.remember(woke)
	if len(tr.waiting) > 0 {
		tr.late(tr.waiting[0], woke, true)
	}
	ep := tr.episode
	if ep == nil || tr.closed {
		return
	}
	// The most that was seen: when the stall is over the queue is empty again.
	ep.runnable, ep.goroutines = max(ep.runnable, now.runnable), max(ep.goroutines, now.goroutines)
	if ep.capture == nil || ep.end > ep.asked {
		tr.capture(ep)
	}
	if ep.end > ep.asked {
		ep.asked = ep.end
		tr.ask(ep)
		tr.tell(ep, woke)
	}
	complete := ep.end + 2*tr.interval
	if tr.answers.open > 0 {
		complete += int64(answerWait)
	}
	if now.marking { // what the GC takes is known when its cycle ends
		complete += int64(markWait)
	}
	if due >= complete {
		tr.complete(ep)
	}
}

// tell emits a stall that goes on after a second, and each time that it is ten times as
// long: a window may stay open for the life of a service, and a loop stuck for as
// long. A slot that came due at this wake-up may be served at once. Under mu.
func (tr *track) tell(ep *episode, woke int64) {
	goesOn := len(tr.waiting) > 0 && tr.waiting[0].woke < woke
	if goesOn && ep.end-ep.start >= max(int64(time.Second), 10*ep.told) {
		tr.emit(ep, ongoing)
	}
}

// unsettled emits the stall that could not be settled in time, if there is one,
// under the number under which it will be completed: as going on, or if no slot is
// late any more, with what is known so far.
func (tr *track) unsettled() {
	if tr.probe.threshold == 0 {
		return
	}
	now := tr.ticker.history.look()
	tr.mu.Lock()
	state := over
	if unserved := tr.unserved.Load(); now.at-unserved >= int64(tr.probe.threshold) {
		state = ongoing
		e := errand{due: unserved, woke: now.at, slots: 1}
		if len(tr.waiting) > 0 && tr.waiting[0].due == unserved {
			e = *tr.waiting[0]
		}
		tr.late(&e, now.at, true)
	}
	ep := tr.episode
	if ep == nil || tr.closed {
		tr.mu.Unlock()
		return
	}
	tr.ask(ep)
	tr.mu.Unlock()
	tr.awaitAnswers()

	tr.mu.Lock()
	defer tr.mu.Unlock()
	if tr.episode == ep { // or it was completed meanwhile
		tr.emit(ep, state)
	}
}
