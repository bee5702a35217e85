package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// A cell is what one row found in one column: one or several statistics of one
// unit.
type cell struct {
	stats []string
	vals  []float64 // one for each of stats; NaN is not there
	unit  string
	n     uint64  // values behind a distribution's statistics
	dist  bool    // whether there is an n
	max   float64 // of a distribution, for when a percentile is left out
	how   string  // provenance, "" if there is nothing to say
}

// evaluate computes a row in a report. Without the metric it is nil.
func evaluate(r *Report, s *selector, stat string) *cell {
	if f := find(r, s); f != nil {
		return cellOf(f, stat)
	}
	return nil
}

// cellOf computes statistics of what was found.
func cellOf(f *found, stat string) *cell {
	if stat == "" {
		stat = f.defaultStat()
	}
	c := &cell{stats: statNames(stat), dist: f.dist != nil, max: math.NaN(), how: provText(f.prov, f.desc.Kind)}
	if c.dist && (stat == "count" || stat == "rate") { // how often is known, whatever is estimated
		c.how = ""
	}
	for _, name := range c.stats {
		v, unit := f.stat(name)
		c.vals = append(c.vals, v)
		c.unit = unit
	}
	if c.dist {
		c.n = f.dist.Count()
		c.max, _ = f.stat("max")
	}
	return c
}

// text prints the cell. A percentile of too few values is a dash, and then the
// maximum and the count stand beside it, so that the cell still says something:
// "41 / – ms, max 95 ms (n=12)".
func (c *cell) text(want string) string {
	if c == nil || c.dist && c.n == 0 && !slices.Contains(c.stats, "count") {
		return dash
	}
	s := formatGroup(c.vals, c.unit, want)
	if !c.tooFew() {
		return s
	}
	if !slices.Contains(c.stats, "max") {
		top := "max " + formatValue(c.max, c.unit, want)
		if allNaN(c.vals) {
			s = top
		} else {
			s += ", " + top
		}
	}
	return fmt.Sprintf("%s (n=%d)", s, c.n)
}

// tooFew tells whether a percentile was left out.
func (c *cell) tooFew() bool {
	for _, name := range c.stats {
		if p, ok := quantiles[name]; ok && c.dist && c.n < p.min {
			return true
		}
	}
	return false
}

// allNaN tells whether the cell has no number at all, only dashes.
func allNaN(vs []float64) bool {
	return !slices.ContainsFunc(vs, func(v float64) bool { return !math.IsNaN(v) })
}

// count is the cell's n.
func (c *cell) count() string {
	if c == nil || !c.dist {
		return dash
	}
	return formatCount(float64(c.n))
}

// provText says how a number was obtained, where that is not self-evident: of
// every peak, and of whatever is not exact.
func provText(p probe.Provenance, kind probe.Kind) string {
	if p.How == probe.Exact && kind != probe.KindPeak {
		return ""
	}
	s := p.How.String()
	if p.Samples > 0 {
		s += " " + formatCount(float64(p.Samples)) + "×"
	}
	if p.MaxGap > 0 {
		s += " ≤ " + formatValue(p.MaxGap.Round(time.Microsecond).Seconds(), "s", "") + " apart"
	}
	if p.Method != "" && p.Method != p.How.String() {
		s += ", " + p.Method
	}
	return s
}

// statLabel is what a row's label says about its statistics: nothing where
// there is only one way to read the number.
func statLabel(stats []string) string {
	if len(stats) == 1 {
		switch stats[0] {
		case "value", "sum", "count", "rate":
			return ""
		}
	}
	return strings.Join(stats, " / ")
}
