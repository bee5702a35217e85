package probe

import (
	"math"
	"sync/atomic"
	"time"
)

// A series is one metric of a Core under one set of attributes. Exactly one of
// the pointers is set.
type series struct {
	desc    *Desc
	attrs   []Attr
	counter *Counter
	gauge   *Gauge
	peak    *Peak
	rec     *Recorder
	course  *course // of a gauge or a peak, or nil
	next    *series // of another name or other attributes with the same hash
}

// A Counter is a number that is added to. Made by [Core.Counter] with a
// description of KindUpDownCounter, it may also go down. It is safe for
// concurrent use.
type Counter struct {
	total   atomic.Int64
	origin  atomic.Pointer[int64]
	sampled atomic.Pointer[Counter] // see SampledBy
}

// Add adds n: nanoseconds where the description's unit is "s".
func (c *Counter) Add(n int64) { c.total.Add(n) }

// Set is for a counter that somebody else keeps, such as a kernel file: total
// is its value now. The first call is the origin, and a total below the last
// one (two samplers that overtook each other) is ignored.
func (c *Counter) Set(total int64) {
	if c.origin.Load() == nil {
		first := total // a copy, so that only the first call allocates
		if c.origin.CompareAndSwap(nil, &first) {
			return
		}
	}
	n := total - *c.origin.Load()
	for {
		old := c.total.Load()
		if n <= old || c.total.CompareAndSwap(old, n) {
			return
		}
	}
}

// SampledBy says that what is added to c may be an estimate, and that samples
// counts what it rests on: a window in which that has grown says so in c's
// Provenance. Who estimates adds to samples first, and to c then; what is known
// exactly is only added to c. (An interval that ends between the two has the
// samples, and the value passes for exact in the next one: to tell would cost
// every estimate one more addition.) Several counters and recorders of a probe may
// rest on the same samples, which need not be a metric: the zero Counter will do.
func (c *Counter) SampledBy(samples *Counter) { c.sampled.Store(samples) }

// SampledBy is [Counter.SampledBy] for what is recorded.
func (r *Recorder) SampledBy(samples *Counter) { r.sampled.Store(samples) }

// samples is how many samples the series rests on so far, 0 if it is exact.
func (s *series) samples() int64 {
	var by *Counter
	switch {
	case s.counter != nil:
		by = s.counter.sampled.Load()
	case s.rec != nil:
		by = s.rec.sampled.Load()
	}
	if by == nil {
		return 0
	}
	return by.total.Load()
}

// estimate marks a metric that rests on n samples more than its base.
func (m *Metric) estimate(n int64) {
	if n > 0 && m.Prov.How == Exact {
		m.Prov = Provenance{How: Sampled, Samples: uint64(n)}
	}
}

// A Gauge is a level that is set. Until it is set it is absent. It is safe for
// concurrent use.
type Gauge struct {
	core     *Core
	at       int // index of its series
	bits     atomic.Uint64
	fn       atomic.Pointer[func() float64]
	failed   atomic.Bool // fn has panicked, and its metric is listed as absent
	followed atomic.Bool // it has a course
}

// Set sets the level, in the description's unit. NaN makes the gauge absent.
func (g *Gauge) Set(v float64) {
	g.bits.Store(math.Float64bits(v))
	if g.followed.Load() && !math.IsNaN(v) {
		g.observe(v)
	}
}

func (g *Gauge) value() float64 { return math.Float64frombits(g.bits.Load()) }

// A Peak is the highest level within each window. Reset, Lifetime and Sample are
// the three ways to know of one, and a window's Provenance says which of them
// its value rests on; Measured is for levels of which each has its own maximum.
// It is safe for concurrent use.
type Peak struct {
	core *Core
	at   int   // index of its series
	open int64 // what a window opened now may have missed; see peakView.missed
}

// Reset reports that v was the maximum since the previous Reset, and that the
// kernel's own maximum has just been set back to the present level. A probe
// whose Sample hook does so at every boundary has exact peaks in every window.
func (p *Peak) Reset(v int64, method string) {
	p.observe(func(w *peakView) { w.reset(v, method) }, func() { p.open = 0 })
}

