package report

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
)

var (
	hits = &probe.Desc{Name: "hits", Unit: "1", Kind: probe.KindCounter, Help: "x"}
	wait = &probe.Desc{Name: "wait", Unit: "s", Kind: probe.KindDistribution, Help: "x"}
	path = &probe.Desc{Name: "path", Unit: "1", Kind: probe.KindCounter, Detail: true, Help: "x"}
)

// series finds one series of the curve.
func (c *Curve) find(name, stat string) []float64 {
	for _, s := range c.Series {
		if s.Name == name && s.Stat == stat {
			return s.Values
		}
	}
	return nil
}

// Every count is in exactly one slice and in the totals, whoever records while
// slices end.
func TestCurveTiles(t *testing.T) {
	var core probe.Core
	run, err := Start(&core, Options{Name: "x", Interval: time.Millisecond, Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	const each = 50_000
	var wg sync.WaitGroup
	c, d := core.Counter(hits), core.Recorder(wait)
	core.Counter(path).Add(1)
	for range 2 {
		wg.Go(func() {
			for i := range each {
				c.Add(1)
				d.Record(int64(i))
			}
		})
	}
	wg.Wait()
	r := run.Close()
	for m := range r.Reading().Find("hits") {
		if m.Value != 2*each {
			t.Errorf("got a total of %v, want %v", m.Value, 2*each)
		}
	}
	for series, got := range map[string][]float64{
		"hits": r.Curve.find("hits", "value"), "wait": r.Curve.find("wait", "count"),
	} {
		if len(got) != len(r.Curve.At) {
			t.Errorf("%s has %d slices of %d", series, len(got), len(r.Curve.At))
		}
		if total := sum(got); total != 2*each {
			t.Errorf("the slices of %s have %v, want %v", series, total, 2*each)
		}
	}
	if got := r.Curve.find("path", "value"); got != nil {
		t.Errorf("got a curve of detail: %v", got)
	}
	if r.Name != "x" || r.Duration <= 0 || r.Provenance.Go != runtime.Version() {
		t.Errorf("got %q, %v, %q", r.Name, r.Duration, r.Provenance.Go)
	}
}

// sum leaves out what is not there.
func sum(vs []float64) (total float64) {
	for _, v := range vs {
		if v == v {
			total += v
		}
	}
	return total
}

// The slices lie end to end, and the interval doubles after 1,024 and after
// each 512 more.
func TestCurveOfALongRun(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		var core probe.Core
		core.Counter(hits)
		run, err := Start(&core, Options{Root: root})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep((1024+2*512+4*10)*time.Second + time.Second/2)
		c := run.Close().Curve
		if got, want := len(c.At), 1024+512+10+1; got != want {
			t.Fatalf("got %d slices, want %d", got, want)
		}
		for i := 1; i < len(c.At); i++ {
			if c.At[i] != c.At[i-1]+c.For[i-1] {
				t.Fatalf("slice %d begins at %v, the one before ended at %v", i, c.At[i], c.At[i-1]+c.For[i-1])
			}
		}
		for i, want := range map[int]time.Duration{
			0: time.Second, 1023: time.Second, 1024: 2 * time.Second, 1535: 2 * time.Second,
			1536: 4 * time.Second, 1546: time.Second / 2,
		} {
			if c.For[i] != want {
				t.Errorf("slice %d lasts %v, want %v", i, c.For[i], want)
			}
		}
	})
}

