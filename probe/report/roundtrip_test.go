package report

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
)

// sample is a report with every kind of metric, two parts, events, a curve and
// text that needs escaping. It is the same on every machine.
func sample(t testing.TB) *Report {
	t.Helper()
	var core probe.Core
	w, err := core.Watch()
	if err != nil {
		t.Fatal(err)
	}
	lag := core.Recorder(&probe.Desc{Name: "tidestaff.lag.total", Unit: "s", Help: "x",
		Bench: []probe.Bench{{Unit: "p99-lag-ns", Stat: "p99", Better: "lower"}}})
	for i := range 240 {
		lag.Record(int64(i+1) * 1_000_000)
	}
	lag.Record(math.MaxInt64) // clamped
	sql := &probe.Desc{Name: "db.client.operation.duration", Unit: "s", Help: "x", Digits: 3}
	for i, method := range []string{"(*Store).Get", "(*Store).List", "(*Store).Rare"} {
		r := core.Recorder(sql, probe.Attr{Key: "tidestaff.method", Value: method},
			probe.Attr{Key: "tidestaff.goroutine.role", Value: "request"})
		for k := range []int{300, 40, 7}[i] {
			r.Record(int64(k+1) * 100_000)
		}
	}
	core.Recorder(&probe.Desc{Name: "tidestaff.empty", Unit: "By", Help: "x"})
	core.Counter(&probe.Desc{Name: "process.cpu.time", Unit: "s", Help: "x"}).Add(7_650_000_000)
	core.Counter(&probe.Desc{Name: "tidestaff.rows", Unit: "{row}", Help: "x"}).Add(20_000)
	core.Counter(&probe.Desc{Name: "tidestaff.inflight", Unit: "{query}", Kind: probe.KindUpDownCounter, Help: "x"}).Add(3)
	core.Gauge(&probe.Desc{Name: "tidestaff.temperature", Unit: "Cel", Help: "x"}).Set(41.25)
	core.Peak(&probe.Desc{Name: "process.memory.peak", Unit: "By", Help: "x"}).Sample(258 << 20)
	path := &probe.Desc{Name: "tidestaff.file.read", Unit: "By", Detail: true, Help: "x"}
	for i, p := range []string{"a|b<c>.json", "très_long/路径/x.json"} {
		core.Counter(path, probe.Attr{Key: "path", Value: p}).Add(int64(i+1) << 20)
	}
	start := time.Date(2026, 11, 30, 12, 0, 0, 123, time.UTC)
	core.Emit(probe.Event{Name: "tidestaff.stall", Start: start.Add(time.Second), Duration: 150 * time.Millisecond,
		Cause: "gc", Text: "stop the world, 3 goroutines", Attrs: []probe.Attr{{Key: "pause", Value: "1 ms"}}})
	core.Absent("tidestaff.psi", "open /proc/pressure: no such file")
	r := Of(w.Close())
	r.reading.Start, r.reading.End = start, start.Add(38*time.Second)
	r.Started, r.Duration = start, 38*time.Second
	for i := range r.reading.Metrics {
		if m := &r.reading.Metrics[i]; m.Kind == probe.KindPeak { // as if the kernel had been reset in time
			m.Prov = probe.Provenance{How: probe.Exact, Method: "VmHWM reset"}
		}
	}
	for i := range r.reading.Events {
		r.reading.Events[i].Start = start.Add(time.Second)
	}
	r.Name = "after"
	dirty := true
	r.Provenance = Provenance{Commit: "0123456789abcdef", Dirty: &dirty, Module: "example.com/team", Go: "go1.26.8",
		GOOS: "linux", GOARCH: "amd64", GOMAXPROCS: 2, GOGC: "100", NumCPU: 2, CPUModel: "AMD EPYC",
		Kernel: "6.18.1", Cgroup: &Cgroup{Version: 2, CPUs: 1.5, Memory: 512 << 20}}
	others, steal := 0.35, 0.0
	r.Host = Host{Load1: &Range{1.04, 2.5, 4.2}, OthersCPU: &others, Steal: &steal,
		Throttled: &Throttled{Periods: 12, Time: 340 * time.Millisecond}, Samples: 38}
	r.Conditions.Add("sandboxes", 20_000, "{row}")
	r.Conditions.Add("team.db", 12<<20, "By")
	r.Conditions.Add("seed", math.MaxInt64, "")
	r.Conditions.Set("-profile", "quick")
	r.Deviations = []string{"tokens are reduced to 200"}
	r.Curve = &Curve{At: []time.Duration{0, time.Second}, For: []time.Duration{time.Second, 900 * time.Millisecond},
		Series: []Series{{Name: "tidestaff.lag.total", Unit: "s", Stat: "p95", Values: []float64{0.25, math.NaN()}}}}
	return r
}

