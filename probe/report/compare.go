package report

import (
	"cmp"
	"math"
	"slices"

	"github.com/tidestaff/tidestaff/probe"
)

// A Verdict is what a comparison says of one number.
type Verdict string

// The verdicts, in the order in which a person wants to see them.
const (
	// Worse and Improved: it changed by more than what changes by itself.
	Worse    Verdict = "worse"
	Improved Verdict = "improved"
	// Unclear: it may have changed; the reason says what would tell.
	Unclear Verdict = "unclear"
	// NotComparable: the two are not of the same thing, or one is not there.
	NotComparable Verdict = "not comparable"
	// Same: it did not change, or by less than matters.
	Same Verdict = "same"
)

var verdicts = []Verdict{Worse, Improved, Unclear, NotComparable, Same}

// CompareOptions say what is compared, and how strictly. The zero value works.
type CompareOptions struct {
	// Metrics are the names of the metrics to compare. Empty means all those
	// that a benchmark reports (see [probe.Desc]), which are those whose better
	// direction is known.
	Metrics []string

	// Better says of metrics whose descriptions do not which direction is
	// better: "lower" or "higher". They are compared too. Without a direction no
	// change is worse or improved.
	Better map[string]string

	// Ignore are the names of conditions that may differ, such as the flag
	// whose effect is compared.
	Ignore []string

	// SameWork says that both sides did the same work in all runs, so that totals
	// may be compared where numbers per operation cannot be computed. See
	// [Report.Operations].
	SameWork bool

	// Alpha is the p value from which on a change may be chance. Zero means
	// 0.02: of two sides that are the same, at most 1 % of the numbers are called
	// worse by chance, and 5 against 5 runs can tell.
	Alpha float64

	// Floor is the relative change that does not matter. Zero means 5 % for
	// counts and CPU time and 10 % for memory and times.
	Floor float64

	// All keeps the numbers that are the same or not comparable in the tables,
	// which else are a line that counts them.
	All bool
}

// A Change is one number on both sides: a statistic of a metric.
type Change struct {
	// Part is the path of the part that has the metric, with slashes.
	Part   string
	Metric string
	Attrs  []probe.Attr
	// Stat is as in a [Row], Unit a UCUM unit.
	Stat, Unit string
	// PerOp: the values are divided by the report's operations.
	PerOp bool
	// Better is "lower", "higher" or "" if nobody said.
	Better string

	// Before and After have a value for each run that counts and has one.
	Before, After []float64
	// Shift is the median change over all pairs of runs, as a share of before:
	// 0.1 is 10 % more. It is NaN if a side is empty, infinite from zero.
	Shift float64
	// P is the p value of the rank test, NaN where the runs are too few for one
	// or none is needed.
	P float64

	Verdict Verdict
	// Reason is in words for a person, "" only for what is plainly the same.
	Reason string

	class  class
	total  bool // would be per operation, if the number of operations were known
	varies bool // described as exact, and evidently is not
}

// A Comparison is two variants side by side, number by number.
type Comparison struct {
	// Before and After are what was compared: one run or repeats.
	Before, After *Report
	// Changes are ordered by their verdicts, the worst first.
	Changes []Change
	// Notes say what holds for all of them: hosts that differ in noise,
	// conditions that differ, runs that were not interleaved.
	Notes []string

	all bool
}

