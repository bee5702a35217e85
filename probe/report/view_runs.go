package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// viewRuns are the tables of repeats: the runs, then every series that is not
// detail with its statistics in each run. Events and details belong to one run
// and are shown with that.
func (r *Report) viewRuns() []*grid {
	gs := []*grid{r.runGrid()}
	runs := r.counted()
	byPart := map[string][]*track{}
	var parts []string
	for _, t := range align(runs) {
		if t.desc.Detail || strings.HasPrefix(t.desc.Name, hostPrefix) {
			continue
		}
		parts = appendPath(parts, t.part)
		byPart[t.part] = append(byPart[t.part], t)
	}
	for _, part := range parts {
		dists, values := trackGrids(byPart[part])
		for _, g := range []*grid{dists, values} {
			if len(g.rows) > 0 {
				g.title = strings.TrimPrefix(part+": "+g.title, ": ")
				g.dropEmpty()
				gs = append(gs, g)
			}
		}
	}
	return gs
}

// runGrid is a line for each run. One that does not count stays, with the reason.
func (r *Report) runGrid() *grid {
	g := &grid{title: "Runs", head: []string{"run", "", "from", "for", "host", "does not count"},
		left: []bool{false, true, true, false, true, true}, clip: 2 * maxText}
	for i, run := range r.leaves() {
		g.rows = append(g.rows, []string{fmt.Sprint(i + 1), run.Name, run.Started.UTC().Format(time.DateTime),
			formatValue(run.Duration.Seconds(), "s", ""), run.Host.text(), run.Excluded})
	}
	g.dropEmpty()
	return g
}

// trackGrids are the two main tables of a part.
func trackGrids(tracks []*track) (dists, values *grid) {
	dists = &grid{title: "Distributions", head: []string{"", "n", "p50", "p95", "p99", "max", "sum", "how"},
		left: []bool{true, false, false, false, false, false, false, true}}
	values = &grid{title: "Values", head: []string{"", "value", "how"}, left: []bool{true, false, true}}
	for _, t := range tracks {
		label := strings.TrimSpace(t.desc.Name + " " + attrsText(t.attrs))
		if t.desc.Kind == probe.KindDistribution {
			if t.empty() {
				continue
			}
			row := []string{label}
			for _, stat := range []string{"count", "p50", "p95", "p99", "max", "sum"} {
				vals, unit := t.cells(stat).values()
				row = append(row, formatRuns(vals, unit, ""))
			}
			dists.rows = append(dists.rows, append(row, t.how()))
			continue
		}
		vals, unit := t.cells("value").values()
		if slices.ContainsFunc(vals, func(v []float64) bool { return v[0] != 0 }) {
			values.rows = append(values.rows, []string{label, formatRuns(vals, unit, ""), t.how()})
		}
	}
	return dists, values
}

// empty tells whether a distribution has no value in any run.
func (t *track) empty() bool {
	return !slices.ContainsFunc(t.in, func(m *probe.Metric) bool { return m != nil && m.Dist.Count() > 0 })
}
