package drive

import (
	"context"
	"sync"
	"time"
)

// activity is an Activity under way.
type activity struct {
	*Activity
	r           *run
	op          *operation
	user, index int
	timeout     time.Duration
	slots       chan struct{} // one token per run under way; nil: only the run's own bound
}

// newActivity registers an activity with the run.
func (r *run) newActivity(spec *Activity, user, index int) *activity {
	a := &activity{Activity: spec, r: r, op: r.d.operation(spec.Name), user: user, index: index, timeout: spec.Timeout}
	if a.timeout == 0 {
		a.timeout = r.d.opt.Timeout
	}
	n := spec.InFlight
	if n == 0 && spec.Rate == 0 {
		n = 1
	}
	if n > 0 {
		a.slots = make(chan struct{}, n)
	}
	a.op.sources.Add(1)
	if a.Count > 0 {
		r.planned.Add(int64(a.Count))
		r.fixed.Add(1)
	}
	return a
}

// play follows the schedule to its end. Runs are started from here, in the
// order of their due times, and end on their own.
func (a *activity) play() {
	if a.Count > 0 {
		defer a.r.fixed.Done()
	}
	var runs sync.WaitGroup
	defer runs.Wait()
	next := a.arrivals(stream(a.r.d.opt.Seed, a.user, streamActivity, a.index))
	for k := 0; ; k++ {
		due := next()
		if a.Count > 0 && k == a.Count || !a.comes(due) {
			a.op.close(min(due, a.limit(), a.r.cutoff()))
			return
		}
		a.op.comeDue()
		if ready, ok := a.acquire(due); ok {
			runs.Go(func() { a.one(k, due, ready) })
		}
	}
}

// comes waits for a due time; false if the schedule ends before it, or the run
// is cut off. Both ends may be brought forward while it waits.
func (a *activity) comes(due time.Duration) bool {
	for due < min(a.limit(), a.r.cutoff()) {
		if a.r.until(due, a.r.closing) {
			return true
		}
	}
	return false
}

// limit is when the schedule ends; never for a counted activity.
func (a *activity) limit() time.Duration {
	if a.Count > 0 {
		return never
	}
	return time.Duration(a.r.closeAt.Load())
}

// acquire gets what one run needs, a token of the activity and one of the
// driver, and tells from when on it could have been called: later than due if
// an earlier run was in its way. False if it is skipped, or cut off while it
// waited; that is counted here.
func (a *activity) acquire(due time.Duration) (ready time.Duration, ok bool) {
	skip := a.Policy == Skip && a.r.ctx.Err() == nil
	ready = due
	if !try(a.slots) {
		if skip {
			a.op.skip()
			return 0, false
		}
		if !a.r.take(a.slots) {
			a.r.unsent(a.op, due)
			return 0, false
		}
		ready = max(due, time.Since(a.r.start))
	}
	switch {
	case skip && try(a.r.slots), !skip && a.r.take(a.r.slots):
		return ready, true
	case skip:
		a.op.skip()
	default:
		a.r.unsent(a.op, due)
	}
	free(a.slots)
	return 0, false
}

// one is one run.
func (a *activity) one(k int, due, ready time.Duration) {
	defer free(a.slots)
	defer free(a.r.slots)
	ctx := context.WithValue(a.r.ctx, randKey{}, stream(a.r.d.opt.Seed, a.user, streamRun, a.index, k))
	_ = a.r.call(ctx, a.op, due, ready, a.timeout, a.Do) // a failure is counted there
	if a.Count > 0 && a.r.ctx.Err() == nil {
		a.r.done.Add(1)
	}
}

// try takes a token if one is free; a nil channel has no bound.
func try(slots chan struct{}) bool {
	if slots == nil {
		return true
	}
	select {
	case slots <- struct{}{}:
		return true
	default:
		return false
	}
}

// take waits for a token, until the run is cut off.
func (r *run) take(slots chan struct{}) bool {
	if r.ctx.Err() != nil {
		return false
	}
	select {
	case slots <- struct{}{}:
		return true
	case <-r.ctx.Done():
		return false
	}
}

func free(slots chan struct{}) {
	if slots != nil {
		<-slots
	}
}
