package report

import (
	"cmp"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// WriteTerminal writes everything that the report holds: each metric that is
// not detail, the ten largest series of each that is, the ten longest events,
// what was absent and why, and where and under which conditions it ran. Parts
// follow.
func (r *Report) WriteTerminal(w io.Writer) error {
	return r.write(w, (*grid).terminal)
}

// WriteMarkdown writes the same for a pull request.
func (r *Report) WriteMarkdown(w io.Writer) error {
	return r.write(w, (*grid).markdown)
}

// write renders the tables one after the other with an empty line between.
func (r *Report) write(w io.Writer, render func(*grid, io.Writer) error) error {
	for i, g := range r.view(nil) {
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
	add := func(g *grid) {
		if len(g.rows) > 0 || len(g.notes) > 0 {
			g.dropEmpty()
			gs = append(gs, g)
		}
	}
	dists := &grid{title: "Distributions", head: []string{"", "n", "p50", "p95", "p99", "max", "sum"},
		left: []bool{true, false, false, false, false, false, false}}
	values := &grid{title: "Values", head: []string{"", "value", "how"}, left: []bool{true, false, true}}
	zeros := 0
	for _, m := range r.shown() {
		switch {
		case m.Dist != nil:
			dists.rows = append(dists.rows, distRow(m))
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
		gs = append(gs, p.view(notes)...)
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
	for _, n := range []struct{ name, text string }{
		{"Conditions", r.Conditions.text(nil)},
		{"Deviations", strings.Join(r.Deviations, "; ")},
		{"Host", r.Host.text()},
		{"Ran on", r.Provenance.text()},
	} {
		if n.text != "" {
			g.notes = append(g.notes, n.name+": "+n.text)
		}
	}
	return g
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
		parts[i] = a.Key[strings.LastIndexByte(a.Key, '.')+1:] + "=" + a.Value
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
	for i, m := range ms {
		if i == most {
			g.notes = []string{formatCount(float64(len(ms)-most)) + " more"}
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

// eventGrid has the longest events in the order in which they began.
func (r *Report) eventGrid() *grid {
	g := &grid{title: "Events", head: []string{"at", "for", "event", "cause", "what"},
		left: []bool{false, false, true, true, true}}
	es := slices.Clone(r.reading.Events)
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
		g.rows = append(g.rows, []string{formatValue(e.Start.Sub(r.Started).Seconds(), "s", ""), length,
			e.Name, e.Cause, strings.TrimSpace(e.Text + " " + attrsText(e.Attrs))})
	}
	if left > 0 {
		g.notes = []string{formatCount(float64(left)) + " more"}
	}
	return g
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
