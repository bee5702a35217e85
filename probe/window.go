package probe

import (
	"bytes"
	"cmp"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"
)

// A Window is one reader's independent view of a probe, from the moment that
// Watch opened it. Its methods are safe from any goroutine at any time.
type Window struct {
	parts  []*part
	absent []Absent // members of a Set that cannot work here

	mu     sync.Mutex
	start  time.Time
	closed chan struct{} // made by the Close that does the work, closed by it
	last   *Reading
}

// Read fills r with everything since the window was opened, or since the last
// Next. After Close it gives the last reading.
func (w *Window) Read(r *Reading) { w.read(r, false) }

// Next fills r with the interval that ends now and makes the same snapshot the
// base of the next one, so that intervals tile time: every count is in exactly
// one of them. After Close it gives an empty interval.
func (w *Window) Next(r *Reading) { w.read(r, true) }

func (w *Window) read(r *Reading, next bool) {
	if w.ended() == nil {
		w.sample()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.last == nil:
		w.snapshot(r, next)
	case next:
		r.reset()
		r.Start, r.End = w.last.End, w.last.End
	default:
		r.copyFrom(w.last)
	}
}

// ended is the last reading, or nil while the window is open.
func (w *Window) ended() *Reading {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last
}

// Close settles what was due, takes the last reading and closes the window.
// When it returns, whatever only this window needed has ended. A Close of a
// closed window returns the last reading again; one beside a Close under way
// waits for it.
func (w *Window) Close() *Reading {
	w.mu.Lock()
	if w.closed != nil {
		w.mu.Unlock()
		<-w.closed
	} else {
		w.closed = make(chan struct{})
		w.mu.Unlock()
		w.end()
	}
	r := new(Reading)
	r.copyFrom(w.last)
	return r
}

// end takes the last reading and lets the Cores go, these also if a hook
// panics: its Close passes the panic on, and the next one returns.
func (w *Window) end() {
	r := new(Reading)
	defer close(w.closed)
	defer func() {
		w.mu.Lock()
		w.last = r
		w.mu.Unlock()
		for _, p := range w.parts {
			p.detach()
			defer p.core.release()
		}
	}()
	w.settle()
	w.sample()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.snapshot(r, false)
}

// settle lets all parts settle side by side, so that a Set whose members all take
// their second takes one. A hook that panics does so for the caller, after the rest.
func (w *Window) settle() {
	if len(w.parts) == 1 {
		w.parts[0].core.settle()
		return
	}
	var all sync.WaitGroup
	panicked := make([]any, len(w.parts))
	for i, p := range w.parts {
		if p.core.Settle == nil {
			continue
		}
		all.Go(func() {
			defer func() { panicked[i] = recover() }()
			p.core.Settle()
		})
	}
	all.Wait()
	for _, v := range panicked {
		if v != nil {
			panic(v)
		}
	}
}

func (w *Window) sample() {
	for _, p := range w.parts {
		p.core.sample()
	}
}

// snapshot fills r, under w.mu, after settling and sampling.
func (w *Window) snapshot(r *Reading, next bool) {
	r.reset()
	r.Start, r.End = w.start, time.Now()
	r.Absent = append(r.Absent, w.absent...)
	for _, p := range w.parts {
		p.snapshot(r, next)
	}
	slices.SortStableFunc(r.Absent, func(a, b Absent) int { return cmp.Compare(a.Name, b.Name) })
	if next {
		w.start = r.End
	}
}

// A part is a window's view of one Core: what had been counted when it began.
type part struct {
	core    *Core
	bases   []base // by index in core.series; shorter means from nothing
	events  mark   // in the ring of events
	carried int    // operations under way at the base
}

// A base is where a window's view of one series begins. Most series are counters,
// of which there may be thousands; the others have more.
type base struct {
	total   int64       // a counter's total, a distribution's sum
	samples int64       // that a counter or a distribution rests on
	dist    *distBase   // a distribution's
	peak    *peakBase   // a peak's
	course  *courseView // a gauge's, or nil
}

type distBase struct {
	counts  packed
	clamped uint64
	max     int64 // the largest value + 1 since the base
}

type peakBase struct {
	peakView
	level float64 // where its growth begins
}

// grow makes room for series that were made after the part. They are new, so
// their base is nothing.
func (p *part) grow() {
	now := Now()
	for i := len(p.bases); i < len(p.core.series); i++ {
		var b base
		switch s := p.core.series[i]; {
		case s.peak != nil:
			b.peak = &peakBase{peakView: newPeakView(s.peak.open, now)}
		case s.rec != nil:
			b.dist = new(distBase)
		}
		p.bases = append(p.bases, b)
		p.rebaseCourse(i, now)
	}
}

// rebase makes the present the base, under core.mu.
func (p *part) rebase() {
	p.grow()
	now := Now()
	for i, s := range p.core.series {
		b := &p.bases[i]
		b.samples = s.samples()
		switch {
		case s.counter != nil:
			b.total = s.counter.total.Load()
		case s.peak != nil:
			b.peak.peakView = newPeakView(s.peak.open, now)
		case s.rec != nil:
			b.total, b.dist.clamped = s.rec.totals()
			p.core.spare = s.rec.collect(nil, nil, p.core.scratch())
			b.dist.counts = bytes.Clone(p.core.spare)
			b.dist.max = 0
		}
		p.rebaseCourse(i, now)
	}
	p.events = p.core.events.mark()
	p.carried = p.core.running()
}

