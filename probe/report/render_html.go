package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
)

//go:embed page.html
var pageText string

// page is parsed once. All text of a report goes through it and nowhere else: it
// escapes by where in the page the text stands.
var page = template.Must(template.New("page").Parse(pageText))

// WriteHTML writes the report as one page that needs nothing else, neither
// scripts nor the network: its tables, and charts of how lag, memory and CPU time
// went, of latencies and of the time by method and operation. Repeats are drawn
// over each other, and so are parts that have parts or runs of their own, such as
// before and after. It is readable in dark and in light, as the reader's system
// has it.
func (r *Report) WriteHTML(w io.Writer) error {
	return writePage(w, r.view(nil), figures(r.variants()))
}

// WriteHTML writes the verdicts as one page that needs nothing else, with charts
// of the first counted run of either side; see [Report.WriteHTML].
func (c *Comparison) WriteHTML(w io.Writer) error {
	var vs []variant
	for _, side := range []struct {
		name string
		r    *Report
	}{{"before", c.Before}, {"after", c.After}} {
		if runs := side.r.counted(); len(runs) > 0 {
			vs = append(vs, variant{side.name, runs[0]})
		}
	}
	return writePage(w, c.view(), figures(vs))
}

// htmlPage is what the template wants.
type htmlPage struct {
	Title       string
	First, Rest []htmlTable
	Figures     []*figure
}

type htmlTable struct {
	Title string
	Head  []htmlCell
	Rows  [][]htmlCell
	Notes []string
}

type htmlCell struct{ Class, Text, Under string }

// writePage puts the first grid, whose title is the page's, before the figures
// and the others behind them.
func writePage(w io.Writer, gs []*grid, fs []*figure) error {
	p := htmlPage{Title: clean(gs[0].title), Figures: fs}
	for i, g := range gs {
		t := g.html()
		if i == 0 {
			t.Title = ""
			p.First = append(p.First, t)
			continue
		}
		p.Rest = append(p.Rest, t)
	}
	if err := page.Execute(w, &p); err != nil {
		return fmt.Errorf("report: write HTML: %w", err)
	}
	return nil
}

// html converts the grid. Control characters are made visible here; all else is
// the template's.
func (g *grid) html() htmlTable {
	t := htmlTable{Title: clean(g.title)}
	for c, h := range g.head {
		cell := htmlCell{Class: g.class(c), Text: clean(h)}
		if g.under != nil {
			cell.Under = clean(g.under[c])
		}
		t.Head = append(t.Head, cell)
	}
	for _, row := range g.rows {
		var cells []htmlCell
		for c, text := range row {
			cell := htmlCell{Class: g.class(c), Text: clean(text)}
			if mark := marks[text]; mark != "" && (g.head[c] == "verdict" || g.head[c] == "outcome") {
				cell.Class += " " + mark
			}
			cells = append(cells, cell)
		}
		t.Rows = append(t.Rows, cells)
	}
	for _, n := range g.notes {
		t.Notes = append(t.Notes, clean(n))
	}
	return t
}

// class aligns a column.
func (g *grid) class(c int) string {
	if g.left[c] {
		return "l"
	}
	return ""
}

// marks are the colours of verdicts and outcomes; each has its word too.
var marks = map[string]string{
	string(Worse): "bad", string(Fail): "bad",
	string(Improved): "good", string(Pass): "good",
	string(Unclear): "open", string(NotJudged): "open", string(NotMeasured): "open", string(NotComparable): "open",
}
