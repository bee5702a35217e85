package report

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// An Outcome is what came of a [Target].
type Outcome string

// The outcomes, the worst first.
const (
	// Fail: the number is out of its bound.
	Fail Outcome = "fail"
	// NotJudged: it is, but it is a time and the machine was not quiet.
	NotJudged Outcome = "not judged"
	// NotMeasured: there is no number.
	NotMeasured Outcome = "not measured"
	// Pass: it is within its bound, in every run that counts.
	Pass Outcome = "pass"
)

var outcomes = []Outcome{Fail, NotJudged, NotMeasured, Pass}

// A Target is a bound that a number was to keep, with what came of it. A report
// begins with the table of its targets and those of its parts and runs.
type Target struct {
	Name string
	// Op is "<=", ">=" or "==", empty if there is no bound.
	Op string
	// Bound and Values are in Unit, a UCUM unit. There is a value for each run
	// that counts, NaN where there is none.
	Bound  float64
	Unit   string
	Values []float64
	// Outcome and, unless it is [Pass], the Reason.
	Outcome Outcome
	Reason  string
}

// AtMost appends the target that the row's number is at most the bound, which is
// in the metric's UCUM unit: seconds, bytes, a share of one. The row's Label is
// the target's name, and of several statistics the first counts.
//
// Latencies, lag and rates that miss the bound while the machine was not quiet
// (others used 15 % of its CPUs or more, 2 % were stolen, or the quota ran out)
// are not judged; counts, CPU time and memory always are. Of repeats every run
// that counts must keep the bound.
func (r *Report) AtMost(row Row, bound float64) Outcome { return r.want(&row, "<=", bound) }

// AtLeast appends the target that the row's number is at least the bound; see
// [Report.AtMost].
func (r *Report) AtLeast(row Row, bound float64) Outcome { return r.want(&row, ">=", bound) }

// Exactly appends the target that the row's number is the bound, such as a count
// of queries; see [Report.AtMost].
func (r *Report) Exactly(row Row, bound float64) Outcome { return r.want(&row, "==", bound) }

// Unmeasured appends a target that nobody looked at, and why, so that it is seen
// to be open.
func (r *Report) Unmeasured(name, reason string) {
	r.Targets = append(r.Targets, Target{Name: name, Outcome: NotMeasured, Reason: cmp.Or(reason, "no reason given")})
}

// Failed reports whether a target of the report, of its parts or of its runs
// failed. A command that writes the report ends with exit status 1 then.
func (r *Report) Failed() bool {
	return slices.ContainsFunc(r.allTargets(), func(t Target) bool { return t.Outcome == Fail })
}

// want judges the row in each run and appends the worst that came of it.
func (r *Report) want(row *Row, op string, bound float64) Outcome {
	if math.IsNaN(bound) || math.IsInf(bound, 0) {
		r.Unmeasured(row.Label, "the bound is not a number")
		return NotMeasured
	}
	t := Target{Name: row.Label, Op: op, Bound: bound, Unit: "1", Outcome: NotMeasured, Reason: "no run counts"}
	runs := r.counted()
	for i, run := range runs {
		one := row.judge(run, op, bound)
		if len(runs) > 1 && one.Reason != "" {
			one.Reason = fmt.Sprintf("run %d: %s", i+1, one.Reason)
		}
		if i == 0 {
			t = one
			continue
		}
		t.join(&one)
	}
	r.Targets = append(r.Targets, t)
	return t.Outcome
}

// join takes in what came of the same target in another run.
func (t *Target) join(o *Target) {
	t.Values = append(slices.Clip(t.Values), o.Values...)
	if t.Unit == "1" {
		t.Unit = o.Unit // a run without the metric does not know the unit
	}
	if slices.Index(outcomes, o.Outcome) < slices.Index(outcomes, t.Outcome) {
		t.Outcome, t.Reason = o.Outcome, o.Reason
	}
}

// judge looks at one run.
func (row *Row) judge(run *Report, op string, bound float64) Target {
	t := Target{Name: row.Label, Op: op, Bound: bound, Unit: "1", Values: []float64{math.NaN()}, Outcome: NotMeasured}
	c := row.cell(run)
	if c == nil || math.IsNaN(c.vals[0]) || math.IsInf(c.vals[0], 0) {
		t.Reason = row.missing(run, c)
		return t
	}
	v := c.vals[0]
	t.Unit, t.Values[0] = c.unit, v
	if op == "<=" && v <= bound || op == ">=" && v >= bound || op == "==" && v == bound {
		t.Outcome = Pass
		return t
	}
	if noise := run.Host.noise(); noise != "" && row.noisy(run, c) {
		t.Outcome, t.Reason = NotJudged, "noise: "+noise
		return t
	}
	t.Outcome, t.Reason = Fail, "by "+formatValue(math.Abs(v-bound), c.unit, row.Unit)
	return t
}

