package report

import (
	"strings"
	"unicode"
)

// grid is a table whose cells are already text: what every view becomes
// before it is written for a terminal or as Markdown.
type grid struct {
	title string
	head  []string
	under []string // second line of the heading, such as each column's host load; may be nil
	left  []bool   // columns of text; the others hold numbers and align right
	rows  [][]string
	notes []string // lines below the table
	clip  int      // cells of a terminal that a text may take, 0 for the usual number
}

// dropEmpty removes the columns, other than the first, in which no row has
// text, so that a table without provenance has no empty column for it.
func (g *grid) dropEmpty() {
	for c := len(g.head) - 1; c > 0; c-- {
		if g.used(c) {
			continue
		}
		g.head = cut(g.head, c)
		g.left = cut(g.left, c)
		if g.under != nil {
			g.under = cut(g.under, c)
		}
		for i := range g.rows {
			g.rows[i] = cut(g.rows[i], c)
		}
	}
}

// used tells whether any row has text in the column.
func (g *grid) used(c int) bool {
	for _, row := range g.rows {
		if row[c] != "" {
			return true
		}
	}
	return false
}

// cut removes an element without touching the array behind s, which a row may
// share.
func cut[T any](s []T, i int) []T { return append(s[:i:i], s[i+1:]...) }

// clean makes text from outside (a path, a statement, an error) safe for one
// cell: white space collapses, and control characters, which could move a
// terminal's cursor, become visible dots.
func clean(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return '·'
		}
		return r
	}, s)
}

// clip shortens s to at most n cells and keeps its end, where a path and a
// method have what tells them apart.
func clip(s string, n int) string {
	if width(s) <= n {
		return s
	}
	rs := []rune(s)
	for len(rs) > 0 && width(string(rs)) > n-1 {
		rs = rs[1:]
	}
	return "…" + string(rs)
}

// width is the number of terminal cells that s takes: text/tabwriter counts
// every rune as one, which puts columns out of line after a CJK path or a
// combining accent.
func width(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

// runeWidth is 0 for marks that are drawn over the rune before them, 2 for what
// fills two cells.
func runeWidth(r rune) int {
	switch {
	case r < 0x300: // the common case, before any table look-up
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case isWide(r):
		return 2
	}
	return 1
}

// wide lists the blocks that terminals draw over two cells (Unicode's East
// Asian Width W and F, by block).
var wide = [...][2]rune{
	{0x1100, 0x115f}, {0x2e80, 0x303e}, {0x3041, 0xa4cf}, {0xac00, 0xd7a3}, {0xf900, 0xfaff},
	{0xfe30, 0xfe6f}, {0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1faff}, {0x20000, 0x3fffd},
}

// isWide looks the rune up in wide. A terminal that draws emoji over one cell
// is off by one there; none does it the same.
func isWide(r rune) bool {
	for _, b := range wide {
		if r >= b[0] && r <= b[1] {
			return true
		}
	}
	return false
}
