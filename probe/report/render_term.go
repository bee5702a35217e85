package report

import (
	"cmp"
	"io"
	"strings"
)

// maxText bounds a text cell on a terminal, unless the grid has a bound of its own. Markdown has no such bound: the
// reader's browser wraps.
const maxText = 72

// terminal writes the grid with aligned columns, two spaces apart and no
// colour, so that the same bytes suit a terminal, a log and a golden file.
func (g *grid) terminal(w io.Writer) error {
	var b strings.Builder
	if g.title != "" {
		b.WriteString(clean(g.title) + "\n")
	}
	if len(g.rows) > 0 {
		g.lines(&b)
	}
	for _, n := range g.notes {
		b.WriteString(clean(n) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// lines writes the heading, a rule below it, and the rows.
func (g *grid) lines(b *strings.Builder) {
	widths := g.widths()
	g.line(b, widths, g.head)
	if g.under != nil {
		g.line(b, widths, g.under)
	}
	total := 2 * (len(widths) - 1)
	for _, n := range widths {
		total += n
	}
	b.WriteString(strings.Repeat("─", total) + "\n")
	for _, row := range g.rows {
		g.line(b, widths, row)
	}
}

// line writes one row without blanks at its end, which would be noise in a
// commit message or a golden file.
func (g *grid) line(b *strings.Builder, widths []int, cells []string) {
	var line strings.Builder
	for c, cell := range cells {
		cell = clip(clean(cell), g.most())
		pad := strings.Repeat(" ", widths[c]-width(cell))
		if c > 0 {
			line.WriteString("  ")
		}
		if g.left[c] {
			line.WriteString(cell + pad)
		} else {
			line.WriteString(pad + cell)
		}
	}
	b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
}

// widths is how many cells each column needs.
func (g *grid) widths() []int {
	widths := make([]int, len(g.head))
	measure := func(cells []string) {
		for c, cell := range cells {
			widths[c] = max(widths[c], width(clip(clean(cell), g.most())))
		}
	}
	measure(g.head)
	measure(g.under)
	for _, row := range g.rows {
		measure(row)
	}
	return widths
}

// most is how many cells a text may take.
func (g *grid) most() int { return cmp.Or(g.clip, maxText) }
