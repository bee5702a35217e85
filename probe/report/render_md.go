package report

import (
	"io"
	"strings"
)

// markdown writes the grid as a GitHub table that can be pasted into a pull
// request: the title in bold, the notes as one small paragraph each.
func (g *grid) markdown(w io.Writer) error {
	var b strings.Builder
	if g.title != "" {
		b.WriteString("**" + escape(g.title) + "**\n\n")
	}
	if len(g.rows) > 0 {
		g.mdTable(&b)
	}
	for i, n := range g.notes {
		if i > 0 || len(g.rows) > 0 {
			b.WriteString("\n")
		}
		b.WriteString("<sub>" + escape(n) + "</sub>\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// mdTable writes the heading, to which the second line is added in parentheses
// (a cell has one line), the rule with the alignment, and the rows.
func (g *grid) mdTable(b *strings.Builder) {
	head := make([]string, len(g.head))
	rule := make([]string, len(g.head))
	for c := range head {
		head[c] = g.head[c]
		if g.under != nil && g.under[c] != "" {
			head[c] += " (" + g.under[c] + ")"
		}
		rule[c] = "--:"
		if g.left[c] {
			rule[c] = ":--"
		}
	}
	mdLine(b, head)
	b.WriteString("| " + strings.Join(rule, " | ") + " |\n")
	for _, row := range g.rows {
		mdLine(b, row)
	}
}

// mdLine writes one row.
func mdLine(b *strings.Builder, cells []string) {
	b.WriteString("|")
	for _, cell := range cells {
		b.WriteString(" " + escape(cell) + " |")
	}
	b.WriteString("\n")
}

// markup holds what GitHub would read as a cell's end, emphasis, code, a
// link or HTML. A statement is full of them.
var markup = strings.NewReplacer(
	`\`, `\\`, "|", `\|`, "*", `\*`, "_", `\_`, "`", "\\`", "<", "&lt;", ">", "&gt;", "[", `\[`, "]", `\]`, "~", `\~`,
)

// escape makes text safe within a cell or a paragraph.
func escape(s string) string { return markup.Replace(clean(s)) }