// Lifetime reports that v is the highest level ever (or since the last Reset).
// It is the exact peak of the windows in which it rose; of the others it is
// only known that their peak is no higher.
func (p *Peak) Lifetime(v int64, method string) {
	p.observe(func(w *peakView) { w.lifetime(v, method) }, func() { p.open = v })
}

// Sample reports that the level was v at this instant.
func (p *Peak) Sample(v int64) {
	now := Now()
	p.observe(func(w *peakView) { w.sample(v, now) }, func() {})
}

// Lost reports that somebody else has set the kernel's maximum back, so that it
// does not tell any more what the level was before. The peak of the windows that
// are open is from then on what is known of it at least, and labelled as sampled;
// a Lifetime or Reset makes those exact that are opened after it.
func (p *Peak) Lost() {
	p.observe(func(w *peakView) { w.missed, w.covered = math.MaxInt64, true }, func() { p.open = math.MaxInt64 })
}

// Measured reports that something which has now ended, such as a command, had
// its highest level at v, known as prov says. The peak of a window is the highest
// of those reported in it, with that one's provenance. A Peak that is fed by
// Measured is fed by nothing else.
func (p *Peak) Measured(v int64, prov Provenance) {
	p.observe(func(w *peakView) { w.measured(v, prov) }, func() {})
}

// observe shows an observation to every open window and then to the Peak, for
// the windows to come.
func (p *Peak) observe(view func(*peakView), after func()) {
	p.core.mu.Lock()
	defer p.core.mu.Unlock()
	for _, part := range p.core.parts {
		part.grow()
		view(&part.bases[p.at].peak.peakView)
	}
	after()
}

// The methods of a peak that rests on samples: of one of which nobody knows what
// it has missed, and of one that was as high as the lifetime's maximum, so that
// it cannot have missed anything.
const (
	methodSampled = "sampled"
	methodReached = "lifetime's peak reached"
)

// A peakView is what one window knows of a peak.
type peakView struct {
	max     int64 // highest level known to have been within the window
	missed  int64 // bound of what may have been missed: exact once max reaches it
	covered bool  // the window began with a reset
	seen    bool
	method  string
	samples uint64
	last    int64 // Now of the last sample, or of the window's start
	gap     int64
	whole   *Provenance // of the highest that was reported as measured
}

// newPeakView begins a window's view. open is the Peak's: 0 after a Reset, the
// lifetime's maximum after a Lifetime, MaxInt64 before either.
func newPeakView(open, now int64) peakView {
	return peakView{missed: open, covered: open == 0, last: now}
}

// raise takes a mark in, which looks at the level tell nothing above of.
func (w *peakView) raise(v int64, method string) {
	if !w.seen || v > w.max || w.method == methodSampled {
		w.method = method
	}
	w.max, w.seen = max(w.max, v), true
}

func (w *peakView) reset(v int64, method string) {
	if w.covered || v > w.missed {
		w.raise(v, method)
	}
	if !w.covered && v > w.missed {
		w.missed = 0 // it rose: nothing before this reset is in doubt
	}
	w.covered = true
}

func (w *peakView) lifetime(v int64, method string) {
	if w.covered || v > w.missed {
		w.raise(v, method)
	}
}

func (w *peakView) sample(v, now int64) {
	switch exact := w.seen && w.max >= w.missed; {
	case exact: // the mark has it too, and will say so when it is read next
		w.max = max(w.max, v)
	case !w.seen || v > w.max:
		w.max, w.seen, w.method = v, true, methodSampled
	}
	w.samples++
	w.gap = max(w.gap, now-w.last)
	w.last = now
}

func (w *peakView) measured(v int64, prov Provenance) {
	if !w.seen || v > w.max {
		w.raise(v, prov.Method)
		w.whole = &prov
	}
}

// value is the window's peak; false if nothing is known of it.
func (w *peakView) value(now int64) (int64, Provenance, bool) {
	if !w.seen {
		return 0, Provenance{}, false
	}
	if w.whole != nil {
		return w.max, *w.whole, true
	}
	if w.max >= w.missed {
		method := w.method
		if method == methodSampled {
			method = methodReached
		}
		return w.max, Provenance{Method: method}, true
	}
	gap := max(w.gap, now-w.last)
	return w.max, Provenance{How: Sampled, Method: w.method, Samples: w.samples, MaxGap: time.Duration(gap)}, true
}
