package lag

import (
	"fmt"
	"slices"
	"time"
)

// maxBeats bounds the beats that wait in the application's loop. It is small,
// because they may take up room in the application's own queue; since a loop
// serves one thing at a time, those that are left out would have been served
// right after.
const maxBeats = 8

// loopState is what a track whose slots go through the application's loop has
// more than others, under the track's mu.
type loopState struct {
	calls    int           // goroutines in Through or on the way to it
	drained  chan struct{} // made by a track that ends, closed when calls is 0
	lastBeat int64
	longest  int64 // between two beats, since the last reading
	panicked bool  // the last call of Through to end did
}

// loopSaturated says whether the loop has as many beats as it may, under mu. Beats
// that others have overtaken do not count; they seem to be lost. If all that are
// left may be lost, since their calls have returned, another one finds out each
// time that the wait has doubled: a loop that is well again must not be taken for
// a stuck one for good.
func (tr *track) loopSaturated(now int64) bool {
	held, sure := 0, false
	for _, e := range tr.waiting {
		if e.overtaken == 0 {
			held++
			sure = sure || !e.returned
		}
	}
	if held < maxBeats || sure {
		return held >= maxBeats
	}
	oldest, newest := tr.waiting[0].due, tr.waiting[len(tr.waiting)-1].due
	return now-newest < max(newest-oldest, int64(time.Second))
}

// overtake notes that a beat was served before those of the first n slots. One whose
// call of Through has returned without a beat, and that a full queue's worth of
// later ones has overtaken, is given up: the pool was full and dropped it, or the
// actor was started anew. It is counted and no longer waited for; should it come after
// all, from a shard that was stuck, it is recorded. Under mu.
func (tr *track) overtake(n int) {
	lost := func(e *errand) bool {
		if n--; n < 0 || !e.returned {
			return false
		}
		if e.overtaken++; e.overtaken < maxBeats {
			return false
		}
		tr.probe.series.lost.Add(e.slots)
		return true
	}
	tr.waiting = slices.DeleteFunc(tr.waiting, lost)
}

// send is the fresh goroutine of a slot that goes through the loop: first
// through the run queue, so that the two waits can be told apart, then through
// the user's function, which may block, return before the beat or forget it.
//
// The beat is the one allocation of a slot: the loop may keep it forever, and call it
// when its errand is long another slot's.
func (tr *track) send(e *errand) {
	defer tr.returned(e)
	now := tr.queue()
	tr.mu.Lock()
	e.turn = now
	closed, life := tr.closed, e.life
	tr.mu.Unlock()
	if !closed {
		tr.probe.through(func() { tr.beat(e, life) })
	}
}

// beat is called in the application's loop. A second call does nothing, and
// neither does one after the end of the track.
func (tr *track) beat(e *errand, life uint64) {
	now := tr.ticker.now()
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if e.served || e.life != life {
		return
	}
	tr.finish(e, now)
	if e.returned {
		tr.release(e)
	}
	tr.loop.longest = max(tr.loop.longest, now-tr.loop.lastBeat)
	tr.loop.lastBeat = now
}

// returned counts the call of Through for an errand out. One that panics must not take the
// service down, nor pass for a loop that answers: its slot stays unserved, and
// the metric is absent with the panic's text.
func (tr *track) returned(e *errand) {
	p := recover()
	if p != nil {
		tr.probe.core.Absent(loopDuration.Name, fmt.Sprintf("Options.Through panicked: %v", p))
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	if tr.loop.panicked && p == nil {
		tr.probe.core.Absent(loopDuration.Name, "")
	}
	tr.loop.panicked = p != nil
	e.returned = true
	if e.served {
		tr.release(e)
	}
	tr.loop.calls--
	if tr.loop.calls == 0 && tr.loop.drained != nil {
		close(tr.loop.drained)
		tr.loop.drained = nil
	}
}

// awaitLoop waits for the calls of Through that are about to return. Those that
// Close has waited for in vain already are left behind.
func (tr *track) awaitLoop() {
	tr.mu.Lock()
	if tr.loop.calls == 0 {
		tr.mu.Unlock()
		return
	}
	drained := make(chan struct{})
	tr.loop.drained = drained
	tr.mu.Unlock()

	timeout := time.NewTimer(100 * time.Millisecond)
	defer timeout.Stop()
	select {
	case <-drained:
	case <-timeout.C:
	}
}

// sample shows the windows the largest gap between two beats since the last
// reading; one that has not ended counts so far.
func (p *Probe) sample() {
	tr := p.running.Load()
	if tr == nil || p.through == nil {
		return
	}
	p.sampling.Lock() // a maximum that was taken is shown before another is
	defer p.sampling.Unlock()
	tr.mu.Lock()
	gap := max(tr.loop.longest, p.now()-tr.loop.lastBeat)
	tr.loop.longest = 0
	tr.mu.Unlock()
	p.series.beats.Reset(gap, "each beat")
}
