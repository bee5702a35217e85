package report

import (
	"bytes"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
)

// repeats is two variants of five and two runs, one of which does not count, with
// targets.
func repeats(t *testing.T) (before, after *Report) {
	t.Helper()
	run := func(r *Report, i int, factor float64) *Report {
		rd := &r.reading
		rd.Start = r.Started.Add(time.Duration(i) * time.Minute)
		rd.End = rd.Start.Add(r.Duration)
		r.Started = rd.Start
		for k := range r.reading.Metrics {
			if m := &r.reading.Metrics[k]; m.Dist == nil && m.Kind == probe.KindCounter {
				m.Value *= factor
			}
		}
		r.AtMost(Row{Label: "rows", Metric: "tidestaff.rows"}, 20_500)
		r.AtMost(Row{Label: "lag p95", Metric: "tidestaff.lag.total", Stat: "p95"}, 0.250)
		return Join("run", r)
	}
	var bs, as []*Report
	for i, f := range []float64{1, 1.1, 0.9, 1.05, 1} {
		bs = append(bs, run(slower(t), 4*i, f))
	}
	for i, f := range []float64{1, 1.1, 1.02} {
		as = append(as, run(sample(t), 4*i+1+i%2, f))
	}
	as[1].Excluded = "a backup was running"
	return Repeat("before", bs...), Repeat("after", as...)
}

func TestRepeatsGolden(t *testing.T) {
	before, after := repeats(t)
	golden(t, "repeats.txt", after.WriteTerminal)
	golden(t, "repeats.md", after.WriteMarkdown)
	table := Table{Title: "Repeats", Columns: []Column{{Report: before}, {Report: after}}, Ratio: true, Rows: []Row{
		{Label: "Lag", Part: "after", Metric: "tidestaff.lag.total", Stat: "p50/p95"},
		{Label: "Rows", Part: "before", Metric: "tidestaff.rows"},
		{Label: "Rows", Part: "after", Metric: "tidestaff.rows"},
		{Label: "Wall time", Value: func(r *Report) (float64, string, bool) { return r.Duration.Seconds(), "s", true }},
	}}
	golden(t, "repeats_table.txt", table.WriteTerminal)
	golden(t, "repeats_table.md", table.WriteMarkdown)
}

func TestCompareGolden(t *testing.T) {
	before, after := repeats(t)
	for _, r := range before.Runs {
		r.Parts[0].Name = "after" // the part, not the variant
		r.Parts[0].Conditions = nil
	}
	c := Compare(before, after, CompareOptions{Better: map[string]string{"tidestaff.rows": "lower", "process.memory.peak": "lower",
		"db.client.operation.duration": "lower"}, Metrics: []string{"tidestaff.inflight"}})
	golden(t, "compare.txt", c.WriteTerminal)
	golden(t, "compare.md", c.WriteMarkdown)
}

func TestBenchGolden(t *testing.T) {
	_, after := repeats(t)
	for _, r := range after.Runs {
		part := r.Parts[0]
		part.Operations = 50
		part.reading.Metrics = append(part.reading.Metrics, probe.Metric{Desc: exactDesc, Value: 400,
			Attrs: []probe.Attr{{Key: "tidestaff.operation.name", Value: "GET /a b-2"}}})
	}
	golden(t, "bench.txt", after.WriteBenchmarks)
}

func TestFormatRuns(t *testing.T) {
	nan := math.NaN()
	for _, tt := range []struct {
		runs       [][]float64
		unit, want string
		text       string
	}{
		{[][]float64{{0.069, 0.881}, {0.067, 0.859}}, "s", "", "69 / 881, 67 / 859 ms"},
		{[][]float64{{0.069, 0.881}}, "s", "", "69 / 881 ms"},
		{[][]float64{{8}, {8}, {9}}, "{query}", "", "8, 8, 9"},
		{[][]float64{{1}, {4}, {2}, {3}}, "{query}", "", "1–2.5–4"},
		{[][]float64{{0.067, 0.859}, {0.070, 0.881}, {0.068, 0.870}, {0.069, 0.869}, {0.069, 0.871}}, "s", "", "67–69–70 / 859–870–881 ms"},
		{[][]float64{{1e-6}, {1}}, "s", "", "1.0 µs, 1.0 s"},
		{[][]float64{{1e-6}, {1}, {2}, {nan}}, "s", "", "1.0 µs–1.0 s–2.0 s"},
		{[][]float64{{nan}, {0.5}}, "s", "", "–, 500 ms"},
		{[][]float64{{nan, 1}, {nan, 2}, {nan, 3}, {nan, 4}}, "s", "s", "– / 1.0–2.5–4.0 s"},
		{[][]float64{{nan}, {nan}}, "s", "", "–, –"},
		{[][]float64{{1 << 20}, {2 << 20}}, "By", "MiB", "1.0, 2.0 MiB"},
		{nil, "s", "", "–"},
	} {
		if got := formatRuns(tt.runs, tt.unit, tt.want); got != tt.text {
			t.Errorf("formatRuns(%v, %q, %q) = %q, want %q", tt.runs, tt.unit, tt.want, got, tt.text)
		}
	}
}

