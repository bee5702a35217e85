package probe

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

var (
	testCount = &Desc{Name: "test.count", Unit: "{thing}", Help: "Things."}
	testDist  = &Desc{Name: "test.duration", Unit: "s", Help: "Durations."}
	testLevel = &Desc{Name: "test.level", Unit: "{thing}", Kind: KindUpDownCounter, Help: "Things there."}
	testGauge = &Desc{Name: "test.gauge", Unit: "1", Help: "A share."}
	testPeak  = &Desc{Name: "test.peak", Unit: "By", Help: "Highest level."}
)

// watch opens a window that the test closes.
func watch(t testing.TB, p Probe) *Window {
	t.Helper()
	w, err := p.Watch()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// value is the value of the reading's only metric of that name.
func value(t testing.TB, r *Reading, name string, attrs ...Attr) float64 {
	t.Helper()
	m := metric(t, r, name, attrs...)
	return m.Value
}

func metric(t testing.TB, r *Reading, name string, attrs ...Attr) *Metric {
	t.Helper()
	var found *Metric
	for m := range r.Find(name, attrs...) {
		if found != nil {
			t.Fatalf("several metrics %s %v", name, attrs)
		}
		found = m
	}
	if found == nil {
		t.Fatalf("no metric %s %v", name, attrs)
	}
	return found
}

func TestWindowsAreIndependent(t *testing.T) {
	var c Core
	n, d := c.Counter(testCount), c.Recorder(testDist)
	n.Add(100)
	d.Record(9e9)
	outer := watch(t, &c)
	n.Add(1)
	d.Record(5e9)
	inner := watch(t, &c)
	n.Add(2)
	d.Record(1e9)
	var r Reading
	inner.Read(&r)
	if got := value(t, &r, "test.count"); got != 2 {
		t.Errorf("inner counts %v, want 2", got)
	}
	if m := metric(t, &r, "test.duration"); m.Dist.Count() != 1 || m.Dist.Max() != 1e9 || m.Value != 1 {
		t.Errorf("inner has %d values, max %d, sum %v s, want 1, 1e9, 1", m.Dist.Count(), m.Dist.Max(), m.Value)
	}
	n.Add(4)
	last := inner.Close()
	n.Add(8)
	d.Record(2e9)
	if got := value(t, last, "test.count"); got != 6 {
		t.Errorf("closed inner counts %v, want 6", got)
	}
	all := outer.Close()
	if got := value(t, all, "test.count"); got != 15 {
		t.Errorf("outer counts %v, want 15", got)
	}
	if m := metric(t, all, "test.duration"); m.Dist.Count() != 3 || m.Dist.Max() != 5e9 {
		t.Errorf("outer has %d values, max %d, want 3, 5e9", m.Dist.Count(), m.Dist.Max())
	}
	inner.Read(&r)
	if got := value(t, &r, "test.count"); got != 6 {
		t.Errorf("a Read after Close counts %v, want the last reading's 6", got)
	}
}

func TestNextTiles(t *testing.T) {
	var c Core
	n, d := c.Counter(testCount), c.Recorder(testDist)
	w := watch(t, &c)
	var r Reading
	var end time.Time
	for i := range int64(5) {
		n.Add(i)
		d.Record(1e6 << i)
		w.Next(&r)
		if got := value(t, &r, "test.count"); got != float64(i) {
			t.Errorf("interval %d counts %v, want %d", i, got, i)
		}
		if m := metric(t, &r, "test.duration"); m.Dist.Count() != 1 || m.Dist.Max() != 1e6<<i {
			t.Errorf("interval %d has %d values, max %d, want 1, %d", i, m.Dist.Count(), m.Dist.Max(), int64(1e6<<i))
		}
		if i > 0 && !r.Start.Equal(end) {
			t.Errorf("interval %d starts at %v, want the end of the last, %v", i, r.Start, end)
		}
		end = r.End
	}
	if got := value(t, w.Close(), "test.count"); got != 0 {
		t.Errorf("after the last interval %v, want 0", got)
	}
	w.Next(&r)
	if len(r.Metrics) != 0 || !r.Start.Equal(r.End) {
		t.Errorf("Next after Close gives %d metrics over %v, want an empty interval", len(r.Metrics), r.Duration())
	}
}

// TestSeriesMadeInWindow: a series that appears while windows are open begins
// at nothing in all of them.
func TestSeriesMadeInWindow(t *testing.T) {
	var c Core
	w := watch(t, &c)
	c.Recorder(testDist, Attr{"k", "late"}).Record(7)
	c.Counter(testCount).Add(3)
	r := w.Close()
	if got := metric(t, r, "test.duration").Dist; got.Count() != 1 || got.Max() != 7 {
		t.Errorf("late series has %d values, max %d, want 1, 7", got.Count(), got.Max())
	}
	if got := value(t, r, "test.count"); got != 3 {
		t.Errorf("late counter = %v, want 3", got)
	}
	if again := c.Recorder(testDist, Attr{"k", "late"}); again != c.Recorder(testDist, Attr{"k", "late"}) {
		t.Error("the same series was made twice")
	}
}

func TestCounterKinds(t *testing.T) {
	var c Core
	level := c.Counter(testLevel)
	level.Add(5)
	kernel := c.Counter(testCount)
	kernel.Set(1_000_000) // a total since boot
	w := watch(t, &c)
	level.Add(-2)
	kernel.Set(1_000_010)
	kernel.Set(1_000_004) // a slower sampler that was overtaken
	r := w.Close()
	if got := value(t, r, "test.level"); got != 3 {
		t.Errorf("up-down counter = %v, want the level 3", got)
	}
	if got := value(t, r, "test.count"); got != 10 {
		t.Errorf("kernel's counter = %v, want 10", got)
	}
}

// TestHookPanics: a hook's panic passes through Close, and leaves the window
// closed.
func TestHookPanics(t *testing.T) {
	broken := false
	stops := 0
	c := Core{Sample: func() {
		if broken {
			panic("hook")
		}
	}, Stop: func() { stops++ }}
	w := watch(t, &c)
	broken = true
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was lost")
			}
		}()
		w.Close()
	}()
	w.Close()
	if stops != 1 || c.Watched() || len(c.parts) != 0 {
		t.Errorf("%d stops, watched %v, %d parts after a hook's panic, want 1, false, 0", stops, c.Watched(), len(c.parts))
	}
}

