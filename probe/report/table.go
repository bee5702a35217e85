package report

import (
	"io"
	"slices"
	"strings"

	"github.com/tidestaff/tidestaff/probe"
)

// A Table sets reports side by side: each is a column headed by its name and
// its host's load, each row one metric of all of them. Nothing of it is stored:
// it is made from the reports' metrics whenever it is written.
type Table struct {
	Title string
	// Columns in the order of printing.
	Columns []Column
	Rows    []Row
	// Ratio adds a column that compares the second report with the first.
	Ratio bool
}

// A Column is one report of a [Table].
type Column struct {
	// Title heads the column; empty means the report's name.
	Title string
	// Report may be nil: a run that did not take place is a column of dashes.
	// Repeats (see [Repeat]) show each run, or the range of more than three.
	Report *Report
}

// A Row selects a number, or a few, from each report.
//
// All metrics of the name that carry the attributes are taken together:
// counters and levels add up, distributions merge, of gauges and peaks the
// highest is shown.
type Row struct {
	// Label begins the row. The names of its percentiles are added to it.
	Label string
	// Part names the part of the report that has the metric; empty means the
	// report itself.
	Part string
	// Metric and Attrs select the metrics.
	Metric string
	Attrs  []probe.Attr
	// Match, if not nil, narrows the selection further, such as to roles that
	// begin with "background:".
	Match func(*probe.Metric) bool
	// Stat is one of the following or several with slashes between them, such
	// as "p50/p95/max", which is the default of a distribution:
	//
	//	p50 p90 p95 p99 p999 max mean sum count   of a distribution
	//	value (the default)                       of anything else
	//	rate                                      per second of the window
	Stat string
	// Unit forces a printed unit: "ns", "µs", "ms", "s", "B", "KiB", "MiB",
	// "GiB", or "%" of a share. Empty chooses one for each cell.
	Unit string
	// How is a remark on how the row is measured, beside what the metrics
	// themselves tell.
	How string
	// Value, if not nil, computes the row in place of Metric, such as a run's
	// wall time; unit is UCUM. ok is false where there is no number.
	Value func(*Report) (v float64, unit string, ok bool)
}

// WriteTerminal writes the table with aligned columns for a fixed-width font.
func (t *Table) WriteTerminal(w io.Writer) error { return t.grid().terminal(w) }

// WriteMarkdown writes the table so that it can be pasted into a pull request.
func (t *Table) WriteMarkdown(w io.Writer) error { return t.grid().markdown(w) }

// cell evaluates the row in one report.
func (row *Row) cell(r *Report) *cell {
	if r != nil {
		r = r.Part(row.Part)
	}
	if r == nil {
		return nil
	}
	if row.Value == nil {
		return evaluate(r, &selector{row.Metric, row.Attrs, row.Match}, row.Stat)
	}
	v, unit, ok := row.Value(r)
	if !ok {
		return nil
	}
	return &cell{stats: []string{"value"}, vals: []float64{v}, unit: unit}
}

// cells evaluates the row in each run that counts.
func (row *Row) cells(r *Report) cells {
	if r == nil {
		return cells{nil}
	}
	var cs cells
	for _, run := range r.counted() {
		cs = append(cs, row.cell(run))
	}
	return cs
}

// grid has all columns that any table may have; those that stay empty are
// dropped.
func (t *Table) grid() *grid {
	g := &grid{title: t.Title, head: []string{"", "n"}, under: []string{"", ""}, left: []bool{true, false}}
	for _, c := range t.Columns {
		title, load := c.Title, ""
		if c.Report != nil {
			if title == "" {
				title = c.Report.Name
			}
			load = "host " + c.Report.loadText()
		}
		g.head, g.under, g.left = append(g.head, title), append(g.under, load), append(g.left, false)
	}
	g.head, g.under, g.left = append(g.head, "ratio", "how"), append(g.under, "", ""), append(g.left, false, true)
	for i := range t.Rows {
		g.rows = append(g.rows, t.row(&t.Rows[i]))
	}
	g.dropEmpty()
	g.notes = t.notes()
	return g
}

// row has the label, n, a text for each column, the ratio and the provenance.
func (t *Table) row(row *Row) []string {
	label, texts, counts := row.Label, []string{}, []string{}
	var hows []string
	if row.How != "" {
		hows = append(hows, row.How)
	}
	columns := make([]cells, len(t.Columns))
	counted, named := false, false
	for i, c := range t.Columns {
		cs := row.cells(c.Report)
		columns[i] = cs
		texts, counts = append(texts, cs.text(row.Unit)), append(counts, cs.count())
		for _, cell := range cs {
			if cell == nil {
				continue
			}
			counted = counted || cell.dist
			if !named {
				label, named = strings.TrimSpace(label+" "+statLabel(cell.stats)), true
			}
			hows = appendNew(hows, cell.how)
		}
	}
	n, r := "", ""
	if counted {
		n = joinSame(counts)
	}
	if t.Ratio && len(columns) > 1 {
		r = ratio(columns[0], columns[1])
	}
	return append(append([]string{label, n}, texts...), r, strings.Join(hows, "; "))
}

// appendNew adds a text that is not empty and not there yet.
func appendNew(list []string, s string) []string {
	if s == "" {
		return list
	}
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// joinSame prints equal texts once.
func joinSame(list []string) string {
	for _, s := range list[1:] {
		if s != list[0] {
			return strings.Join(list, " / ")
		}
	}
	return list[0]
}

// notes say once what holds for all columns, and for each column what does
// not.
func (t *Table) notes() []string {
	var titles []string
	var reports []*Report
	for _, c := range t.Columns {
		if c.Report == nil {
			continue
		}
		title := c.Title
		if title == "" {
			title = c.Report.Name
		}
		titles, reports = append(titles, title), append(reports, c.Report)
	}
	common := commonConditions(reports)
	notes := note("Conditions", titles, reports, func(*Report) string { return common.text(nil) })
	if len(reports) > 1 {
		notes = append(notes, note("Conditions", titles, reports, func(r *Report) string { return r.allConditions().text(common) })...)
	}
	for _, kind := range []struct {
		name string
		of   func(*Report) string
	}{
		{"Deviations", func(r *Report) string { return strings.Join(r.allDeviations(), "; ") }},
		{"Host", func(r *Report) string { return r.hostText() }},
		{"Excluded", (*Report).excludedText},
		{"Ran on", func(r *Report) string { return r.Provenance.text() }},
	} {
		notes = append(notes, note(kind.name, titles, reports, kind.of)...)
	}
	return notes
}

// note is one line if all columns say the same, else one for each column that
// has something to say.
func note(name string, titles []string, reports []*Report, of func(*Report) string) []string {
	texts := make([]string, len(reports))
	for i, r := range reports {
		texts[i] = of(r)
	}
	if len(texts) == 0 {
		return nil
	}
	if joinSame(texts) == texts[0] {
		if texts[0] == "" {
			return nil
		}
		return []string{name + ": " + texts[0]}
	}
	var lines []string
	for i, text := range texts {
		if text != "" {
			lines = append(lines, name+", "+titles[i]+": "+text)
		}
	}
	return lines
}