// Repeats come back from a file, with their targets and exclusions.
func TestRepeatsRoundTrip(t *testing.T) {
	before, after := repeats(t)
	want := Join("both", before, after)
	want.Unmeasured("100,000 repositories", "there is no object store")
	var b bytes.Buffer
	if err := want.Write(&b); err != nil {
		t.Fatal(err)
	}
	got, err := Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, equal); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
	var old, again strings.Builder
	if err := want.WriteTerminal(&old); err != nil {
		t.Fatal(err)
	}
	if err := got.WriteTerminal(&again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(old.String(), again.String()); diff != "" {
		t.Errorf("shown (-before +after):\n%s", diff)
	}
}

// Parts of repeats are repeats, and runs of runs are runs.
func TestRepeatParts(t *testing.T) {
	_, after := repeats(t)
	part := after.Part("after")
	if part == nil || len(part.Runs) != 3 || part.Runs[1].Excluded != "a backup was running" || len(part.counted()) != 2 {
		t.Errorf("got %+v, want three runs, the second of which does not count", part)
	}
	if after.Runs[1].Parts[0].Excluded != "" {
		t.Error("asking for a part has changed it")
	}
	if p := after.Part("none"); p != nil {
		t.Errorf("got %v of a part that is not there, want nil", p)
	}
	if got := len(Repeat("all", after, sample(t)).Runs); got != 4 {
		t.Errorf("got %d runs, want 4", got)
	}
	if r := Repeat("none"); r.WriteTerminal(io.Discard) != nil || r.WriteBenchmarks(io.Discard) != nil || len(r.counted()) != 1 {
		t.Error("repeats without a run cannot be shown")
	}
}

// Runs of two versions of a program, of which one metric has changed its kind and
// another its unit, are shown and compared without either being taken for the other.
func TestRepeatsOfTwoVersions(t *testing.T) {
	old, changed := drawn(t), drawn(t)
	for i := range changed.reading.Metrics {
		m := &changed.reading.Metrics[i]
		switch m.Name {
		case "tidestaff.lag.total":
			*m = probe.Metric{Desc: &probe.Desc{Name: m.Name, Unit: "s", Kind: probe.KindCounter}, Attrs: m.Attrs, Value: 7}
		case "tidestaff.rows":
			*m = probe.Metric{Desc: &probe.Desc{Name: m.Name, Unit: "By", Kind: probe.KindCounter}, Value: 7}
		}
	}
	changed.Curve.Series[0].Values = changed.Curve.Series[0].Values[:3]
	both := Repeat("both", old, changed)
	table := Table{Ratio: true, Columns: []Column{{Report: both}, {Report: changed}, {Report: Repeat("x", changed, old, old, old)}}, Rows: []Row{
		{Label: "lag", Metric: "tidestaff.lag.total"}, {Label: "rows", Metric: "tidestaff.rows"}}}
	for _, write := range []func(io.Writer) error{both.WriteTerminal, both.WriteMarkdown, both.WriteHTML, both.WriteBenchmarks, table.WriteTerminal, table.WriteMarkdown} {
		var b strings.Builder
		if err := write(&b); err != nil || strings.Contains(b.String(), "NaN") {
			t.Errorf("%v\n%s", err, b.String())
		}
	}
	if got := (&Row{Metric: "tidestaff.rows"}).cells(both).text(""); got != "20,000, –" {
		t.Errorf("got %q, want a dash where the rows are bytes", got)
	}
	for _, c := range Compare(old, changed, CompareOptions{Metrics: []string{"tidestaff.lag.total", "tidestaff.rows"}}).Changes {
		if c.Verdict != NotComparable {
			t.Errorf("%s %s: got %q, want not comparable", c.Metric, c.Unit, c.Verdict)
		}
	}
}
