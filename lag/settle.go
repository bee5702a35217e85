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
func (s *schedule) advance() {
	unserved := s.next
	if len(s.waiting) > 0 {
		unserved = min(unserved, s.waiting[0].due)
	}
	s.unserved.Store(unserved)
	s.settlers = slices.DeleteFunc(s.settlers, func(w *settler) bool {
		if w.by >= unserved {
			return false
		}
		close(w.done)
		return true
	})
}

// settle waits until every slot due by a time is recorded, but no longer than
// limit.
func (s *schedule) settle(by int64, limit time.Duration) {
	s.mu.Lock()
	if by < s.unserved.Load() {
		s.mu.Unlock()
		return
	}
	w := &settler{by, make(chan struct{})}
	s.settlers = append(s.settlers, w)
	s.mu.Unlock()

	timeout := time.NewTimer(limit)
	defer timeout.Stop()
	select {
	case <-w.done:
	case <-timeout.C:
		s.mu.Lock()
		s.settlers = slices.DeleteFunc(s.settlers, func(o *settler) bool { return o == w })
		s.mu.Unlock()
	}
}
