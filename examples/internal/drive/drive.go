package drive

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// Options are the options of New. The zero value works for scripts and counted
// activities.
type Options struct {
	Name string // tells several drivers of one Set apart
	Seed uint64 // decides every schedule; zero is a seed like any other

	// For is how long activities without a Count come due. If zero, until the
	// fixed work is done, or if there is none until Cap.
	For time.Duration
	// Cap ends the run, whatever is still under way: that is canceled and
	// counts as failed. If zero there is no cap.
	Cap time.Duration

	Timeout     time.Duration // of one operation; if zero, 30 s
	MaxInFlight int           // operations under way at once; if zero, 1,000
}

// Driver plays a load. It is a probe: watch it over the run and its results
// are in the reading.
type Driver struct {
	opt   Options
	core  probe.Core
	users []User
	run   atomic.Pointer[run]

	mu  sync.Mutex
	ops map[string]*operation
}

// New makes a driver without users.
func New(opt Options) *Driver {
	if opt.Timeout == 0 {
		opt.Timeout = 30 * time.Second
	}
	if opt.MaxInFlight == 0 {
		opt.MaxInFlight = 1000
	}
	d := &Driver{opt: opt, ops: make(map[string]*operation)}
	d.core.Name, d.core.Descs, d.core.Sample = opt.Name, descs, d.sample
	if _, ok := cpuTime(); !ok {
		d.core.Absent(descCPU.Name, "this system does not tell a process's CPU time")
	}
	d.core.Gauge(descSeed, probe.Attr{Key: attrSeed, Value: strconv.FormatUint(opt.Seed, 10)}).Set(float64(opt.Seed))
	d.core.GaugeFunc(descPlanned, func() float64 { return float64(d.Progress().Planned) })
	d.core.GaugeFunc(descDone, func() float64 { return float64(d.Progress().Done) })
	return d
}

// Watch implements probe.Probe. Open the window before Run.
func (d *Driver) Watch() (*probe.Window, error) { return d.core.Watch() }

// Describe implements probe.Probe.
func (d *Driver) Describe() []*probe.Desc { return d.core.Describe() }

// sample brings the CPU time up to date: a total that the kernel keeps.
func (d *Driver) sample() {
	if t, ok := cpuTime(); ok {
		d.core.Counter(descCPU).Set(int64(t))
	}
}

// Add adds a user. The order in which users are added decides their random
// streams.
func (d *Driver) Add(u User) { d.users = append(d.users, u) }

// Record counts an operation that was measured elsewhere, such as a job's wait
// in the server's queue as the server tells it: took is its response time. It
// has neither service time nor lateness.
func (d *Driver) Record(name string, took time.Duration, err error) {
	op := d.operation(name)
	op.comeDue()
	op.end(took, Classify(err), d.run.Load().now())
}

// End says why a run ended.
type End string

const (
	EndDone     End = "done"     // all work was done and every schedule ended
	EndCap      End = "cap"      // Options.Cap passed first
	EndCanceled End = "canceled" // Run's context ended first
)

// Outcome is how a run went as a whole.
type Outcome struct {
	Seed    uint64
	End     End           // empty while it runs
	Planned int           // units of fixed work: Counts of activities, Work of scripts
	Done    int           // how many of them are done, failed operations included
	Elapsed time.Duration // wall time since the start
	CPU     time.Duration // of this process meanwhile; 0 where the system does not tell
}

// Share is the share of the fixed work that is done, 0 to 1; 1 if there is none.
func (o Outcome) Share() float64 {
	if o.Planned == 0 {
		return 1
	}
	return float64(o.Done) / float64(o.Planned)
}

// Progress tells how far the run is. Before Run it is the zero Outcome, with
// the seed.
func (d *Driver) Progress() Outcome {
	r := d.run.Load()
	if r == nil {
		return Outcome{Seed: d.opt.Seed}
	}
	return r.outcome()
}

// Run plays the load and returns when the fixed work is done and the
// schedules have ended, at the cap, or when ctx ends. What the latter two cut
// off is canceled and waited for. The error tells of a load that cannot run,
// of scripts that failed, and of operations that ignored their context for 5 s
// after the cut; the Outcome holds in each case. A Driver runs once.
func (d *Driver) Run(ctx context.Context) (Outcome, error) {
	if err := d.check(); err != nil {
		return Outcome{Seed: d.opt.Seed}, fmt.Errorf("drive: %w", err)
	}
	r := newRun(ctx, d)
	if !d.run.CompareAndSwap(nil, r) {
		r.cancel(nil)
		return d.Progress(), errors.New("drive: a Driver runs once")
	}
	err := r.play(ctx)
	out := r.outcome()
	if out.End != EndDone {
		d.core.Emit(probe.Event{Name: eventCut, Start: time.Now(), Cause: string(out.End),
			Text: fmt.Sprintf("The run was cut off (%s) after %v with %.0f %% of its fixed work done.",
				out.End, out.Elapsed.Round(time.Millisecond), 100*out.Share())})
	}
	return out, err
}

// check finds what is wrong with the load, and a run that would never end.
func (d *Driver) check() error {
	fixed := d.opt.For > 0 || d.opt.Cap > 0
	if d.opt.For < 0 || d.opt.Cap < 0 || d.opt.Timeout < 0 || d.opt.MaxInFlight < 0 {
		return errors.New("an option is negative")
	}
	for i, u := range d.users {
		for _, a := range u.Activities {
			if err := a.check(); err != nil {
				return fmt.Errorf("user %d: %w", i, err)
			}
			fixed = fixed || a.Count > 0
		}
		for _, s := range u.Scripts {
			if s.Do == nil {
				return fmt.Errorf("user %d: a script's Do is nil", i)
			}
			fixed = true
		}
	}
	if !fixed {
		return errors.New("the run would not end: no For, no Cap and no fixed work")
	}
	return nil
}
