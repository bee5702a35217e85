package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/tidestaff/tidestaff/probe"
)

// estimates is a report of counters and distributions that are estimated for
// some methods and exact for others.
func estimates(t *testing.T) *Report {
	t.Helper()
	var core probe.Core
	w, err := core.Watch()
	if err != nil {
		t.Fatal(err)
	}
	for i, method := range []string{"Get", "List", "Scan"} {
		a, samples := probe.Attr{Key: "method", Value: method}, new(probe.Counter)
		took := core.Counter(&probe.Desc{Name: "took", Unit: "s", Help: "x"}, a)
		each := core.Recorder(&probe.Desc{Name: "each", Unit: "s", Help: "x"}, a)
		took.SampledBy(samples)
		each.SampledBy(samples)
		samples.Add(int64(100 * i)) // none of Get
		took.Add(1e9)
		each.Record(1e9)
	}
	return Of(w.Close())
}

// TestEstimates wants a row to say that it is estimated and from how much, but
// not where only what was counted is shown.
func TestEstimates(t *testing.T) {
	written := new(bytes.Buffer)
	r := estimates(t)
	if err := r.Write(written); err != nil {
		t.Fatal(err)
	}
	again, err := Read(written)
	if err != nil {
		t.Fatal(err)
	}
	of := func(method string) []probe.Attr { return []probe.Attr{{Key: "method", Value: method}} }
	for _, r := range []*Report{r, again} {
		for _, tt := range []struct {
			row  Row
			want string
		}{
			{Row{Metric: "took", Attrs: of("Get")}, ""},
			{Row{Metric: "took", Attrs: of("List")}, "sampled 100×"},
			{Row{Metric: "took"}, "sampled 300×"},
			{Row{Metric: "each", Stat: "sum"}, "sampled 300×"},
			{Row{Metric: "each", Stat: "p50/max", Attrs: of("Scan")}, "sampled 200×"},
			{Row{Metric: "each", Stat: "count"}, ""},
			{Row{Metric: "each", Stat: "rate"}, ""},
		} {
			if got := tt.row.cell(r).how; got != tt.want {
				t.Errorf("%s %s %v: got %q, want %q", tt.row.Metric, tt.row.Stat, tt.row.Attrs, got, tt.want)
			}
		}
		var b strings.Builder
		if err := r.WriteTerminal(&b); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(b.String(), "sampled 200×"); n != 2 {
			t.Errorf("the whole report says of %d series of Scan that they are sampled, want 2:\n%s", n, b.String())
		}
	}
}