// TestReadAfterClose runs no hook of a probe that has stopped.
func TestReadAfterClose(t *testing.T) {
	samples := 0
	c := Core{Sample: func() { samples++ }}
	w := watch(t, &c)
	w.Close()
	before := samples
	w.Read(new(Reading))
	w.Next(new(Reading))
	if samples != before {
		t.Errorf("%d samples after Close", samples-before)
	}
}

func TestCounterSetAllocs(t *testing.T) {
	n := new(Counter)
	n.Set(1)
	total := int64(1)
	if got := testing.AllocsPerRun(100, func() { total++; n.Set(total) }); got != 0 {
		t.Errorf("Set allocates %v times", got)
	}
}

func TestLifecycle(t *testing.T) {
	var starts, stops, settles int
	c := Core{
		Start:  func() error { starts++; return nil },
		Stop:   func() { stops++ },
		Settle: func() { settles++ },
	}
	a := watch(t, &c)
	b := watch(t, &c)
	if !c.Watched() {
		t.Error("not watched with two windows open")
	}
	a.Close()
	a.Close()
	if starts != 1 || stops != 0 {
		t.Errorf("%d starts, %d stops with a window open, want 1, 0", starts, stops)
	}
	b.Close()
	if starts != 1 || stops != 1 || c.Watched() {
		t.Errorf("%d starts, %d stops, watched %v after the last Close, want 1, 1, false", starts, stops, c.Watched())
	}
	if settles != 4 {
		t.Errorf("%d settles, want one per Watch and Close", settles)
	}
	watch(t, &c).Close()
	if starts != 2 || stops != 2 {
		t.Errorf("%d starts, %d stops after another window, want 2, 2", starts, stops)
	}
}

func TestStartFails(t *testing.T) {
	bad := errors.New("no such file")
	c := Core{Start: func() error { return bad }, Stop: func() { t.Error("stopped what never started") }}
	if w, err := c.Watch(); w != nil || !errors.Is(err, bad) {
		t.Fatalf("Watch = %v, %v, want the error of Start", w, err)
	}
	bad = nil
	c.Stop = nil
	watch(t, &c)
}

// TestSettleBeforeClose: what was due when Close was called is in its reading.
func TestSettleBeforeClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var due atomic.Bool
		c := Core{}
		rec := c.Recorder(testDist)
		c.Settle = func() {
			if due.Load() {
				time.Sleep(50 * time.Millisecond)
				rec.Record(150e6)
			}
		}
		w, err := c.Watch()
		if err != nil {
			t.Fatal(err)
		}
		due.Store(true)
		if got := metric(t, w.Close(), "test.duration").Dist.Max(); got != 150e6 {
			t.Errorf("max = %d, want the value that settled", got)
		}
	})
}

func TestCloseConcurrently(t *testing.T) {
	var stopped atomic.Bool
	c := Core{Stop: func() { time.Sleep(time.Millisecond); stopped.Store(true) }}
	n := c.Counter(testCount)
	w := watch(t, &c)
	n.Add(7)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			var r Reading
			w.Read(&r)
			w.Next(&Reading{})
		})
	}
	wg.Wait()
	n.Add(1)
	for range 8 {
		wg.Go(func() {
			r := w.Close()
			if !stopped.Load() {
				t.Error("Close returned before the probe had stopped")
			}
			if got := value(t, r, "test.count"); got != 1 {
				t.Errorf("Close = %v, want 1 in every caller", got)
			}
			r.Metrics[0].Value = 99 // the caller's own
		})
	}
	wg.Wait()
}

