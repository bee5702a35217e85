package report

import (
	"math"
	"slices"
	"strings"
)

// cells is what one row found in the runs of one column; of a run without the
// metric it is nil.
type cells []*cell

// mostRuns is how many runs are shown one by one.
const mostRuns = 3

// text prints the runs in one cell. One run alone has the remarks of a cell.
func (cs cells) text(want string) string {
	if len(cs) == 1 {
		return cs[0].text(want)
	}
	vals, unit := cs.values()
	return formatRuns(vals, unit, want)
}

// values has the statistics of each run, with dashes for a run without them, and
// their unit. A run whose metric is of another kind or unit is without them.
func (cs cells) values() (vals [][]float64, unit string) {
	stats := 0
	for _, c := range cs {
		if c != nil && stats == 0 {
			stats, unit = len(c.vals), c.unit
		}
	}
	stats = max(1, stats)
	for _, c := range cs {
		if c == nil || len(c.vals) != stats || c.unit != unit {
			vals = append(vals, slices.Repeat([]float64{math.NaN()}, stats))
			continue
		}
		vals = append(vals, c.vals)
	}
	return vals, unit
}

// count is the n of each run, or their range.
func (cs cells) count() string {
	if len(cs) == 1 {
		return cs[0].count()
	}
	var ns [][]float64
	for _, c := range cs {
		n := math.NaN()
		if c != nil && c.dist {
			n = float64(c.n)
		}
		ns = append(ns, []float64{n})
	}
	return formatRuns(ns, "1", "")
}

// ratio compares two columns statistic by statistic: their medians, if they have
// several runs.
func ratio(before, after cells) string {
	b, _ := before.values()
	a, _ := after.values()
	if len(a) == 0 || len(b) == 0 || len(b[0]) != len(a[0]) {
		return dash
	}
	parts := make([]string, len(b[0]))
	for i := range parts {
		parts[i] = formatRatio(median(column(b, i)), median(column(a, i)))
	}
	if allSame(parts, dash) {
		return dash
	}
	return strings.Join(parts, " / ")
}

// allSame tells whether every element is s.
func allSame(list []string, s string) bool {
	return !slices.ContainsFunc(list, func(one string) bool { return one != s })
}

// column is the statistic at i of each run, without those that are not there.
func column(runs [][]float64, i int) []float64 {
	var vs []float64
	for _, run := range runs {
		if !math.IsNaN(run[i]) {
			vs = append(vs, run[i])
		}
	}
	return vs
}

// median is the middle one, the mean of both where there are two, and NaN of
// nothing.
func median(vs []float64) float64 {
	if len(vs) == 0 {
		return math.NaN()
	}
	vs = slices.Sorted(slices.Values(vs))
	n := len(vs)
	return (vs[(n-1)/2] + vs[n/2]) / 2
}

// formatRuns prints the statistics of several runs: up to three runs one after
// the other, "69 / 881, 67 / 859 ms", and of more each statistic's least, median
// and largest, "67–68–70 / 859–870–881 ms".
func formatRuns(runs [][]float64, unit, want string) string {
	if len(runs) == 0 {
		return dash
	}
	sep, inner, rows := ", ", " / ", runs
	if len(runs) > mostRuns {
		sep, inner, rows = " / ", "–", ranges(runs)
	}
	f := formFor(slices.Concat(rows...), unit, want)
	parts := make([]string, len(rows))
	for i, row := range rows {
		if f.scales != nil {
			parts[i] = strings.ReplaceAll(eachAlone(row, f.scales, f.after), " / ", inner)
			continue
		}
		parts[i] = strings.ReplaceAll(join(row, f.scale, f.format), " / ", inner)
		if allNaN(row) {
			parts[i] = dash
		}
	}
	if f.scales != nil {
		return strings.Join(parts, sep)
	}
	return strings.Join(parts, sep) + f.after
}

// ranges turns runs of statistics into statistics of runs.
func ranges(runs [][]float64) [][]float64 {
	var rows [][]float64
	for i := range runs[0] {
		vs := column(runs, i)
		if len(vs) == 0 {
			rows = append(rows, []float64{math.NaN()})
			continue
		}
		rows = append(rows, []float64{slices.Min(vs), median(vs), slices.Max(vs)})
	}
	return rows
}
