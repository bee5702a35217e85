package report

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares what write writes with a file in testdata.
func golden(t *testing.T, name string, write func(io.Writer) error) {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run the test with -update to make it)", err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

func TestReportGolden(t *testing.T) {
	r := Join("team", sample(t))
	golden(t, "report.txt", r.WriteTerminal)
	golden(t, "report.md", r.WriteMarkdown)
}

// slower is sample as a worse variant on a busier machine.
func slower(t *testing.T) *Report {
	r := sample(t)
	r.Name = "before"
	r.Host.Load1 = &Range{2, 2, 2}
	r.Conditions[3].Value = "full"
	r.Deviations = nil
	var core probe.Core
	w, err := core.Watch()
	if err != nil {
		t.Fatal(err)
	}
	lag := core.Recorder(&probe.Desc{Name: "tidestaff.lag.total", Unit: "s", Help: "x"})
	for i := range 700 {
		lag.Record(int64(i+1) * 12_000_000)
	}
	create := core.Recorder(&probe.Desc{Name: "create", Unit: "s", Help: "x"})
	for i := range 12 {
		create.Record(int64(i+1) * 1_700_000_000)
	}
	core.Counter(&probe.Desc{Name: "process.cpu.time", Unit: "s", Help: "x"}).Add(330_000_000_000)
	core.Peak(&probe.Desc{Name: "process.memory.peak", Unit: "By", Help: "x"}).Sample(1031 << 20)
	core.Counter(&probe.Desc{Name: "tidestaff.rows", Unit: "{row}", Help: "x"}).Add(2_820_000)
	rd := w.Close()
	for i := range rd.Metrics {
		rd.Metrics[i].Prov.MaxGap = 0 // the machine's, not the test's
	}
	r.reading.Metrics = rd.Metrics
	r.Duration = 354 * time.Second
	return r
}

func comparison(t *testing.T) *Table {
	wall := func(r *Report) (float64, string, bool) { return r.Duration.Seconds(), "s", true }
	never := func(*Report) (float64, string, bool) { return 0, "", false }
	return &Table{
		Title:   "6 × 10 sessions, 20k records of history",
		Columns: []Column{{Report: slower(t)}, {Report: sample(t)}, {Title: "after, busy host"}},
		Rows: []Row{
			{Label: "Lag", Metric: "tidestaff.lag.total", Stat: "p50/p95/max"},
			{Label: "Lag", Metric: "tidestaff.lag.total", Stat: "p50/p95", Unit: "ms"},
			{Label: "Create a sandbox", Metric: "create", Stat: "p50/p95"},
			{Label: "Create a sandbox", Metric: "create", Stat: "p95/max"},
			{Label: "Create a sandbox", Metric: "create", Stat: "p99"},
			{Label: "Created", Metric: "create", Stat: "rate"},
			{Label: "SQL", Metric: "db.client.operation.duration", Stat: "sum", How: "busy, not held"},
			{Label: "SQL of Rare", Metric: "db.client.operation.duration", Stat: "p50",
				Attrs: []probe.Attr{{Key: "tidestaff.method", Value: "(*Store).Rare"}}},
			{Label: "Server CPU", Metric: "process.cpu.time"},
			{Label: "Peak RSS", Metric: "process.memory.peak", Unit: "MiB"},
			{Label: "Rows stepped", Metric: "tidestaff.rows"},
			{Label: "Rows stepped", Metric: "tidestaff.rows", Stat: "rate"},
			{Label: "Wall time", Value: wall},
			{Label: "Of another part", Part: "load", Metric: "tidestaff.rows"},
			{Label: "Never", Value: never},
		},
		Ratio: true,
	}
}

func TestTableGolden(t *testing.T) {
	table := comparison(t)
	golden(t, "table.txt", table.WriteTerminal)
	golden(t, "table.md", table.WriteMarkdown)
}

func methods() *Pivot {
	const sql = "db.client.operation.duration"
	return &Pivot{
		Title: "Store methods by SQL time",
		By:    []string{"tidestaff.method", "tidestaff.goroutine.role"},
		Columns: []PivotColumn{
			{Title: "n", Metric: sql, Stat: "count"},
			{Title: "p50 / p95", Metric: sql, Stat: "p50/p95", Unit: "ms"},
			{Title: "total", Metric: sql, Stat: "sum"},
			{Title: "rows", Metric: "absent.rows"},
		},
		Sort: 2,
		Top:  2,
	}
}

func TestPivotGolden(t *testing.T) {
	r := sample(t)
	golden(t, "pivot.txt", func(w io.Writer) error { return methods().WriteTerminal(w, r) })
	golden(t, "pivot.md", func(w io.Writer) error { return methods().WriteMarkdown(w, r) })
}

// The rows of a pivot in a table: each method's percentiles before and after.
func TestPivotRows(t *testing.T) {
	before, after := sample(t), sample(t)
	rows := methods().Rows(before, after, nil)
	var labels []string
	for _, row := range rows {
		labels = append(labels, row.Label)
		if c := row.cell(after); c == nil || c.vals[0] == 0 {
			t.Errorf("%s: no cell", row.Label)
		}
	}
	if diff := cmp.Diff([]string{"(*Store).Get request", "(*Store).List request"}, labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
}
