package report

import (
	"strings"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// roles is a report with one series for each role, of every kind that adds up
// in its own way.
func roles(t *testing.T) *Report {
	t.Helper()
	var core probe.Core
	w, err := core.Watch()
	if err != nil {
		t.Fatal(err)
	}
	for i, role := range []string{"request", "background:turns", "background:retention"} {
		a := probe.Attr{Key: "role", Value: role}
		r := core.Recorder(&probe.Desc{Name: "sql", Unit: "s", Help: "x"}, a)
		for range i + 1 {
			r.Record(int64(time.Second) << i)
		}
		core.Counter(&probe.Desc{Name: "rows", Unit: "{row}", Help: "x"}, a).Add(int64(10 * (i + 1)))
		core.Gauge(&probe.Desc{Name: "level", Unit: "1", Help: "x"}, a).Set(float64(i))
		core.Peak(&probe.Desc{Name: "peak", Unit: "By", Help: "x"}, a).Sample(int64(i + 1))
	}
	r := Of(w.Close())
	r.Duration = 10 * time.Second
	return r
}

func background(m *probe.Metric) bool { return strings.HasPrefix(m.Attr("role"), "background:") }

func TestRowSelects(t *testing.T) {
	r := roles(t)
	request := []probe.Attr{{Key: "role", Value: "request"}}
	for _, tt := range []struct {
		row  Row
		want string
	}{
		{Row{Metric: "sql", Stat: "sum"}, "17 s"},
		{Row{Metric: "sql", Stat: "sum", Attrs: request}, "1.0 s"},
		{Row{Metric: "sql", Stat: "sum", Match: background}, "16 s"},
		{Row{Metric: "sql", Stat: "count", Match: background}, "5"},
		{Row{Metric: "sql", Stat: "max"}, "4.0 s"},
		{Row{Metric: "sql", Stat: "mean"}, "2.8 s"},
		{Row{Metric: "sql", Stat: "rate"}, "0.60/s"},
		{Row{Metric: "sql", Stat: "p77"}, "–"},
		{Row{Metric: "sql", Stat: "count", Attrs: request, Match: background}, "–"},
		{Row{Metric: "rows"}, "60"},
		{Row{Metric: "rows", Stat: "sum", Match: background}, "50"},
		{Row{Metric: "rows", Stat: "rate"}, "6/s"},
		{Row{Metric: "rows", Stat: "p50"}, "–"},
		{Row{Metric: "level"}, "2"},
		{Row{Metric: "peak"}, "3 B"},
		{Row{Metric: "none"}, "–"},
		{Row{}, "–"},
	} {
		if got := tt.row.cell(r).text(""); got != tt.want {
			t.Errorf("%s %s %v: got %q, want %q", tt.row.Metric, tt.row.Stat, tt.row.Attrs, got, tt.want)
		}
	}
}

// Two precisions of one name cannot be one distribution.
func TestRowOfTwoPrecisions(t *testing.T) {
	all := new(probe.Reading)
	for _, digits := range []int{2, 3} {
		var core probe.Core
		w, err := core.Watch()
		if err != nil {
			t.Fatal(err)
		}
		core.Recorder(&probe.Desc{Name: "x", Unit: "s", Help: "x", Digits: digits}).Record(1)
		all.Metrics = append(all.Metrics, w.Close().Metrics...)
	}
	row := Row{Metric: "x"}
	if got := row.cell(Of(all)).text(""); got != dash {
		t.Errorf("got %q, want a dash", got)
	}
}

func TestPivotMatch(t *testing.T) {
	p := Pivot{By: []string{"role"}, Columns: []PivotColumn{{Title: "SQL", Metric: "sql", Stat: "sum", Match: background}}, Top: -1}
	var b strings.Builder
	if err := p.WriteMarkdown(&b, roles(t)); err != nil {
		t.Fatal(err)
	}
	want := "| role | SQL |\n| :-- | --: |\n| background:retention | 12 s |\n| background:turns | 4.0 s |\n"
	if b.String() != want {
		t.Errorf("got:\n%swant:\n%s", b.String(), want)
	}
}

// A pivot of peaks says how each of them was obtained: one that is a lower bound
// must not look like one that is exact.
func TestPivotHow(t *testing.T) {
	var core probe.Core
	d := &probe.Desc{Name: "peak", Unit: "By", Help: "x"}
	w, err := core.Watch()
	if err != nil {
		t.Fatal(err)
	}
	core.Peak(d, probe.Attr{Key: "name", Value: "git gc"}).Measured(3<<20, probe.Provenance{Method: "memory.peak"})
	core.Peak(d, probe.Attr{Key: "name", Value: "git upload-pack"}).Measured(2<<20,
		probe.Provenance{How: probe.Sampled, Method: "polled", Samples: 12, MaxGap: 11 * time.Millisecond})
	p := Pivot{By: []string{"name"}, Columns: []PivotColumn{{Title: "peak", Metric: "peak"}}}
	var b strings.Builder
	if err := p.WriteMarkdown(&b, Of(w.Close())); err != nil {
		t.Fatal(err)
	}
	want := "| name | peak | how |\n| :-- | --: | :-- |\n| git gc | 3.0 MiB | exact, memory.peak |\n" +
		"| git upload-pack | 2.0 MiB | sampled 12× ≤ 11 ms apart, polled |\n"
	if b.String() != want {
		t.Errorf("got:\n%swant:\n%s", b.String(), want)
	}
}
