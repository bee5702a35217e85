package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// WriteTerminal writes the verdicts with aligned columns.
func (c *Comparison) WriteTerminal(w io.Writer) error {
	return writeGrids(w, c.view(), (*grid).terminal)
}

// WriteMarkdown writes the verdicts for a pull request.
func (c *Comparison) WriteMarkdown(w io.Writer) error {
	return writeGrids(w, c.view(), (*grid).markdown)
}

// view makes the table of verdicts. The changes are already in order.
func (c *Comparison) view() []*grid {
	g := &grid{title: c.title(), head: []string{"", sideTitle("before", c.Before, c.After), sideTitle("after", c.After, c.Before), "change", "verdict", "why"},
		under: []string{"", "host " + c.Before.loadText(), "host " + c.After.loadText(), "", "", ""},
		left:  []bool{true, false, false, false, true, true}, clip: 2 * maxText}
	least := c.leastUnclear()
	unclear := 0
	for i := range c.Changes {
		one := &c.Changes[i]
		switch {
		case !c.shows(one):
		case !c.all && one.Verdict == Unclear && (unclear == mostUnclear || one.size() < least):
		default:
			if one.Verdict == Unclear {
				unclear++
			}
			g.rows = append(g.rows, one.row())
		}
	}
	g.dropEmpty()
	if !c.all {
		if n := c.count(Unclear) - unclear; n > 0 {
			g.notes = append(g.notes, formatCount(float64(n))+" more are unclear, with smaller changes.")
		}
		g.notes = append(g.notes, c.hidden()...)
	}
	g.notes = append(g.notes, c.Notes...)
	t := Table{Columns: []Column{{Title: sideTitle("before", c.Before, c.After), Report: c.Before}, {Title: sideTitle("after", c.After, c.Before), Report: c.After}}}
	g.notes = append(g.notes, t.notes()...)
	return []*grid{g}
}

// mostUnclear is how many numbers have a line that nothing can be said of.
const mostUnclear = 20

// leastUnclear is the change from which on an unclear number has a line.
func (c *Comparison) leastUnclear() float64 {
	var shifts []float64
	for i := range c.Changes {
		if one := &c.Changes[i]; one.Verdict == Unclear {
			shifts = append(shifts, one.size())
		}
	}
	if len(shifts) <= mostUnclear {
		return 0
	}
	slices.Sort(shifts)
	return shifts[len(shifts)-mostUnclear]
}

// size is how far the change is from none: a half is as far as the double.
func (c *Change) size() float64 { return math.Abs(math.Log1p(c.Shift)) }

// shows tells whether a change has a line of its own.
func (c *Comparison) shows(one *Change) bool {
	return c.all || one.Verdict != Same && one.Verdict != NotComparable
}

// title counts the verdicts.
func (c *Comparison) title() string {
	var parts []string
	for _, v := range verdicts {
		parts = append(parts, fmt.Sprintf("%d %s", c.count(v), v))
	}
	return strings.Join(parts, ", ")
}

// sideTitle heads a column with the variant's name, unless both have the same, and
// the number of its runs.
func sideTitle(side string, r, other *Report) string {
	if r.Name != "" && r.Name != other.Name {
		side = r.Name
	}
	if n := len(r.counted()); len(r.Runs) > 0 {
		side = fmt.Sprintf("%s (%d runs)", side, n)
	}
	return side
}

// row is the line of one change.
func (c *Change) row() []string {
	return []string{c.label(), formatRuns(single(c.Before), c.Unit, ""), formatRuns(single(c.After), c.Unit, ""),
		c.changeText(), string(c.Verdict), c.Reason}
}

// label says which number it is.
func (c *Change) label() string {
	s := strings.TrimSpace(c.Metric + " " + attrsText(c.Attrs))
	if c.Part != "" {
		s = c.Part + ": " + s
	}
	if c.Stat != "value" {
		s += " " + c.Stat
	}
	if c.PerOp {
		s += " per operation"
	}
	return s
}

// changeText is the shift: small ones in per cent, large ones as a factor.
func (c *Change) changeText() string {
	switch s := c.Shift; {
	case math.IsNaN(s) || math.IsInf(s, 0):
		return dash
	case s == 0:
		return "="
	case s > -0.5 && s < 1:
		return fmt.Sprintf("%+.1f %%", 100*s)
	default:
		return formatRatio(1, 1+s)
	}
}

// hidden says what has no line: the same, and, by their reasons, what is not
// comparable.
func (c *Comparison) hidden() []string {
	var notes, reasons []string
	counts := map[string]int{}
	for i := range c.Changes {
		if one := &c.Changes[i]; one.Verdict == NotComparable {
			if counts[one.Reason] == 0 {
				reasons = append(reasons, one.Reason)
			}
			counts[one.Reason]++
		}
	}
	if n := c.count(Same); n > 0 {
		notes = append(notes, formatCount(float64(n))+" numbers are the same.")
	}
	slices.SortStableFunc(reasons, func(a, b string) int { return counts[b] - counts[a] })
	for _, r := range reasons {
		notes = append(notes, fmt.Sprintf("%s not comparable: %s.", formatCount(float64(counts[r])), r))
	}
	return notes
}
