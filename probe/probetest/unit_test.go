package probetest

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
)

func TestWriteUnits(t *testing.T) {
	var b strings.Builder
	if err := WriteUnits(&b, newLedger(testQueries, testLag, testOps, testCPU), new(probe.Ops)); err != nil {
		t.Fatal(err)
	}
	want := `Unit alloc-bytes/item better=lower
Unit cpu-ns/op better=lower
Unit fs-ops/op better=lower assume=exact
Unit fs-read-bytes/op better=lower assume=exact
Unit fs-reads/op better=lower assume=exact
Unit gomaxprocs better=higher assume=exact
Unit heap-bytes/item better=lower
Unit max-lag-ns better=lower
Unit max-latency-ns better=lower
Unit p50-lag-ns better=lower
Unit p50-latency-ns better=lower
Unit p95-lag-ns better=lower
Unit p95-latency-ns better=lower
Unit p99-lag-ns better=lower
Unit p99-latency-ns better=lower
Unit queries/op better=lower assume=exact
Unit rows/op better=lower assume=exact
Unit sql-ns/op better=lower
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestOwnDescriptions holds this package to what it asks of others.
func TestOwnDescriptions(t *testing.T) {
	s := &subject{new: func() target { return real{newMeter(true, true)} }}
	if err := checkDescriptions(s); err != nil {
		t.Error(err)
	}
}

// reading is what a probe of these series has counted.
func reading(t *testing.T, fill func(*ledger), descs ...*probe.Desc) *probe.Reading {
	t.Helper()
	l := newLedger(descs...)
	w, err := l.Watch()
	if err != nil {
		t.Fatal(err)
	}
	fill(l)
	return w.Close()
}

func TestFigures(t *testing.T) {
	attr := func(k, v string) probe.Attr { return probe.Attr{Key: k, Value: v} }
	lag := func(n int) func(*ledger) {
		return func(l *ledger) {
			for i := range n {
				l.Recorder(testLag, attr("tidestaff.lag.component", "timer")).Record(int64(i+1) * 1e6)
				l.Recorder(testLag, attr("tidestaff.lag.component", "total")).Record(int64(i+1) * 2e6)
				l.Recorder(testLag, attr("tidestaff.lag.component", "total"), attr("tidestaff.lag.captured", "true")).Record(1e12)
			}
		}
	}
	files := func(l *ledger) {
		l.Counter(testOps, attr("tidestaff.file.operation", "open")).Add(10)
		l.Counter(testOps, attr("tidestaff.file.operation", "read"), attr(probe.AttrRole, "request")).Add(20)
		l.Counter(testOps, attr("tidestaff.file.operation", "read"), attr(probe.AttrRole, "test")).Add(30)
		l.Counter(testBytes, attr("disk.io.direction", "read")).Add(1 << 10)
		l.Counter(testBytes, attr("disk.io.direction", "write")).Add(1 << 20)
	}
	for _, tt := range []struct {
		name string
		unit string
		n    int
		fill func(*ledger)
		desc []*probe.Desc
		want float64
		err  string
	}{
		{"count per operation", "queries/op", 10, func(l *ledger) { l.query(30) }, []*probe.Desc{testQueries, testTime}, 3, ""},
		{"seconds become nanoseconds", "sql-ns/op", 10, func(l *ledger) { l.query(30) }, []*probe.Desc{testQueries, testTime}, 3000, ""},
		{"no operation", "queries/op", 0, func(l *ledger) { l.query(30) }, []*probe.Desc{testQueries}, 0, "no operation was completed"},
		{"modes add up", "cpu-ns/op", 4, func(l *ledger) {
			l.Counter(testCPU, attr("cpu.mode", "user")).Add(300)
			l.Counter(testCPU, attr("cpu.mode", "system")).Add(100)
		}, []*probe.Desc{testCPU}, 100, ""},
		{"only the whole lag", "p50-lag-ns", 1, lag(101), []*probe.Desc{testLag}, 102e6, ""},
		{"captures are apart", "max-lag-ns", 1, lag(101), []*probe.Desc{testLag}, 202e6, ""},
		{"too few for p99", "p99-lag-ns", 1, lag(99), []*probe.Desc{testLag}, 0, "99 values, and a p99 needs 100"},
		{"too few for p95", "p95-lag-ns", 1, lag(19), []*probe.Desc{testLag}, 0, "19 values, and a p95 needs 20"},
		{"an empty maximum", "max-lag-ns", 1, lag(0), []*probe.Desc{testLag}, 0, "nothing went through"},
		{"part of a count", "fs-reads/op", 10, files, []*probe.Desc{testOps, testBytes}, 5, ""},
		{"all of a count", "fs-ops/op", 10, files, []*probe.Desc{testOps, testBytes}, 6, ""},
		{"part of a sum", "fs-read-bytes/op", 2, files, []*probe.Desc{testOps, testBytes}, 512, ""},
		{"zero of a probe at work", "fs-reads/op", 2, func(l *ledger) {
			l.Counter(testOps, attr("tidestaff.file.operation", "open")).Add(1)
		}, []*probe.Desc{testOps}, 0, ""},
		{"nothing of a probe", "fs-reads/op", 2, func(*ledger) {}, []*probe.Desc{testOps}, 0, "nothing went through the probe"},
		{"absent has its reason", "queries/op", 2, func(l *ledger) { l.Absent("tidestaff.db", "no driver") }, []*probe.Desc{testQueries}, 0, "no driver"},
		{"highest peak", "peak-RSS-bytes", 1, func(l *ledger) {
			l.Peak(testPeak, attr("a", "1")).Sample(10)
			l.Peak(testPeak, attr("a", "2")).Sample(20)
		}, []*probe.Desc{testPeak}, 20, ""},
		{"peak without a value", "peak-RSS-bytes", 1, func(*ledger) {}, []*probe.Desc{testPeak}, 0, "nothing was measured"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := reading(t, tt.fill, tt.desc...)
			u, err := find(unitsOf(tt.desc), tt.unit)
			if err != nil {
				t.Fatal(err)
			}
			f, err := u.of(r, tt.n)
			wantError(t, err, tt.err)
			if err == nil && math.Abs(f.value-tt.want) > tt.want/100 {
				t.Errorf("got %v, want %v", f.value, tt.want)
			}
		})
	}
}

// TestNoNonsense: what is not a number above or at zero is never one.
func TestNoNonsense(t *testing.T) {
	gauge := &probe.Desc{Name: "a.level", Unit: "1", Kind: probe.KindGauge, Help: "h",
		Bench: []probe.Bench{{Unit: "level", Stat: "value", Better: "lower"}}}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1} {
		r := &probe.Reading{Metrics: []probe.Metric{{Desc: gauge, Value: v}}}
		if f, err := unitsOf([]*probe.Desc{gauge})[0].of(r, 1); err == nil {
			t.Errorf("%v: got the figure %v, want an error", v, f.value)
		}
	}
}

// TestOneSource: a unit that several metrics have is that of the benchmark's own
// iterations, and the other one's where that has no data.
func TestOneSource(t *testing.T) {
	ops := new(probe.Ops)
	units := unitsOf(probe.NewSet(ops, newLedger(testQueries)).Describe())
	u, err := find(units, "queries/op")
	if err != nil || len(u.sources) != 2 || u.sources[0].desc != testQueries {
		t.Fatalf("got %+v, %v, want two sources, the ledger's first", u, err)
	}
	w, err := ops.Watch()
	if err != nil {
		t.Fatal(err)
	}
	_, op := ops.Begin(t.Context(), "list")
	op.AddQueries(7, 100, 1)
	op.End(nil)
	if f, err := u.of(w.Close(), 10); err != nil || f.value != 7 {
		t.Errorf("got %v, %v, want the operations' mean of 7", f.value, err)
	}
}
