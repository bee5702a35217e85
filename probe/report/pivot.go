package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/tidestaff/tidestaff/probe"
)

// A Pivot is a table of one report with a row for each value of some
// attributes: store methods by role, paths, operations. Its columns are
// metrics or different statistics of one metric.
//
// A metric that has none of the attributes is left out; several that agree in
// them are taken together, as by a [Row]. If there are peaks among them, a last
// column says how they were obtained.
type Pivot struct {
	Title string
	// Part names the part of the report; empty means the report itself.
	Part string
	// By are the keys of the attributes; each becomes a column of text.
	By      []string
	Columns []PivotColumn
	// Sort is the index of the column whose first statistic orders the rows,
	// largest first. Equal rows are ordered by their attributes.
	Sort int
	// Top bounds the rows; zero means 10, negative all. A line below the table
	// says how many were left out and what share they have of the sorted
	// column's sum.
	Top int
}

// A PivotColumn is like a [Row], without a part.
type PivotColumn struct {
	Title  string
	Metric string
	Attrs  []probe.Attr
	Match  func(*probe.Metric) bool
	Stat   string
	Unit   string
}

// WriteTerminal writes the table of r with aligned columns.
func (p *Pivot) WriteTerminal(w io.Writer, r *Report) error { return p.grid(r).terminal(w) }

// WriteMarkdown writes the table of r as Markdown.
func (p *Pivot) WriteMarkdown(w io.Writer, r *Report) error { return p.grid(r).markdown(w) }

// Rows are the top rows of all reports together as rows of a [Table], which
// shows the first column's statistics of several reports side by side. A row
// that is at the top of any report is in.
func (p *Pivot) Rows(reports ...*Report) []Row {
	var rows []Row
	seen := map[string]bool{}
	for _, r := range reports {
		kept, _ := p.top(p.lines(r))
		for _, l := range kept {
			if seen[l.id()] {
				continue
			}
			seen[l.id()] = true
			c := p.Columns[0]
			rows = append(rows, Row{Label: strings.Join(l.keys, " "), Part: p.Part, Metric: c.Metric,
				Attrs: slices.Concat(c.Attrs, p.attrs(l.keys)), Match: c.Match, Stat: c.Stat, Unit: c.Unit})
		}
	}
	return rows
}

// A line is one combination of the attributes' values.
type line struct {
	keys  []string
	cells []*cell
}

// id identifies the combination.
func (l *line) id() string { return strings.Join(l.keys, "\x00") }

// weight is what lines are ordered by.
func (l *line) weight(sort int) float64 {
	if sort < 0 || sort >= len(l.cells) || l.cells[sort] == nil || math.IsNaN(l.cells[sort].vals[0]) {
		return math.Inf(-1)
	}
	return l.cells[sort].vals[0]
}

// how is the provenance of the line's peaks and levels. That of distributions is
// left to a [Table]: one that is estimated is so in all lines.
func (l *line) how() string {
	var hows []string
	for _, c := range l.cells {
		if c != nil && !c.dist {
			hows = appendNew(hows, c.how)
		}
	}
	return strings.Join(hows, "; ")
}

// attrs are the attributes that a line's metrics carry. A key that is empty
// was not there, and is not asked for.
func (p *Pivot) attrs(keys []string) []probe.Attr {
	var as []probe.Attr
	for i, k := range p.By {
		if keys[i] != "" {
			as = append(as, probe.Attr{Key: k, Value: keys[i]})
		}
	}
	return as
}

// lines groups the report's metrics and evaluates every column of every group.
func (p *Pivot) lines(r *Report) []*line {
	if r != nil {
		r = r.Part(p.Part)
	}
	if r == nil {
		return nil
	}
	groups := map[string]*Report{}
	var lines []*line
	for i := range r.reading.Metrics {
		m := &r.reading.Metrics[i]
		keys := p.keys(m)
		if keys == nil {
			continue
		}
		l := &line{keys: keys}
		g := groups[l.id()]
		if g == nil {
			g = &Report{Duration: r.Duration}
			groups[l.id()] = g
			lines = append(lines, l)
		}
		g.reading.Metrics = append(g.reading.Metrics, *m)
	}
	for _, l := range lines {
		for _, c := range p.Columns {
			l.cells = append(l.cells, evaluate(groups[l.id()], &selector{c.Metric, c.Attrs, c.Match}, c.Stat))
		}
	}
	// The columns' filters may leave nothing of a group.
	return slices.DeleteFunc(lines, func(l *line) bool {
		return !slices.ContainsFunc(l.cells, func(c *cell) bool { return c != nil })
	})
}

// keys returns the values of the attributes, nil if the metric is of none of
// the columns or has none of the attributes.
func (p *Pivot) keys(m *probe.Metric) []string {
	if !slices.ContainsFunc(p.Columns, func(c PivotColumn) bool { return c.Metric == m.Name }) {
		return nil
	}
	keys := make([]string, len(p.By))
	any := false
	for i, k := range p.By {
		keys[i] = m.Attr(k)
		any = any || keys[i] != ""
	}
	if !any {
		return nil
	}
	return keys
}

// top orders the lines and cuts them off.
func (p *Pivot) top(lines []*line) (kept, rest []*line) {
	slices.SortStableFunc(lines, func(a, b *line) int {
		switch x, y := a.weight(p.Sort), b.weight(p.Sort); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return slices.Compare(a.keys, b.keys)
	})
	n := p.Top
	if n == 0 {
		n = 10
	}
	if n < 0 || n > len(lines) {
		n = len(lines)
	}
	return lines[:n], lines[n:]
}

// heading is the last word of an attribute's key, but for those whose names are a
// convention's and do not say what they hold here.
func heading(key string) string {
	switch key {
	case probe.AttrMethod:
		return "method"
	case attrFunction:
		return "function"
	}
	return key[strings.LastIndexByte(key, '.')+1:]
}

func (p *Pivot) grid(r *Report) *grid {
	g := &grid{title: p.Title}
	for _, k := range p.By {
		g.head, g.left = append(g.head, heading(k)), append(g.left, true)
	}
	for _, c := range p.Columns {
		g.head, g.left = append(g.head, c.Title), append(g.left, false)
	}
	kept, rest := p.top(p.lines(r))
	hows := slices.ContainsFunc(kept, func(l *line) bool { return l.how() != "" })
	if hows {
		g.head, g.left = append(g.head, "how"), append(g.left, true)
	}
	for _, l := range kept {
		row := slices.Clone(l.keys)
		for i, c := range l.cells {
			row = append(row, c.text(p.Columns[i].Unit))
		}
		if hows {
			row = append(row, l.how())
		}
		g.rows = append(g.rows, row)
	}
	if len(rest) > 0 {
		g.notes = append(g.notes, p.more(kept, rest))
	}
	return g
}

// more says what the rows that were cut off add up to.
func (p *Pivot) more(kept, rest []*line) string {
	s := fmt.Sprintf("%s more", formatCount(float64(len(rest))))
	sum := func(lines []*line) (v float64) {
		for _, l := range lines {
			if w := l.weight(p.Sort); w > 0 {
				v += w
			}
		}
		return v
	}
	if p.Sort < 0 || p.Sort >= len(p.Columns) {
		return s
	}
	c := kept[0].cells[p.Sort]
	if c == nil || !slices.Contains([]string{"sum", "count", "value"}, c.stats[0]) {
		return s // maxima and percentiles do not add up
	}
	if all := sum(kept) + sum(rest); all > 0 {
		s += ", with " + formatValue(sum(rest)/all, "1", "%") + " of " + p.Columns[p.Sort].Title
	}
	return s
}