// Compare judges, number by number, whether after is worse than before. Each is
// one run or [Repeat]s of one.
//
// Counts that are described as exact are judged exactly, whatever the machine: a
// query more is a query more. One that differs between the runs of one side is
// judged like any other number. Everything else is judged by the rank test of
// Mann and Whitney over the runs, which must have been interleaved (A B B A) for
// CPU time and latencies, and by a floor below which a change does not matter.
// With fewer runs than the test needs, counts and CPU time are judged by the
// floor alone (CPU time only on a quiet machine), memory and times only if they
// changed at least twofold on a quiet machine, and so, quiet or not, counts that
// were to be exact and are not.
//
// A total that would be told per operation says nothing while nobody says how
// many there were: a service that is overloaded does less with less. See
// [Report.Operations].
//
// Numbers are not comparable if the data and flags differ (text and plain
// numbers at all, quantities by more than 10 %, sizes in bytes never), or, but
// for the exact ones, if the machine, its limits, GOMAXPROCS or the race detector
// do; latencies also if the offered load does.
func Compare(before, after *Report, opts CompareOptions) *Comparison {
	j := newJudge(before, after, opts)
	c := &Comparison{Before: before, After: after, all: opts.All}
	for _, t := range align(slices.Concat(j.before, j.after)) {
		for _, one := range j.changes(t) {
			j.judge(&one, t)
			c.Changes = append(c.Changes, one)
		}
	}
	slices.SortStableFunc(c.Changes, func(a, b Change) int {
		return cmp.Compare(slices.Index(verdicts, a.Verdict), slices.Index(verdicts, b.Verdict))
	})
	c.Notes = j.notes()
	return c
}

// Worse reports whether any number is worse. A command that compares ends with
// exit status 1 then.
func (c *Comparison) Worse() bool { return c.count(Worse) > 0 }

// count is how many numbers have the verdict.
func (c *Comparison) count(v Verdict) (n int) {
	for i := range c.Changes {
		if c.Changes[i].Verdict == v {
			n++
		}
	}
	return n
}

// changes are the statistics of a series that are compared, without verdicts.
func (j *judge) changes(t *track) []Change {
	if !j.wants(t.desc) {
		return nil
	}
	var cs []Change
	for _, s := range comparedStats(t.desc) {
		c := Change{Part: t.part, Metric: t.desc.Name, Attrs: t.attrs, Stat: s.stat,
			Better: cmp.Or(j.opts.Better[t.desc.Name], s.better), class: classOf(t.desc, s.stat)}
		c.PerOp = s.perOp && j.divisible(t)
		c.total = s.perOp && !c.PerOp
		cells := t.cells(s.stat)
		for i, cell := range cells {
			if cell == nil || math.IsNaN(cell.vals[0]) { // too few values
				continue
			}
			v := cell.vals[0]
			if c.PerOp {
				v /= float64(t.of[i].Operations)
			}
			c.Unit = cell.unit
			if i < len(j.before) {
				c.Before = append(c.Before, v)
			} else {
				c.After = append(c.After, v)
			}
		}
		cs = append(cs, c)
	}
	return cs
}

// wants tells whether a metric is compared.
func (j *judge) wants(d *probe.Desc) bool {
	switch {
	case slices.Contains(j.opts.Metrics, d.Name) || j.opts.Better[d.Name] != "":
		return true
	case len(j.opts.Metrics) > 0 || d.Detail:
		return false
	}
	return len(d.Bench) > 0
}

// divisible tells whether every run with the series says how many operations
// there were.
func (j *judge) divisible(t *track) bool {
	return !slices.ContainsFunc(t.of, func(p *Report) bool { return p != nil && p.Operations <= 0 })
}

// A comparedStat is one statistic of a metric that is compared.
type comparedStat struct {
	stat, better string
	perOp        bool
}

// comparedStats are those that a benchmark reports. A maximum is left out beside
// others: one outlier makes it, and it swings by multiples of itself.
func comparedStats(d *probe.Desc) []comparedStat {
	var list []comparedStat
	for _, b := range d.Bench {
		if b.Stat == "max" && len(d.Bench) > 1 {
			continue
		}
		list = append(list, comparedStat{b.Stat, b.Better, b.PerOp})
	}
	switch {
	case list != nil:
	case d.Kind == probe.KindDistribution:
		list = []comparedStat{{stat: "p50"}, {stat: "p95"}}
	default:
		list = []comparedStat{{stat: "value"}}
	}
	return list
}
