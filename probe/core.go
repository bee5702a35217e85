package probe

import (
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// AttrProbeName is the attribute that tells several probes of one kind apart.
const AttrProbeName = "tidestaff.probe.name"

// A Core is the author's side of a probe. It makes the probe's series, opens
// windows over them, and calls the author's hooks. A probe holds one and
// forwards Watch and Describe to it. The zero Core is a probe itself, for a
// user's own counters, gauges and distributions.
//
// The exported fields are set before the first use and not changed afterwards.
// A Core must not be copied.
//
// A Core's series live as long as the Core. Where attributes come from data
// (methods, paths), bound them with a [Table] or a [Series].
type Core struct {
	// Name tells this probe from others of its kind: the attribute
	// tidestaff.probe.name of all its metrics. Empty leaves the attribute out.
	Name string
	// Activity says what Begin and End bracket, such as "statement".
	Activity string
	// Descs are the descriptions of all metrics that the probe may yield.
	// Those of series that exist are added by themselves.
	Descs []*Desc

	// Start is called by the Watch that opens the first window and Stop by
	// the Close of the last one; they alternate and never overlap. Stop
	// returns when everything that Start began has ended. Neither may open or
	// close a window of the same Core.
	Start func() error
	Stop  func()
	// Sample is called before each reading, to bring gauges, peaks and
	// counters that the kernel keeps up to date. It may run several times at
	// once, and beside Stop: the Core holds no lock while it runs.
	Sample func()
	// Settle is called by Watch and Close: it waits, at most a second, until
	// what was due by then has been recorded. Those of a Set run side by side.
	Settle func()

	life    sync.Mutex // held over Start and Stop
	open    int        // windows, under life
	watched atomic.Bool

	mu     sync.Mutex // guards what follows; never held while a hook runs
	descs  []*Desc
	series []*series
	byKey  map[uint64]*series // by the hash of name and attributes; see series.next
	parts  []*part
	absent map[string]string
	spare  packed // scratch for a window's next base

	events eventRing
	flight atomic.Pointer[flight]
}

// Watch implements [Probe].
func (c *Core) Watch() (*Window, error) {
	if err := c.acquire(); err != nil {
		return nil, err
	}
	c.settle()
	c.sample()
	p := &part{core: c}
	now := time.Now()
	c.mu.Lock()
	c.parts = append(c.parts, p)
	c.takeMaxima()
	p.rebase()
	c.mu.Unlock()
	return &Window{parts: []*part{p}, start: now}, nil
}

// Describe implements [Probe].
func (c *Core) Describe() []*Desc {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := slices.Clone(c.Descs)
	for _, d := range c.descs {
		i := slices.IndexFunc(all, func(declared *Desc) bool { return declared.Name == d.Name })
		if i < 0 {
			all = append(all, d)
		} else {
			all[i] = d // it has its kind
		}
	}
	return all
}

// Watched reports whether any window is open. It is one atomic load, for hot
// paths that do nothing when nobody reads.
func (c *Core) Watched() bool { return c.watched.Load() }

// acquire counts a window in, and starts the probe for the first one.
func (c *Core) acquire() error {
	c.life.Lock()
	defer c.life.Unlock()
	if c.open == 0 && c.Start != nil {
		if err := c.Start(); err != nil {
			return err
		}
	}
	c.open++
	c.watched.Store(true)
	return nil
}

// release counts a window out, and stops the probe after the last one.
func (c *Core) release() {
	c.life.Lock()
	defer c.life.Unlock()
	c.open--
	if c.open > 0 {
		return
	}
	c.watched.Store(false)
	if c.Stop != nil {
		c.Stop()
	}
}

func (c *Core) settle() {
	if c.Settle != nil {
		c.Settle()
	}
}

// sample runs the hook and the gauges' functions, without a lock.
func (c *Core) sample() {
	if c.Sample != nil {
		c.Sample()
	}
	c.mu.Lock()
	all := c.series
	c.mu.Unlock()
	for _, s := range all {
		if s.gauge != nil {
			if fn := s.gauge.fn.Load(); fn != nil {
				c.call(s, *fn)
			}
		}
	}
}

// call sets a gauge from its function. A function that panics makes its gauge
// absent: a probe never takes its host service down.
func (c *Core) call(s *series, fn func() float64) {
	defer func() {
		if p := recover(); p != nil {
			s.gauge.failed.Store(true)
			c.Absent(s.desc.Name, fmt.Sprintf("the gauge's function panicked: %v", p))
		}
	}()
	s.gauge.Set(fn())
	if s.gauge.failed.CompareAndSwap(true, false) {
		c.Absent(s.desc.Name, "")
	}
}

// Counter makes the counter of d under attrs, or returns the one that exists.
// It panics if d is not a valid description of a counter.
func (c *Core) Counter(d *Desc, attrs ...Attr) *Counter {
	kind := KindCounter
	if d.Kind == KindUpDownCounter {
		kind = KindUpDownCounter
	}
	return c.make(d, kind, attrs, func(s *series, _ int) { s.counter = new(Counter) }).counter
}

// Gauge makes the gauge of d under attrs, or returns the one that exists.
// It panics if d is not a valid description of a gauge.
func (c *Core) Gauge(d *Desc, attrs ...Attr) *Gauge {
	return c.make(d, KindGauge, attrs, func(s *series, at int) {
		s.gauge = &Gauge{core: c, at: at}
		s.gauge.Set(math.NaN())
	}).gauge
}

// GaugeFunc makes a gauge that fn gives whenever a window is read, or gives the
// one that exists a new function. fn may be called from several goroutines at
// once; NaN makes the gauge absent, and so does a panic, with its text as the
// reason.
func (c *Core) GaugeFunc(d *Desc, fn func() float64, attrs ...Attr) {
	c.Gauge(d, attrs...).fn.Store(&fn)
}

// Peak makes the peak of d under attrs, or returns the one that exists.
// It panics if d is not a valid description of a peak.
func (c *Core) Peak(d *Desc, attrs ...Attr) *Peak {
	return c.make(d, KindPeak, attrs, func(s *series, at int) {
		s.peak = &Peak{core: c, at: at, open: math.MaxInt64}
	}).peak
}

// Recorder makes the distribution of d under attrs, or returns the one that
// exists. It panics if d is not a valid description of a distribution.
func (c *Core) Recorder(d *Desc, attrs ...Attr) *Recorder {
	return c.make(d, KindDistribution, attrs, func(s *series, _ int) { s.rec = &Recorder{geometry: geometryOf(d.Digits)} }).rec
}

// make finds or makes a series. A wrong description is a programmer's mistake.
func (c *Core) make(d *Desc, kind Kind, attrs []Attr, fill func(*series, int)) *series {
	attrs = c.named(attrs)
	key := seriesKey(d.Name, attrs)
	c.mu.Lock()
	defer c.mu.Unlock()
	d = c.declare(d, kind)
	for s := c.byKey[key]; s != nil; s = s.next {
		if s.desc == d && slices.Equal(s.attrs, attrs) {
			return s
		}
	}
	s := &series{desc: d, attrs: slices.Clone(attrs), next: c.byKey[key]}
	fill(s, len(c.series))
	if c.byKey == nil {
		c.byKey = make(map[uint64]*series)
	}
	c.byKey[key] = s
	c.series = append(c.series, s)
	return s
}

// named puts the probe's name, if it has one, before the attributes of a series.
func (c *Core) named(attrs []Attr) []Attr {
	if c.Name == "" {
		return attrs
	}
	return append([]Attr{{AttrProbeName, c.Name}}, attrs...)
}

// declare checks a description and gives the one that the Core keeps for its
// name. One without a kind is completed in a copy.
func (c *Core) declare(d *Desc, kind Kind) *Desc {
	for _, known := range c.descs {
		if known.Name == d.Name {
			if known.Kind != kind {
				panic(fmt.Sprintf("probe: metric %s is made as a %v and as a %v", d.Name, known.Kind, kind))
			}
			return known
		}
	}
	if err := d.check(); err != nil {
		panic(err)
	}
	switch d.Kind {
	case kind:
	case 0:
		completed := *d
		completed.Kind = kind
		d = &completed
	default:
		panic(fmt.Sprintf("probe: metric %s is described as a %v and made as a %v", d.Name, d.Kind, kind))
	}
	c.descs = append(c.descs, d)
	return d
}

// seriesSeed is that of all hashes of series.
var seriesSeed = maphash.MakeSeed()

// seriesKey is a hash: as long as the names and paths themselves it would be
// what takes most of a series.
func seriesKey(name string, attrs []Attr) uint64 {
	var h maphash.Hash
	h.SetSeed(seriesSeed)
	_, _ = h.WriteString(name)
	for _, a := range attrs {
		_ = h.WriteByte(0)
		_, _ = h.WriteString(a.Key)
		_ = h.WriteByte(1)
		_, _ = h.WriteString(a.Value)
	}
	return h.Sum64()
}

// Absent lists name (a metric, or a prefix that stands for several) as not
// measured, with a reason for a person. An empty reason takes it back.
func (c *Core) Absent(name, reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if reason == "" {
		delete(c.absent, name)
		return
	}
	if c.absent == nil {
		c.absent = make(map[string]string)
	}
	c.absent[name] = reason
}

// Emit adds an event to the ring, which keeps the last 256, and returns its ID.
// An event with an ID of its own, one that completes an ongoing one, keeps it. Of one
// that goes on and is emitted again and again, the last 8 states are kept.
func (c *Core) Emit(e Event) uint64 { return c.events.add(e) }