// scratch is memory for the counts of one series, never nil, under mu.
func (c *Core) scratch() packed {
	if c.spare == nil {
		c.spare = make(packed, 0, 1024)
	}
	return c.spare[:0]
}

func (p *part) detach() {
	p.core.mu.Lock()
	defer p.core.mu.Unlock()
	p.core.parts = slices.DeleteFunc(p.core.parts, func(q *part) bool { return q == p })
}

// snapshot appends what the part holds to r and, if next, makes the same
// numbers its base.
func (p *part) snapshot(r *Reading, next bool) {
	c := p.core
	c.mu.Lock()
	defer c.mu.Unlock()
	p.grow()
	c.takeMaxima()
	r.Metrics = slices.Grow(r.Metrics, len(c.series))
	for i, s := range c.series {
		if c.absent[s.desc.Name] == "" {
			p.metric(r, s, i, next)
		}
		if next {
			p.rebaseCourse(i, Now())
		}
	}
	for name, reason := range c.absent {
		r.Absent = append(r.Absent, Absent{name, reason})
	}
	events, dropped, now := c.events.since(p.events, r.Events)
	r.Events = events
	r.Dropped += dropped
	running := c.running()
	r.CarriedIn += p.carried
	r.CarriedOut += running
	if next {
		p.events, p.carried = now, running
	}
}

// metric appends the series to r unless it is absent.
func (p *part) metric(r *Reading, s *series, i int, next bool) {
	b := &p.bases[i]
	// Before the value and again behind it: a sample that comes in between is in
	// both of two intervals, rather than in neither.
	samples := s.samples()
	switch {
	case s.counter != nil:
		total := s.counter.total.Load()
		m := r.add(s.desc, s.attrs)
		m.Value = s.desc.Value(float64(total - b.total))
		if s.desc.Kind == KindUpDownCounter {
			m.Value = s.desc.Value(float64(total))
		}
		m.estimate(s.samples() - b.samples)
		if next {
			b.total, b.samples = total, samples
		}
	case s.gauge != nil:
		if v := s.gauge.value(); !math.IsNaN(v) {
			r.add(s.desc, s.attrs).Value = v
		}
		p.course(r, i, Now())
	case s.peak != nil:
		now := Now()
		if v, prov, ok := b.peak.value(now); ok {
			m := r.add(s.desc, s.attrs)
			m.Value, m.Prov = s.desc.Value(float64(v)), prov
			p.growth(r, i, v, prov)
		}
		if next {
			b.peak.peakView = newPeakView(s.peak.open, now)
		}
	case s.rec != nil:
		m := r.add(s.desc, s.attrs)
		p.distribution(m, s.rec, i, next)
		m.estimate(s.samples() - b.samples)
		if next {
			b.samples = samples
		}
	}
}

// distribution fills m with what was recorded since the base.
func (p *part) distribution(m *Metric, rec *Recorder, i int, next bool) {
	b, d := &p.bases[i], m.Dist
	since := b.dist
	d.reset(rec.geometry)
	sum, clamped := rec.totals()
	var now packed
	if next {
		now = p.core.scratch()
	}
	now = rec.collect(since.counts, d, now)
	d.sum, d.clamped = sum-b.total, clamped-since.clamped
	m.Value = m.Desc.Value(float64(d.sum))
	p.settleMax(d, rec, i)
	d.max = max(since.max-1, 0)
	if n := len(d.idx); n > 0 {
		if low, high := d.bounds(int(d.idx[n-1])); d.max < low {
			d.max, m.Prov = high, Provenance{How: AtMost, Method: "bucket"}
		}
	}
	if next {
		since.counts = append(since.counts[:0], now...)
		p.core.spare = now
		b.total, since.clamped, since.max = sum, clamped, 0
	}
}

// settleMax waits, briefly, for the maximum of a record whose count is in d
// already: the two are stores a few nanoseconds apart, unless the recording
// goroutine lost its processor between them.
func (p *part) settleMax(d *Dist, rec *Recorder, i int) {
	n := len(d.idx)
	if n == 0 {
		return
	}
	low, _ := d.bounds(int(d.idx[n-1]))
	for range 100 {
		if p.bases[i].dist.max-1 >= low {
			return
		}
		runtime.Gosched()
		p.core.foldMax(rec, i)
	}
}

// takeMaxima folds the maxima since the last boundary into every open window,
// under mu.
func (c *Core) takeMaxima() {
	for i, s := range c.series {
		if s.rec != nil {
			c.foldMax(s.rec, i)
		}
	}
}

func (c *Core) foldMax(rec *Recorder, i int) {
	m := rec.takeMax()
	if m == 0 {
		return
	}
	for _, p := range c.parts {
		p.grow()
		b := p.bases[i].dist
		b.max = max(b.max, m)
	}
}
