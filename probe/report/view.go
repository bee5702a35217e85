package report

import (
	"cmp"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// WriteTerminal writes everything that the report holds: its targets, each
// metric that is not detail, the ten largest series of each that is, the ten longest events,
// what was absent and why, and where and under which conditions it ran. Parts
// follow.
func (r *Report) WriteTerminal(w io.Writer) error {
	return writeGrids(w, r.view(nil), (*grid).terminal)
}

// WriteMarkdown writes the same for a pull request.
func (r *Report) WriteMarkdown(w io.Writer) error {
	return writeGrids(w, r.view(nil), (*grid).markdown)
}

// writeGrids renders tables one after the other with an empty line between.
func writeGrids(w io.Writer, gs []*grid, render func(*grid, io.Writer) error) error {
	for i, g := range gs {
		if i > 0 {
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
		}
		if err := render(g, w); err != nil {
			return err
		}
	}
	return nil
}

// most is how many rows of detail and of events a report shows.
const most = 10

// view makes the report's tables. What was said of the whole is not said again
// of a part.
func (r *Report) view(said []string) []*grid {
	head := r.headGrid()
	notes := head.notes
	head.notes = slices.DeleteFunc(slices.Clone(notes), func(n string) bool { return slices.Contains(said, n) })
	gs := []*grid{head}
	if said == nil {
		head.target(r)
	}
	if len(r.Runs) > 0 {
		return append(gs, r.viewRuns()...)
	}
	add := func(g *grid) {
		if len(g.rows) > 0 || len(g.notes) > 0 {
			g.dropEmpty()
			gs = append(gs, g)
		}
	}
	dists := &grid{title: "Distributions", head: []string{"", "n", "p50", "p95", "p99", "max", "sum", "how"},
		left: []bool{true, false, false, false, false, false, false, true}}
	values := &grid{title: "Values", head: []string{"", "value", "how"}, left: []bool{true, false, true}}
	zeros := 0
	for _, m := range r.shown() {
		switch {
		case m.Dist != nil:
			dists.rows = append(dists.rows, append(distRow(m), provText(m.Prov, m.Kind)))
			continue
		case m.Kind == probe.KindCounter && m.Value == 0:
			zeros++
			continue
		}
		values.rows = append(values.rows, []string{seriesLabel(m),
			formatValue(m.Value, m.Unit, ""), provText(m.Prov, m.Kind)})
	}
	if zeros > 0 {
		values.notes = []string{formatCount(float64(zeros)) + " more counters counted nothing"}
	}
	add(dists)
	add(values)
	for _, g := range r.details() {
		add(g)
	}
	add(r.eventGrid())
	add(r.absentGrid())
	for _, p := range r.Parts {
		gs = append(gs, p.view(append(notes, ""))...)
	}
	return gs
}

// shown are the metrics of the two main tables, by name. The host's have a line
// of their own, and a distribution without values has nothing to show.
func (r *Report) shown() []*probe.Metric {
	var ms []*probe.Metric
	for i := range r.reading.Metrics {
		m := &r.reading.Metrics[i]
		if m.Detail || strings.HasPrefix(m.Name, hostPrefix) || m.Dist != nil && m.Dist.Count() == 0 {
			continue
		}
		ms = append(ms, m)
	}
	slices.SortStableFunc(ms, func(a, b *probe.Metric) int { return cmp.Compare(a.Name, b.Name) })
	return ms
}

// headGrid has no rows: the title and the lines about where, on what and how
// undisturbed the report was made.
func (r *Report) headGrid() *grid {
	title := r.Name
	if title == "" {
		title = "Report"
	}
	g := &grid{title: title + ", " + formatValue(r.Duration.Seconds(), "s", "") + " from " +
		r.Started.UTC().Format(time.DateTime) + " UTC"}
	conditions, deviations := r.Conditions, r.Deviations
	if len(r.Runs) > 0 { // which are not shown one by one
		conditions, deviations = r.allConditions(), r.allDeviations()
	}
	for _, n := range []struct{ name, text string }{
		{"Conditions", conditions.text(nil)},
		{"Deviations", strings.Join(deviations, "; ")},
		{"Operations", operationsText(r.Operations)},
		{"Host", r.Host.text()},
		{"Ran on", r.Provenance.text()},
	} {
		if n.text != "" {
			g.notes = append(g.notes, n.name+": "+n.text)
		}
	}
	return g
}

// operationsText is "" if there is no such number.
func operationsText(n int64) string {
	if n <= 0 {
		return ""
	}
	return formatCount(float64(n))
}

// distRow leaves out the percentiles of too few values.
func distRow(m *probe.Metric) []string {
	row := []string{seriesLabel(m), formatCount(float64(m.Dist.Count()))}
	for _, stat := range []string{"p50", "p95", "p99", "max", "sum"} {
		row = append(row, formatValue(m.Desc.Value(distStat(m.Dist, stat)), m.Unit, ""))
	}
	return row
}

// seriesLabel is the metric's name and its attributes.
func seriesLabel(m *probe.Metric) string {
	return strings.TrimSpace(m.Name + " " + attrsText(m.Attrs))
}

// attrsText shortens the keys to their last word, which tells them apart within
// one metric.
func attrsText(as []probe.Attr) string {
	parts := make([]string, len(as))
	for i, a := range as {
		parts[i] = heading(a.Key) + "=" + a.Value
	}
	return strings.Join(parts, " ")
}

// details makes a table of each detail metric: its series by their sum or
// value.
func (r *Report) details() []*grid {
	var gs []*grid
	byName := map[string][]*probe.Metric{}
	var names []string
	for i := range r.reading.Metrics {
		m := &r.reading.Metrics[i]
		if !m.Detail {
			continue
		}
		if byName[m.Name] == nil {
			names = append(names, m.Name)
		}
		byName[m.Name] = append(byName[m.Name], m)
	}
	slices.Sort(names)
	for _, name := range names {
		gs = append(gs, detailGrid(name, byName[name]))
	}
	return gs
}

// detailGrid shows the largest: with a bounded table of paths the sum is where
// the cost is.
func detailGrid(name string, ms []*probe.Metric) *grid {
	slices.SortStableFunc(ms, func(a, b *probe.Metric) int { return cmp.Compare(b.Value, a.Value) })
	g := &grid{title: name, head: []string{"", "n", "p50", "p95", "max", "sum"},
		left: []bool{true, false, false, false, false, false}}
	most := most
	if name == descProfileFunction.Name {
		most = mostFunctions + 1
	}
	if name == metricAround {
		ms = slices.DeleteFunc(slices.Clone(ms), func(m *probe.Metric) bool { return m.Value == 0 })
		g.notes = []string{aroundText(ms)}
	}
	for i, m := range ms {
		if i == most {
			g.notes = append(g.notes, formatCount(float64(len(ms)-most))+" more")
			break
		}
		row := []string{attrsText(m.Attrs), "", "", "", "", formatValue(m.Value, m.Unit, "")}
		if m.Dist != nil {
			d := distRow(m)
			row = append([]string{attrsText(m.Attrs)}, d[1], d[2], d[3], d[5], d[6])
		}
		g.rows = append(g.rows, row)
	}
	return g
}

// metricAround is what a file probe tells of the opens that it did not see. It says
// how far the probe's other counts can be believed, so it has a sentence.
const metricAround = "tidestaff.file.around"

// mostNames is how many names the sentence has room for.
const mostNames = 10

// aroundText is the sentence of opens by path, the most first.
func aroundText(ms []*probe.Metric) string {
	var all float64
	var names []string
	for i, m := range ms {
		all += m.Value
		if i >= mostNames {
			continue
		}
		var name []string
		for _, a := range m.Attrs {
			name = append(name, a.Value)
		}
		if m.Value > 1 {
			name = append(name, "("+formatCount(m.Value)+")")
		}
		names = append(names, strings.Join(name, " "))
	}
	text := strings.Join(names, ", ")
	if n := len(ms) - mostNames; n > 0 {
		text += " and " + formatCount(float64(n)) + " more"
	}
	switch all {
	case 0:
		return "no open is known to have gone around the probe"
	case 1:
		return "1 open went around the probe: " + text
	}
	return formatCount(all) + " opens went around the probe: " + text
}

// mostEvidence is how many attributes an event's line has room for. One that has
// more, such as a stall, says in its text what matters; the file has them all.
const mostEvidence = 16

// eventGrid has the longest events in the order in which they began.
func (r *Report) eventGrid() *grid {
	g := &grid{title: "Events", head: []string{"at", "for", "event", "cause", "what"},
		left: []bool{false, false, true, true, true}}
	es := latest(r.reading.Events)
	slices.SortStableFunc(es, func(a, b probe.Event) int { return cmp.Compare(b.Duration, a.Duration) })
	left := r.reading.Dropped
	if len(es) > most {
		left += uint64(len(es) - most)
		es = es[:most]
	}
	slices.SortStableFunc(es, func(a, b probe.Event) int { return a.Start.Compare(b.Start) })
	for _, e := range es {
		length := formatValue(e.Duration.Seconds(), "s", "")
		if e.Ongoing {
			length = "≥ " + length
		}
		what := e.Text
		if len(e.Attrs) <= mostEvidence {
			what = strings.TrimSpace(what + " " + attrsText(e.Attrs))
		}
		g.rows = append(g.rows, []string{formatValue(e.Start.Sub(r.Started).Seconds(), "s", ""), length, e.Name, e.Cause, what})
	}
	if left > 0 {
		g.notes = []string{formatCount(float64(left)) + " more"}
	}
	return g
}

// latest leaves out events that were emitted as ongoing and are there again, under
// the same number of the same probe.
func latest(events []probe.Event) []probe.Event {
	type identity struct {
		name, probe string
		id          uint64
	}
	var last []probe.Event
	at := map[identity]int{}
	for _, e := range events {
		id := identity{e.Name, "", e.ID}
		if i := slices.IndexFunc(e.Attrs, func(a probe.Attr) bool { return a.Key == probe.AttrProbeName }); i >= 0 {
			id.probe = e.Attrs[i].Value
		}
		if i, ok := at[id]; ok {
			last[i] = e
			continue
		}
		at[id] = len(last)
		last = append(last, e)
	}
	return last
}

// absentGrid says what the tables above do not have, so that nobody takes it
// for zero.
func (r *Report) absentGrid() *grid {
	g := &grid{title: "Not measured", head: []string{"what", "why"}, left: []bool{true, true}}
	for _, a := range r.reading.Absent {
		g.rows = append(g.rows, []string{a.Name, a.Reason})
	}
	return g
}
