package lag

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

const (
	defaultInterval = 50 * time.Millisecond
	// minInterval is the shortest schedule that timers can keep: the sleep of
	// an idle Linux process has a granularity of 1 ms, and at that interval
	// 2.5 % of the slots were merged with nothing else running.
	minInterval = 2 * time.Millisecond
)

// Options are the options of [New]. The zero value works.
type Options struct {
	// Name tells several lag probes of one process apart; empty leaves the
	// attribute out.
	Name string
	// Interval is the distance of two slots, at least 2 ms. 0 means 50 ms,
	// which is right for a service; 5 to 10 ms see shorter stalls in a test or
	// a benchmark, at the price of as many more wake-ups.
	Interval time.Duration
}

// A Probe measures scheduler lag. It is made by [New].
type Probe struct {
	core     probe.Core
	interval time.Duration
	series   series
	running  atomic.Pointer[schedule] // nil while no window is open

	// Tests replace these: the clock, how to wait for a deadline (false if
	// told to stop), and how to go to the tail of the run queue.
	now   func() int64
	wait  func(s *schedule, due int64) bool
	yield func()
}

// New makes a probe. An interval that is out of range is reported by Watch.
func New(o Options) *Probe {
	p := &Probe{interval: o.Interval, now: probe.Now, wait: (*schedule).wait, yield: runtime.Gosched}
	if p.interval == 0 {
		p.interval = defaultInterval
	}
	p.core.Name = o.Name
	p.core.Descs = descs
	p.core.Start, p.core.Stop, p.core.Settle = p.start, p.stop, p.settle
	p.series = newSeries(&p.core)
	return p
}

// Watch implements [probe.Probe]. It fails if Options.Interval is below 2 ms.
func (p *Probe) Watch() (*probe.Window, error) { return p.core.Watch() }

// Describe implements [probe.Probe].
func (p *Probe) Describe() []*probe.Desc { return p.core.Describe() }

// Pending is the live value, for load shedding and health checks: how long ago
// the oldest slot fell due that has not been served yet, 0 if none is overdue.
// It grows while a stall is going on, when no distribution knows of it yet.
// watched is false, and age 0, while no window is open: then nothing is known.
//
// It costs an atomic load and a clock read. An idle process shows up to about
// 1 ms for an instant at each slot.
func (p *Probe) Pending() (age time.Duration, watched bool) {
	s := p.running.Load()
	if s == nil {
		return 0, false
	}
	return time.Duration(max(p.now()-s.unserved.Load(), 0)), true
}

func (p *Probe) start() error {
	if p.interval < minInterval {
		return fmt.Errorf("lag: probe %q: Options.Interval is %v, must be at least %v", p.core.Name, p.interval, minInterval)
	}
	s := newSchedule(p, p.now())
	p.running.Store(s)
	s.goroutines.Add(1)
	go s.run()
	return nil
}

func (p *Probe) stop() {
	s := p.running.Swap(nil)
	close(s.stop)
	s.goroutines.Wait()
}

func (p *Probe) settle() {
	if s := p.running.Load(); s != nil {
		s.settle(p.now(), time.Second)
	}
}
