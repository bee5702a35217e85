package lag

import (
	"cmp"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

const (
	defaultInterval  = 50 * time.Millisecond
	defaultThreshold = 100 * time.Millisecond
	// minInterval is the shortest schedule that timers can keep: the sleep of
	// an idle Linux process has a granularity of 1 ms, and at that interval
	// 2.5 % of the slots were merged with nothing else running.
	minInterval = 2 * time.Millisecond
)

// Options are the options of [New]. The zero value works.
type Options struct {
	// Name tells several lag probes of one process apart; empty leaves the
	// attribute out. A Set takes one probe of the scheduler and one of a loop
	// without a name.
	Name string
	// Interval is the distance of two slots, at least 2 ms. 0 means 50 ms,
	// which is right for a service; 5 to 10 ms see shorter stalls in a test or
	// a benchmark, at the price of as many more wake-ups.
	Interval time.Duration
	// Through sends each slot through an executor of the application that
	// serves one thing at a time: an actor's channel, a mutex, a pool of one
	// connection, a worker pool. It gets beat to that executor, where calling
	// it is the work:
	//
	//	Through: func(beat func()) { mu.Lock(); beat(); mu.Unlock() }
	//	Through: func(beat func()) { actor.mailbox <- beat }
	//
	// The probe then measures the lag of that loop. Nil measures the
	// scheduler's.
	//
	// Each call has a goroutine of its own and may block. At most 8 slots are
	// under way in the life of a window; while they are, later ones share the wait
	// of the last of them. If all 8 calls have returned, one more finds out whether
	// the beats were lost, each time that the wait has doubled. A beat that is not
	// called leaves its slot unserved, which Pending shows, until 8 later ones have
	// been served: then it counts as lost, and if it is called after all, as served
	// too. Calling it twice or after Close does nothing.
	Through func(beat func())
	// Threshold is the lag from which on a slot is part of a stall, which
	// becomes an event with its causes. 0 means 100 ms; negative means that
	// there are neither events nor the readings of the kernel's and the
	// runtime's counters by which stalls are explained.
	Threshold time.Duration
	// Capture are the options of captures, which are files beside a stall's
	// event: a trace, a goroutine profile. The zero value takes none. Options
	// that contradict each other are reported by Watch.
	Capture Capture
}

// A Probe measures lag, of the scheduler or of a loop. It is made by [New].
type Probe struct {
	core     probe.Core
	interval time.Duration
	through  func(beat func())
	// threshold is where stalls begin, 0 for no stalls.
	threshold time.Duration
	series    series
	captured  series // of slots that a capture held up; see AttrCaptured
	capture   Capture
	ids       atomic.Uint64 // of events
	group     *group
	peers     atomic.Pointer[[]*peer]
	running   atomic.Pointer[track] // nil while no window is open
	sampling  sync.Mutex            // held while the maximum of a loop's gaps is shown

	now func() int64
	// Tests replace these: going to the tail of the run queue, the evidence, and
	// whether time is fake.
	yield      func()
	newSampler func() sampler
	inBubble   func() bool
}

// New makes a probe. An interval that is out of range is reported by Watch.
func New(o Options) *Probe {
	p := &Probe{
		interval: o.Interval, through: o.Through, capture: o.Capture,
		now: probe.Now, yield: runtime.Gosched, newSampler: newSampler, inBubble: inBubble,
	}
	p.threshold = max(cmp.Or(o.Threshold, defaultThreshold), 0)
	if p.interval == 0 {
		p.interval = defaultInterval
	}
	p.group = &group{interval: p.interval, clock: clock{now: probe.Now, wait: (*ticker).sleep}}
	p.group.floor.cpu = func() (time.Duration, error) {
		u, err := proc.ReadUsage()
		return u.CPU, err
	}
	p.core.Name = o.Name
	p.core.Start, p.core.Stop, p.core.Settle, p.core.Sample = p.start, p.stop, p.settle, p.sample
	p.series = p.newSeries()
	if p.capture.on() {
		p.makeCaptured()
	}
	return p
}

// Watch implements [probe.Probe]. It fails if Options.Interval is below 2 ms.
func (p *Probe) Watch() (*probe.Window, error) { return p.core.Watch() }

// Describe implements [probe.Probe].
func (p *Probe) Describe() []*probe.Desc { return p.core.Describe() }

// Meet implements what [probe.NewSet] looks for: the lag probes of a Set that
// have the same interval share one ticker, so that several cost one wake-up.
// Those that are watched already keep theirs until they are watched anew. The
// members that can say what overlapped a stall will be asked.
func (p *Probe) Meet(peers []probe.Probe) {
	for _, peer := range peers {
		if o, ok := peer.(*Probe); ok {
			p.group.merge(o.group)
		} else if o, ok := peer.(overlapper); ok {
			p.know(o)
		}
	}
}

// Pending is the live value, for load shedding and health checks: how long ago
// the oldest slot fell due that has not been served yet, 0 if none is overdue.
// It grows while a stall is going on, when no distribution knows of it yet.
// watched is false, and age 0, while no window is open: then nothing is known,
// which is not the same as being well. The same holds under testing/synctest.
//
// A loop's slot that seems to be lost is waited for until eight later ones have been
// served; see [Options.Through].
//
// It takes no lock and costs an atomic load and a clock read, so that every
// request may ask. An idle process shows up to about 1 ms for an instant at
// each slot.
func (p *Probe) Pending() (age time.Duration, watched bool) {
	tr := p.running.Load()
	if tr == nil {
		return 0, false
	}
	unserved := tr.unserved.Load() // before the clock is read, so that no slot is served between
	age = time.Duration(p.now() - unserved)
	if age < -p.interval { // the next slot is never farther away: this is another clock, a bubble's
		return 0, false
	}
	return max(age, 0), true
}

func (p *Probe) start() error {
	if p.interval < minInterval {
		return fmt.Errorf("lag: probe %q: Options.Interval is %v, must be at least %v", p.core.Name, p.interval, minInterval)
	}
	if err := p.capture.check(p.threshold); err != nil {
		return fmt.Errorf("lag: probe %q: %w", p.core.Name, err)
	}
	if p.inBubble() {
		p.declare(noData)
		return nil
	}
	tr := newTrack(p)
	p.group.root().join(tr)
	p.running.Store(tr)
	return nil
}

func (p *Probe) stop() {
	if tr := p.running.Swap(nil); tr != nil {
		tr.end()
		return
	}
	p.declare("") // the next window may be outside the bubble
}

func (p *Probe) settle() {
	if tr := p.running.Load(); tr != nil {
		limit := time.Second
		from := time.Now()
		tr.settle(p.now(), limit)
		tr.captures.settle(limit - time.Since(from))
	}
}