// A series that comes late has no numbers before, one that goes has none
// after, and a percentile of too few values is not there.
func TestCurveGaps(t *testing.T) {
	b := newCurveBuilder(time.Second)
	at := time.Unix(0, 0)
	for i, ms := range [][]probe.Metric{
		{{Desc: hits, Value: 1}},
		{},
		{{Desc: hits, Value: 3}, {Desc: descLoad, Value: 2}},
	} {
		r := &probe.Reading{Start: at.Add(time.Duration(i) * time.Second), End: at.Add(time.Duration(i+1) * time.Second), Metrics: ms}
		b.slice(r)
		b.add(r)
	}
	c := b.curve()
	for name, want := range map[string]string{"hits": "[1 NaN 3]", descLoad.Name: "[NaN NaN 2]"} {
		if got := fmt.Sprint(c.find(name, "value")); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	if got, want := fmt.Sprint(c.At), "[0s 1s 2s]"; got != want {
		t.Errorf("got slices at %v, want %v", got, want)
	}
}

// Methods and operations cannot crowd out the lag and the memory.
func TestCurveBoundsItsSeries(t *testing.T) {
	b := newCurveBuilder(time.Second)
	r := new(probe.Reading)
	for metric := range 40 {
		d := &probe.Desc{Name: fmt.Sprint("m", metric), Unit: "1", Kind: probe.KindCounter}
		for i := range 20 {
			r.Metrics = append(r.Metrics, probe.Metric{Desc: d, Attrs: []probe.Attr{{Key: "k", Value: fmt.Sprint(i)}}})
		}
	}
	r.Metrics = append(r.Metrics, probe.Metric{Desc: hits, Value: 5, Attrs: []probe.Attr{{Key: probe.AttrProbeName, Value: "a"}}})
	for range 2 {
		b.slice(r)
		b.add(r)
	}
	c := b.curve()
	labelled := maxLabelled + 40*fewPerMetric
	if want := labelled + 1; len(c.Series) != want || c.Omitted != 40*20-labelled {
		t.Errorf("got %d series and %d omitted, want %d and %d", len(c.Series), c.Omitted, want, 40*20-labelled)
	}
	if got := len(c.find("m39", "value")); got == 0 {
		t.Error("the last metric is crowded out")
	}
	if got := fmt.Sprint(c.find("hits", "value")); got != "[5 5]" {
		t.Errorf("got hits %v, want [5 5]", got)
	}
	if got := c.Series[maxPerMetric-1].Name + c.Series[maxPerMetric].Name; got != "m0m1" {
		t.Errorf("got %q, want %d series of each metric", got, maxPerMetric)
	}
}

func TestCloseTwiceFromTwoGoroutines(t *testing.T) {
	run, err := Start(nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var got [2]*Report
	for i := range got {
		wg.Go(func() { got[i] = run.Close() })
	}
	wg.Wait()
	if got[0] == nil || got[0] != got[1] || run.Close() != got[0] {
		t.Errorf("got %p and %p, want one report", got[0], got[1])
	}
}

// synctest fails the test if a goroutine is left in the bubble.
func TestCloseLeavesNoGoroutine(t *testing.T) {
	root := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		for range 100 {
			run, err := Start(new(probe.Core), Options{Root: root})
			if err != nil {
				t.Fatal(err)
			}
			run.Close()
		}
	})
}

func TestNoCurve(t *testing.T) {
	run, err := Start(new(probe.Core), Options{Interval: -1})
	if err != nil {
		t.Fatal(err)
	}
	if r := run.Close(); r.Curve != nil {
		t.Errorf("got a curve of %d slices, want none", len(r.Curve.At))
	}
}

// failing cannot be watched, from the nth time on.
type failing struct {
	probe.Core
	left int
	err  error
}

func (f *failing) Watch() (*probe.Window, error) {
	if f.left--; f.left < 0 {
		return nil, f.err
	}
	return f.Core.Watch()
}

func TestStartFails(t *testing.T) {
	boom := errors.New("boom")
	for left := range 2 {
		f := &failing{left: left, err: boom}
		if _, err := Start(f, Options{}); !errors.Is(err, boom) {
			t.Errorf("got %v, want boom", err)
		}
		if f.Watched() {
			t.Errorf("after %d windows: one is still open", left)
		}
	}
}

// A machine without the files is not a quiet machine.
func TestHostAbsent(t *testing.T) {
	run, err := Start(nil, Options{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	r := run.Close()
	if diff := cmp.Diff(Host{}, r.Host); diff != "" {
		t.Errorf("host (-want +got):\n%s", diff)
	}
	if len(r.Reading().Metrics) != 0 || len(r.Reading().Absent) != len(hostDescs) {
		t.Errorf("got metrics %v and absent %v, want none and each once", r.Reading().Metrics, r.Reading().Absent)
	}
	for _, a := range r.Reading().Absent {
		if !strings.HasPrefix(a.Name, hostPrefix) || a.Reason == "" {
			t.Errorf("got %+v, want a host metric and a reason", a)
		}
	}
}

func TestConditions(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "runs", "deep"), 0o777); err != nil {
		t.Fatal(err)
	}
	for name, size := range map[string]int{"runs/a": 10, "runs/deep/b": 32, "team.db": 7} {
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, size), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var c Conditions
	for _, err := range []error{
		c.Tree(filepath.Join(dir, "runs")),
		c.File(filepath.Join(dir, "team.db")),
		c.File(filepath.Join(dir, "team.db-wal")), // does not exist
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	want := Conditions{{"runs files", int64(2), "{file}"}, {"runs bytes", int64(42), "By"}, {"team.db", int64(7), "By"}}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
	if err := c.Tree(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "none") {
		t.Errorf("got %v, want an error that names the folder", err)
	}
}
