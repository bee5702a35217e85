package reports

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"

	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/probe/report"
)

var (
	wait = &probe.Desc{Name: "x.lag.duration", Unit: "s", Kind: probe.KindDistribution, Help: "Wait.",
		Bench: []probe.Bench{{Unit: "p99-lag-ns", Stat: "p99", Better: "lower"}}}
	queries = &probe.Desc{Name: "x.queries", Unit: "{query}", Kind: probe.KindCounter, Help: "Queries.",
		Bench: []probe.Bench{{Unit: "queries/op", Stat: "value", PerOp: true, Better: "lower", Exact: true}}}
	sql   = &probe.Desc{Name: "x.sql.duration", Unit: "s", Kind: probe.KindDistribution, Help: "SQL."}
	usage = &probe.Desc{Name: "x.memory.usage", Unit: "By", Kind: probe.KindGauge, Help: "Memory."}
	level = &probe.Desc{Name: "x.level", Unit: "1", Kind: probe.KindGauge, Help: "A level.",
		Bench: []probe.Bench{{Unit: "level", Stat: "value", Better: "lower"}}}
)

// run is a real run of a tenth of a second, with a curve, targets and names that
// would do harm in a page or in a benchmark's line.
func run(t *testing.T, name string, slow int64) *report.Report {
	t.Helper()
	var core probe.Core
	ops := &probe.Ops{}
	r, err := report.Start(probe.NewSet(&core, ops), report.Options{Name: "server", Interval: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	lag, n, mem := core.Recorder(wait), core.Counter(queries), core.Gauge(usage)
	for i := range int64(10) {
		for k := range int64(50) {
			lag.Record((k + 1) * slow * 100_000)
		}
		for m := range int64(15) {
			method := fmt.Sprintf("(*Store[go.shape.string]).AMethodOfAVeryLongName%d<b>&amp;\"'", m)
			core.Recorder(sql, probe.Attr{Key: probe.AttrMethod, Value: method}, probe.Attr{Key: probe.AttrRole, Value: "request"}).Record((m + 1) * slow * 1_000_000)
		}
		n.Add(80)
		mem.Set(float64((i + 1) << 20))
		_, op := ops.Begin(context.Background(), "GET /a b-2")
		op.End(nil)
		<-time.After(10 * time.Millisecond) // for a curve of several slices
	}
	server := r.Close()
	server.Operations = 100
	server.AtMost(report.Row{Label: "queries <b>", Metric: "x.queries"}, 800)
	server.AtMost(report.Row{Label: "no queries", Metric: "x.queries"}, 0)
	server.Unmeasured("everything else", "nobody has looked")
	whole := report.Join(name, server)
	whole.Deviations = []string{"</style><script>document.title = 'hacked'</script>", strings.Repeat("aWordWithoutAnEnd", 40)}
	return whole
}

// TestBenchmarkLines reads what WriteBenchmarks writes with benchstat's reader.
func TestBenchmarkLines(t *testing.T) {
	all := report.Repeat("after", run(t, "", 1), run(t, "", 1))
	var b strings.Builder
	if err := all.WriteBenchmarks(&b); err != nil {
		t.Fatal(err)
	}
	lags, counted, units := 0, 0, 0
	reader := benchfmt.NewReader(strings.NewReader(b.String()), "after")
	for reader.Scan() {
		switch r := reader.Result().(type) {
		case *benchfmt.Result:
			if _, ok := r.Value("p99-lag-sec"); ok {
				lags++
			}
			if v, ok := r.Value("queries/op"); ok && v == 8 && r.Iters == 100 {
				counted++
			}
		case *benchfmt.UnitMetadata:
			units++
		default:
			t.Errorf("%v", r)
		}
	}
	if err := reader.Err(); err != nil {
		t.Error(err)
	}
	if lags != 2 || counted != 2 || units == 0 {
		t.Errorf("got %d lags, %d times 8 queries/op and %d lines on units, want 2, 2 and some:\n%s", lags, counted, units, b.String())
	}
}

// TestRankTest holds the p values to those of benchstat's package.
func TestRankTest(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	thresholds := benchmath.DefaultThresholds
	compared := 0
	for range 200 {
		n := 5 + rng.IntN(8)
		var sides [2][]float64
		var reports [2][]*report.Report
		for i := range 2 * n {
			v := 100 * math.Exp(0.4*rng.NormFloat64()+0.3*float64(i%2))
			r := report.Of(&probe.Reading{Start: time.Unix(int64(i), 0), End: time.Unix(int64(i), 1), Metrics: []probe.Metric{{Desc: level, Value: v}}})
			sides[i%2], reports[i%2] = append(sides[i%2], v), append(reports[i%2], r)
		}
		c := report.Compare(report.Repeat("a", reports[0]...), report.Repeat("b", reports[1]...), report.CompareOptions{}).Changes[0]
		if math.IsNaN(c.P) {
			continue // within the floor
		}
		want := benchmath.AssumeNothing.Compare(benchmath.NewSample(sides[0], &thresholds), benchmath.NewSample(sides[1], &thresholds)).P
		compared++
		if math.Abs(c.P-want) > 1e-9 {
			t.Errorf("%d runs a side: got p = %v, benchstat's package says %v", n, c.P, want)
		}
	}
	if compared < 100 {
		t.Errorf("compared %d p values, want at least 100", compared)
	}
}