// TestReadReuses: a Read into a used Reading allocates nothing.
func TestReadReuses(t *testing.T) {
	var c Core
	for i := range 50 {
		r := c.Recorder(testDist, Attr{"i", fmt.Sprint(i)})
		for v := range int64(100) {
			r.Record(v * 1e5)
		}
	}
	w := watch(t, &c)
	c.Recorder(testDist, Attr{"i", "0"}).Record(1)
	var r Reading
	w.Read(&r)
	if got := testing.AllocsPerRun(20, func() { w.Read(&r) }); got > 2 {
		t.Errorf("a Read into a used Reading allocates %v times, want at most 2", got)
	}
}

func TestCarried(t *testing.T) {
	c := Core{Activity: "statement"}
	l := intern("(*Store).Get", "request")
	if s := c.Begin(l); s.Start() != 0 {
		t.Error("Begin entered an operation that nobody watched")
	} else if _, ok := c.End(s); ok {
		t.Error("End counted an operation that nobody watched")
	}
	outer := watch(t, &c)
	s := c.Begin(l)
	inner := watch(t, &c)
	other := c.Begin(l)
	if ns, ok := c.End(s); !ok || ns < 0 {
		t.Errorf("End = %d, %v", ns, ok)
	}
	if r := inner.Close(); r.CarriedIn != 1 || r.CarriedOut != 1 {
		t.Errorf("inner carried %d in and %d out, want 1, 1", r.CarriedIn, r.CarriedOut)
	}
	c.End(other)
	if r := outer.Close(); r.CarriedIn != 0 || r.CarriedOut != 0 {
		t.Errorf("outer carried %d in and %d out, want 0, 0", r.CarriedIn, r.CarriedOut)
	}
}

// TestMaxStraddles: a record whose count is in and whose maximum is not yet.
func TestMaxStraddles(t *testing.T) {
	var c Core
	rec := c.Recorder(testDist)
	w := watch(t, &c)
	rec.Record(1e6)
	for i := range rec.shards { // as if the goroutine had lost its processor
		if s := rec.shards[i].Load(); s != nil {
			s.max.Store(0)
		}
	}
	m := metric(t, w.Close(), "test.duration")
	if low, high := rec.bounds(int(rec.index(1e6))); m.Prov.How != AtMost || m.Dist.Max() != high || low > 1e6 {
		t.Errorf("max = %d, %v, want the bucket's bound %d, labelled", m.Dist.Max(), m.Prov, high)
	}
}

func TestProgrammersMistakes(t *testing.T) {
	for name, f := range map[string]func(c *Core){
		"upper case": func(c *Core) { c.Counter(&Desc{Name: "App.hits", Unit: "1", Help: "x"}) },
		"no unit":    func(c *Core) { c.Counter(&Desc{Name: "app.hits", Help: "x"}) },
		"no help":    func(c *Core) { c.Counter(&Desc{Name: "app.hits", Unit: "1"}) },
		"digits":     func(c *Core) { c.Recorder(&Desc{Name: "app.hits", Unit: "1", Help: "x", Digits: 5}) },
		"wrong kind": func(c *Core) { c.Peak(&Desc{Name: "app.hits", Unit: "1", Help: "x", Kind: KindGauge}) },
		"two kinds": func(c *Core) {
			c.Counter(&Desc{Name: "app.hits", Unit: "1", Help: "x"})
			c.Gauge(&Desc{Name: "app.hits", Unit: "1", Help: "x"})
		},
		"two kinds under two attributes": func(c *Core) {
			c.Counter(&Desc{Name: "app.hits", Unit: "1", Help: "x"}, Attr{"a", "1"})
			c.Recorder(&Desc{Name: "app.hits", Unit: "1", Help: "x"}, Attr{"a", "2"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f(new(Core))
		})
	}
}

func TestDescribe(t *testing.T) {
	declared := &Desc{Name: "test.declared", Unit: "1", Kind: KindGauge, Help: "Up front."}
	c := Core{Descs: []*Desc{declared, testLevel, testCount}}
	c.Counter(testLevel)
	c.Counter(testCount)
	got := c.Describe()
	if len(got) != 3 || got[0] != declared || got[1] != testLevel || got[2].Name != "test.count" || got[2].Kind != KindCounter {
		t.Errorf("Describe = %v", got)
	}
	if testCount.Kind != 0 {
		t.Error("a shared description was changed")
	}
}
