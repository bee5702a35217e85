package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// A judge knows what holds for all numbers of a comparison.
type judge struct {
	opts          CompareOptions
	before, after []*Report     // the runs that count
	data          [2]Conditions // of before and after
	conditions    string        // why nothing is comparable, ""
	apart         bool          // the runs were not interleaved
	loud          string        // why the machine was not quiet in one of the runs, ""
	tested        int           // numbers that the rank test has judged
}

func newJudge(before, after *Report, opts CompareOptions) *judge {
	if opts.Alpha == 0 {
		opts.Alpha = 0.02
	}
	j := &judge{opts: opts, before: before.counted(), after: after.counted()}
	j.data = [2]Conditions{countedConditions(before), countedConditions(after)}
	j.conditions, _ = j.conditionsDiffer()
	j.apart = !interleaved(j.before, j.after)
	for _, r := range slices.Concat(j.before, j.after) {
		if n := r.Host.noise(); n != "" && j.loud == "" {
			j.loud = n
		}
	}
	return j
}

// interleaved tells whether the runs of the two sides took turns in time. Half
// as many changes of side as the smaller side has runs will do (A B B A A B B A
// has a change for every second run).
func interleaved(before, after []*Report) bool {
	type turn struct {
		at     time.Time
		before bool
	}
	var turns []turn
	for _, r := range before {
		turns = append(turns, turn{r.Started, true})
	}
	for _, r := range after {
		turns = append(turns, turn{r.Started, false})
	}
	slices.SortStableFunc(turns, func(a, b turn) int { return a.at.Compare(b.at) })
	switches := 0
	for i := 1; i < len(turns); i++ {
		if turns[i].before != turns[i-1].before {
			switches++
		}
	}
	return 2*switches >= min(len(before), len(after))
}

// floor is the relative change that does not matter.
func (j *judge) floor(c class) float64 {
	switch {
	case j.opts.Floor > 0:
		return j.opts.Floor
	case c == classMemory || c == classDuration:
		return 0.10
	}
	return 0.05
}

// judge gives the verdict on one number.
func (j *judge) judge(c *Change, t *track) {
	c.Shift, c.P = math.NaN(), math.NaN()
	if why := j.incomparable(c, t); why != "" {
		c.Verdict, c.Reason = NotComparable, why
		return
	}
	c.Shift = shift(c.Before, c.After)
	if c.total && !j.opts.SameWork && c.Shift != 0 {
		c.Verdict, c.Reason = Unclear, "a total, and the reports do not say for how many operations"
		return
	}
	if c.class == classExact {
		why := j.unsteady(c, t)
		if why == "" {
			c.exactly()
			return
		}
		c.class, c.varies, c.Reason = classCount, true, why+"; "
	}
	c.statistically(j)
	c.Reason = strings.TrimSuffix(c.Reason, "; ")
	if s := t.saturation(); s != "" && c.class == classDuration {
		c.Reason = strings.TrimPrefix(c.Reason+"; "+s, "; ")
	}
}

// incomparable says why the two sides are not of the same thing, "" if they are.
func (j *judge) incomparable(c *Change, t *track) string {
	switch {
	case j.conditions != "":
		return j.conditions
	case len(j.before) == 0 || len(j.after) == 0:
		return "no run of one side counts"
	}
	n := len(j.before)
	switch b, a := t.present(0, n), t.present(n, len(t.in)); {
	case b == 0:
		return "only in after"
	case a == 0:
		return "only in before"
	case len(c.Before) == 0 && len(c.After) == 0:
		return "too few values for " + c.Stat
	case len(c.Before) == 0:
		return "too few values for " + c.Stat + " in before"
	case len(c.After) == 0:
		return "too few values for " + c.Stat + " in after"
	}
	if c.class == classExact {
		return ""
	}
	if why := t.provenanceDiffers(); why != "" || c.class != classDuration {
		return why
	}
	return t.offersDiffer()
}

// present counts the runs from i to k that have the series.
func (t *track) present(i, k int) (n int) {
	for _, m := range t.in[i:k] {
		if m != nil {
			n++
		}
	}
	return n
}