// equal compares what a file can hold: a description's help and bounds stay in
// the program.
var equal = cmp.Options{
	cmp.AllowUnexported(Report{}),
	cmp.Comparer(func(a, b *probe.Desc) bool {
		return a.Name == b.Name && a.Unit == b.Unit && a.Kind == b.Kind && a.Detail == b.Detail && cmp.Equal(a.Bench, b.Bench)
	}),
	cmp.Comparer(func(a, b float64) bool {
		return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) < 1e-9*math.Abs(a)
	}),
	cmp.Comparer(func(a, b *probe.Dist) bool {
		if a == nil || b == nil {
			return a == b
		}
		return a.Count() == b.Count() && a.Sum() == b.Sum() && a.Max() == b.Max() && a.Quantile(.95) == b.Quantile(.95)
	}),
	cmp.Transformer("sorted", func(as []probe.Attr) attrs { return attrsOf(as) }),
}

func TestRoundTrip(t *testing.T) {
	want := Join("team", sample(t))
	var b bytes.Buffer
	if err := want.Write(&b); err != nil {
		t.Fatal(err)
	}
	first := b.String()
	got, err := Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, equal); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
	b.Reset()
	if err := got.Write(&b); err != nil {
		t.Fatal(err)
	}
	if b.String() != first {
		t.Errorf("written again:\n got %s\nwant %s", b.String(), first)
	}
}

// Every quantile of a report on disk is that of the window.
func TestRoundTripDistributions(t *testing.T) {
	want := sample(t)
	var b bytes.Buffer
	if err := want.Write(&b); err != nil {
		t.Fatal(err)
	}
	got, err := Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for i, m := range want.Reading().Metrics {
		if m.Dist == nil {
			continue
		}
		compared++
		if o := got.Reading().Metrics[i].Dist; m.Dist.Count() > 0 && !m.Dist.Equal(o) {
			t.Errorf("%s %v: distribution differs", m.Name, m.Attrs)
		}
	}
	if compared < 4 {
		t.Errorf("compared %d distributions, want at least 4", compared)
	}
}

func TestNaNIsNeverWritten(t *testing.T) {
	r := Of(&probe.Reading{Metrics: []probe.Metric{
		{Desc: &probe.Desc{Name: "a", Unit: "s", Kind: probe.KindGauge}, Value: math.NaN()},
		{Desc: &probe.Desc{Name: "b", Unit: "1", Kind: probe.KindGauge}, Value: math.Inf(1)},
		{Desc: &probe.Desc{Name: "c", Unit: "1", Kind: probe.KindGauge}},
	}})
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	got, err := Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	var vs []float64
	for _, m := range got.Reading().Metrics {
		vs = append(vs, m.Value)
	}
	if !math.IsNaN(vs[0]) || !math.IsNaN(vs[1]) || vs[2] != 0 {
		t.Errorf("got %v, want absent, absent, 0", vs)
	}
}

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "r.json")
	r := sample(t)
	for range 2 { // a new file, then over an old one
		if err := r.WriteFile(path); err != nil {
			t.Fatal(err)
		}
	}
	got, err := ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got.Name != r.Name {
		t.Errorf("got name %q, want %q", got.Name, r.Name)
	}
	names, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(names) != 1 {
		t.Errorf("got files %v, want r.json alone", names)
	}
	if err := r.WriteFile(filepath.Join(dir, "absent", "r.json")); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "absent") {
		t.Errorf("got %v, want an error that names the path", err)
	}
}

func TestWriteRefusesUnnamedParts(t *testing.T) {
	a, b := &Report{Name: "x"}, &Report{Name: "x"}
	for _, parts := range [][]*Report{{a, b}, {{}}} {
		err := (&Report{Parts: parts}).Write(new(bytes.Buffer))
		if err == nil || !strings.Contains(err.Error(), "parts[") {
			t.Errorf("got %v, want an error that names the part", err)
		}
	}
}
