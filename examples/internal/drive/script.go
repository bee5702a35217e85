package drive

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// Session is what a script plays with. It belongs to the script's goroutine.
type Session struct {
	// Rand depends on the seed and on which script it is, nothing else.
	Rand *rand.Rand

	r    *run
	next time.Duration // the next operation's intended time; negative: when it is called
	left int64         // units of work that are not done
}

// script registers a script and returns what plays it.
func (r *run) script(spec *Script, user, index int) func() {
	r.fixed.Add(1)
	return func() {
		defer r.fixed.Done()
		s := &Session{Rand: stream(r.d.opt.Seed, user, streamScript, index), r: r, next: -1, left: spec.work()}
		err := spec.Do(r.ctx, s)
		switch {
		case err == nil:
			r.done.Add(s.left)
		case r.ctx.Err() == nil:
			r.fail(fmt.Errorf("drive: script %d of user %d: %w", index, user, err))
		}
	}
}

// Sleep is think time: the next operation is intended for d after now, or
// after the end of a Sleep just before this one. The error is that the run was
// cut off, with the cause; a script returns it.
func (s *Session) Sleep(d time.Duration) error {
	from := s.next
	if from < 0 {
		from = time.Since(s.r.start)
	}
	return s.sleep(from + d)
}

// SleepUntil waits for t, for which the next operation is then intended. If t
// has passed it returns at once, and the operation's response time counts from
// t: this is how a script keeps a period.
func (s *Session) SleepUntil(t time.Time) error { return s.sleep(t.Sub(s.r.start)) }

func (s *Session) sleep(due time.Duration) error {
	s.next = max(due, 0)
	if !s.r.until(s.next, nil) {
		<-s.r.ctx.Done() // the cut is due at this very moment, or was
	}
	return context.Cause(s.r.ctx)
}

// Do carries out an operation with the driver's time-out and counts it. It
// returns do's error; that of a failure need not end the script. Do must not
// be called within do.
func (s *Session) Do(name string, do func(ctx context.Context) error) error {
	op, due := s.r.d.operation(name), s.next
	now := time.Since(s.r.start)
	if due < 0 {
		due = now
	}
	s.next = -1
	if err := context.Cause(s.r.ctx); err != nil {
		return err // not due any more: the run is over
	}
	op.comeDue()
	if !s.r.take(s.r.slots) {
		s.r.unsent(op, due)
		return context.Cause(s.r.ctx)
	}
	defer free(s.r.slots)
	return s.r.call(s.r.ctx, op, due, due, s.r.d.opt.Timeout, do)
}

// Record is Driver.Record.
func (s *Session) Record(name string, took time.Duration, err error) {
	s.r.d.Record(name, took, err)
}

// Done marks one unit of the script's work as done.
func (s *Session) Done() {
	if s.left > 0 {
		s.left--
		s.r.done.Add(1)
	}
}