// unsteady says why a count that should repeat exactly evidently does not, "" if
// it does. A mean over operations is exact only if every one had the same.
func (j *judge) unsteady(c *Change, t *track) string {
	for i, m := range t.in {
		if m != nil && m.Dist != nil && c.Stat == "mean" && float64(m.Dist.Sum()) != float64(m.Dist.Max())*float64(m.Dist.Count()) {
			return "varies between the operations of " + j.side(i)
		}
	}
	for i, vs := range [][]float64{c.Before, c.After} {
		for _, v := range vs {
			if v != vs[0] {
				return "varies between the runs of " + j.side(i*len(j.before))
			}
			if c.PerOp && v != math.Trunc(v) {
				return "is not whole per operation"
			}
		}
	}
	return ""
}

// side names the side of a run.
func (j *judge) side(run int) string {
	if run < len(j.before) {
		return "before"
	}
	return "after"
}

// exactly judges a count that repeats.
func (c *Change) exactly() {
	if c.Before[0] == c.After[0] {
		c.Verdict = Same
		return
	}
	c.Verdict, c.Reason = c.direction(c.After[0]-c.Before[0]), "counted exactly"
	if c.Verdict == Unclear {
		c.Reason += ", " + noDirection
	}
}

const noDirection = "but nothing says which direction is better"

// direction is what a change by that sign means.
func (c *Change) direction(by float64) Verdict {
	switch {
	case c.Better != "lower" && c.Better != "higher":
		return Unclear
	case (by < 0) == (c.Better == "lower"):
		return Improved
	}
	return Worse
}

// statistically judges a number that changes by itself.
func (c *Change) statistically(j *judge) {
	floor := j.floor(c.class)
	if c.Shift == 0 || math.Abs(c.Shift) <= floor {
		c.Verdict = Same
		if c.Shift != 0 {
			c.Reason += fmt.Sprintf("by less than %.3g %%", 100*floor)
		}
		return
	}
	if leastP(len(c.Before), len(c.After)) >= j.opts.Alpha {
		c.fewRuns(j)
		return
	}
	c.P = rankTest(c.Before, c.After)
	j.tested++
	switch {
	case c.P >= j.opts.Alpha:
		c.Verdict = Unclear
		c.Reason += fmt.Sprintf("p = %.2g: it may be chance", c.P)
	case j.apart && (c.class == classCPU || c.class == classDuration):
		c.Verdict = Unclear
		c.Reason += "the runs were not interleaved, so that it may be the machine's drift"
	default:
		c.decide(fmt.Sprintf("p = %.2g", c.P))
	}
}

// decide calls the change worse or improved.
func (c *Change) decide(why string) {
	c.Verdict = c.direction(c.Shift)
	c.Reason += why
	if c.Verdict == Unclear {
		c.Reason += ", " + noDirection
	}
}

// fewCounted is a total so small that it doubles by chance.
const fewCounted = 20

// fewRuns judges where no test can: by the floor what repeats well, and only
// what at least doubled of what does not.
func (c *Change) fewRuns(j *judge) {
	overlap := slices.Max(c.Before) >= slices.Min(c.After) && slices.Max(c.After) >= slices.Min(c.Before)
	large := c.Shift >= 1 || c.Shift <= -0.5
	loose := c.varies || c.class == classMemory || c.class == classDuration
	switch {
	case c.varies && c.total && max(slices.Max(c.Before), slices.Max(c.After)) < fewCounted:
		c.unclear("few were counted", j)
	case overlap:
		c.unclear("the runs of the two sides overlap", j)
	case c.class != classCount && j.loud != "":
		c.unclear("noise: "+j.loud, j)
	case loose && !large:
		c.unclear("unrepeated", j)
	case large:
		c.decide("large, unrepeated")
	default:
		c.decide("unrepeated")
	}
}

// unclear says how many runs would tell.
func (c *Change) unclear(why string, j *judge) {
	n := 2
	for leastP(n, n) >= j.opts.Alpha && n < 100 {
		n++
	}
	c.Verdict = Unclear
	c.Reason += fmt.Sprintf("%s; %d interleaved runs a side can tell", why, n)
}
