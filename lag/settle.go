package lag

import (
	"slices"
	"time"
)

// A settler waits until every slot due by a time is recorded.
type settler struct {
	by   int64
	done chan struct{}
}

// advance brings unserved up to date and wakes the settlers that waited for
// it, under mu.
func (tr *track) advance() {
	// Slots are served in any order, so that the oldest one counts.
	unserved := tr.next
	if len(tr.waiting) > 0 {
		unserved = min(unserved, tr.waiting[0].due)
	}
	tr.unserved.Store(unserved)
	tr.settlers = slices.DeleteFunc(tr.settlers, func(w *settler) bool {
		if w.by >= unserved {
			return false
		}
		close(w.done)
		return true
	})
}

// settle waits until every slot due by a time is recorded and the stall that was
// under way is explained, but no longer than limit. What is not over then is
// emitted as going on, and what has ended as it is known.
func (tr *track) settle(by int64, limit time.Duration) {
	timeout := time.NewTimer(limit)
	defer timeout.Stop()
	if !tr.await(by, timeout.C) {
		tr.unsettled()
		return
	}
	tr.mu.Lock()
	ep := tr.episode
	tr.mu.Unlock()
	if ep == nil {
		return
	}
	// A stall is explained two slots after its end, when the late counters are in.
	select {
	case <-ep.explained:
		tr.await(tr.ticker.now(), timeout.C) // the slots of the meantime
	case <-timeout.C:
		tr.unsettled()
	}
}

// await waits until every slot due by a time is recorded; false if that was not
// so in time.
func (tr *track) await(by int64, timeout <-chan time.Time) bool {
	tr.mu.Lock()
	if by < tr.unserved.Load() {
		tr.mu.Unlock()
		return true
	}
	// Under mu nothing is served meanwhile, so that no wake-up is missed.
	w := &settler{by, make(chan struct{})}
	tr.settlers = append(tr.settlers, w)
	tr.mu.Unlock()

	select {
	case <-w.done:
		return true
	case <-timeout:
		tr.mu.Lock()
		tr.settlers = slices.DeleteFunc(tr.settlers, func(o *settler) bool { return o == w })
		tr.mu.Unlock()
		return false
	}
}