// noisy tells whether others on the machine can have stretched the number.
func (row *Row) noisy(run *Report, c *cell) bool {
	if row.Value != nil {
		return c.unit == "s" || strings.HasSuffix(c.unit, "/s")
	}
	f := find(run.Part(row.Part), &selector{row.Metric, row.Attrs, row.Match})
	return classOf(f.desc, c.stats[0]) == classDuration
}

// missing says why there is no number: what the probe said, if it said anything.
func (row *Row) missing(run *Report, c *cell) string {
	part := run.Part(row.Part)
	switch {
	case part == nil:
		return fmt.Sprintf("there is no part %q", row.Part)
	case row.Value != nil:
		return "it could not be computed"
	case c != nil && c.dist && c.n > 0:
		return fmt.Sprintf("%d values are too few for %s", c.n, c.stats[0])
	}
	for _, a := range part.reading.Absent {
		if row.Metric == a.Name || strings.HasPrefix(row.Metric, a.Name+".") {
			return a.Reason
		}
	}
	if c != nil {
		return row.Metric + " has no value"
	}
	return "there is no " + row.Metric
}

// allTargets are the report's own, those of its parts under their names, and
// those of its runs, each once for all of them.
func (r *Report) allTargets() []Target {
	all := slices.Clone(r.Targets)
	for _, p := range r.Parts {
		for _, t := range p.allTargets() {
			t.Name = p.Name + ": " + t.Name
			all = append(all, t)
		}
	}
	if len(r.Runs) == 0 {
		return all
	}
	own := len(all)
	for _, run := range r.counted() {
		for _, t := range run.allTargets() {
			same := func(o Target) bool { return o.Name == t.Name && o.Op == t.Op && o.Bound == t.Bound }
			if i := slices.IndexFunc(all[own:], same); i >= 0 {
				all[own+i].join(&t)
				continue
			}
			all = append(all, t)
		}
	}
	return all
}

var opText = map[string]string{"<=": "≤ ", ">=": "≥ ", "==": "= "}

// target puts the report's targets into the grid that a report begins with.
func (g *grid) target(r *Report) {
	all := r.allTargets()
	if len(all) == 0 {
		return
	}
	g.head, g.left = []string{"target", "bound", "value", "outcome", "why"}, []bool{true, false, false, true, true}
	for _, t := range all {
		row := []string{t.Name, "", "", string(t.Outcome), t.Reason}
		if t.Op != "" {
			row[1] = opText[t.Op] + formatValue(t.Bound, t.Unit, "")
			row[2] = formatRuns(single(t.Values), t.Unit, "")
		}
		g.rows = append(g.rows, row)
	}
	g.dropEmpty()
}

// single makes a run of each value.
func single(vs []float64) [][]float64 {
	runs := make([][]float64, len(vs))
	for i, v := range vs {
		runs[i] = []float64{v}
	}
	return runs
}

// targetsFile converts targets; nil for none.
func targetsFile(ts []Target) []fileTarget {
	var fs []fileTarget
	for _, t := range ts {
		f := fileTarget{Name: t.Name, Op: t.Op, Outcome: string(t.Outcome), Reason: t.Reason}
		if t.Op != "" {
			f.Unit, _ = fileUnit(t.Unit)
			f.Bound = toFile(t.Bound, t.Unit)
			for _, v := range t.Values {
				f.Values = append(f.Values, toFile(v, t.Unit))
			}
		}
		fs = append(fs, f)
	}
	return fs
}

// readTarget is its inverse.
func (r *Report) readTarget(f *fileTarget) error {
	switch {
	case f.Name == "":
		return at("name", errors.New("missing"))
	case !slices.Contains(outcomes, Outcome(f.Outcome)):
		return at("outcome", fmt.Errorf("%q is none", f.Outcome))
	case f.Op != "" && opText[f.Op] == "":
		return at("op", fmt.Errorf("%q is none", f.Op))
	case (f.Op == "") != (f.Bound == nil):
		return at("bound", fmt.Errorf("has no use without op, nor op %q without it", f.Op))
	case f.Op != "" && (f.Unit == "" || f.Unit == "s"):
		return at("unit", fmt.Errorf("%q, where times are in ns", f.Unit))
	}
	t := Target{Name: f.Name, Op: f.Op, Outcome: Outcome(f.Outcome), Reason: f.Reason}
	if f.Op != "" {
		t.Unit, _ = memoryUnit(f.Unit)
		t.Bound = f.Bound.read(f.Unit)
		for _, v := range f.Values {
			t.Values = append(t.Values, v.read(f.Unit))
		}
	}
	r.Targets = append(r.Targets, t)
	return nil
}
