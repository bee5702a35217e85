package drive

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// grace is how long a run waits for operations that ignore their context.
const grace = 5 * time.Second

// never is a time after every schedule.
const never = time.Duration(math.MaxInt64)

// run is one Run of a Driver. All times in it are offsets from its start.
type run struct {
	d      *Driver
	start  time.Time
	cpu    time.Duration // of the process at the start
	ctx    context.Context
	cancel context.CancelCauseFunc
	slots  chan struct{} // one token per operation under way

	closeAt atomic.Int64  // when activities without a Count stop coming due
	closing chan struct{} // closed when closeAt was brought forward
	cutOnce sync.Once
	cutAt   atomic.Int64 // when the run is cut off, at the latest

	planned, done atomic.Int64
	fixed         sync.WaitGroup // scripts and counted activities
	all           sync.WaitGroup
	over          atomic.Pointer[Outcome] // set at the end

	mu   sync.Mutex
	errs []error // of scripts
}

// newRun prepares a run: the context of its operations keeps ctx's values, but
// ends only through cut, which notes when.
func newRun(ctx context.Context, d *Driver) *run {
	r := &run{d: d, slots: make(chan struct{}, d.opt.MaxInFlight), closing: make(chan struct{})}
	r.ctx, r.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	r.cutAt.Store(int64(never))
	if d.opt.Cap > 0 {
		r.cutAt.Store(int64(d.opt.Cap))
	}
	r.closeAt.Store(int64(never))
	r.start = time.Now()
	r.cpu, _ = cpuTime()
	return r
}

// now is the offset of this instant; 0 without a run.
func (r *run) now() time.Duration {
	if r == nil {
		return 0
	}
	if out := r.over.Load(); out != nil {
		return out.Elapsed
	}
	return time.Since(r.start)
}

// The causes with which a run's context ends early.
var (
	errCap      = errors.New("drive: the cap of the run has passed")
	errCanceled = errors.New("drive: the run was canceled")
)

// cut ends the run early. The cause of a canceled operation tells why, and its
// error is Canceled, not DeadlineExceeded, so that it is not taken for a
// time-out of its own.
func (r *run) cut(cause error) {
	r.cutOnce.Do(func() {
		r.cutAt.Store(int64(min(r.now(), r.cutoff())))
		r.cancel(cause)
	})
}

// cutoff is when the run is cut off: what is due then is not due any more.
func (r *run) cutoff() time.Duration { return time.Duration(r.cutAt.Load()) }

// play starts everything and waits for its end.
func (r *run) play(ctx context.Context) error {
	defer r.cancel(nil)
	defer context.AfterFunc(ctx, func() { r.cut(errCanceled) })()
	if r.d.opt.Cap > 0 {
		defer time.AfterFunc(r.d.opt.Cap, func() { r.cut(errCap) }).Stop()
	}
	if limit := r.d.opt.For; limit > 0 {
		r.closeAt.Store(int64(limit))
	}
	counted := r.begin()
	if counted && r.d.opt.For == 0 {
		r.all.Go(func() {
			r.fixed.Wait()
			r.closeAt.Store(int64(r.now()))
			close(r.closing)
		})
	}
	err := r.await()
	r.finish()
	return errors.Join(append(r.scriptErrors(), err)...)
}

// begin starts all activities and scripts, and reports whether there is fixed
// work. Everything is registered before anything starts, so that the sums and
// the wait groups are whole from the first moment on.
func (r *run) begin() (counted bool) {
	var starts []func()
	for u, user := range r.d.users {
		for i := range user.Activities {
			a := r.newActivity(&user.Activities[i], u, i)
			counted = counted || a.Count > 0
			starts = append(starts, a.play)
		}
		for i := range user.Scripts {
			counted = true
			r.planned.Add(user.Scripts[i].work())
			starts = append(starts, r.script(&user.Scripts[i], u, i))
		}
	}
	for _, f := range starts {
		r.all.Go(f)
	}
	return counted
}

// await waits for everything, and after a cut no longer than grace.
func (r *run) await() error {
	ended := make(chan struct{})
	go func() {
		r.all.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-r.ctx.Done():
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-ended:
		return nil
	case <-timer.C:
		return fmt.Errorf("drive: still under way %v after the end of the run: %s", grace, r.stuck())
	}
}

// stuck lists the operations under way.
func (r *run) stuck() string {
	r.d.mu.Lock()
	defer r.d.mu.Unlock()
	var names []string
	for name, op := range r.d.ops {
		if n := op.inFlight.Load(); n > 0 {
			names = append(names, fmt.Sprintf("%s (%d)", name, n))
		}
	}
	if names == nil {
		return "a script outside its operations"
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// finish freezes the outcome and ends the schedules of operations that only
// scripts have.
func (r *run) finish() {
	out := r.outcome()
	out.End = EndDone
	if r.ctx.Err() != nil {
		out.End = EndCanceled
		if context.Cause(r.ctx) == errCap {
			out.End = EndCap
		}
	}
	r.over.Store(&out)
	r.d.mu.Lock()
	defer r.d.mu.Unlock()
	for _, op := range r.d.ops {
		op.closed.CompareAndSwap(0, int64(out.Elapsed))
	}
}

// outcome is the outcome so far, or the final one.
func (r *run) outcome() Outcome {
	if out := r.over.Load(); out != nil {
		return *out
	}
	out := Outcome{Seed: r.d.opt.Seed, Planned: int(r.planned.Load()), Done: int(r.done.Load()), Elapsed: time.Since(r.start)}
	if cpu, ok := cpuTime(); ok {
		out.CPU = cpu - r.cpu
	}
	return out
}

// until waits for an offset, and reports whether it came. It is also false if
// wake is closed meanwhile, and if the run is cut off first; an offset before
// that is reached all the same.
func (r *run) until(due time.Duration, wake <-chan struct{}) bool {
	if wait := due - time.Since(r.start); wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-wake:
		case <-r.ctx.Done():
		}
	}
	return due <= time.Since(r.start) && due < r.cutoff()
}

// call carries out one operation that holds a slot. due is its intended time,
// ready the earliest moment at which it could be called.
func (r *run) call(ctx context.Context, op *operation, due, ready, timeout time.Duration, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	op.inFlight.Add(1)
	defer op.inFlight.Add(-1)
	sent := time.Since(r.start)
	op.lateness.Record(int64(max(sent-ready, 0)))
	err := do(ctx)
	end := time.Since(r.start)
	class := Classify(err)
	service := end - sent
	if class == ClassTimeout && ctx.Err() == context.DeadlineExceeded {
		service = max(service, timeout) // whoever gives up early has waited no less
	}
	op.service.Record(int64(service))
	op.end(sent-due+service, class, end)
	return err
}

// unsent counts an operation that was due but could not be called before the
// run was cut off: it has waited since, which is what its response time says.
func (r *run) unsent(op *operation, due time.Duration) {
	now := time.Since(r.start)
	op.end(now-due, ClassCanceled, now)
}

func (r *run) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errs = append(r.errs, err)
}

func (r *run) scriptErrors() []error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.errs)
}
