package growth

import (
	"fmt"
	"math"
	"slices"
)

// fewRounds is how many rounds there must be for a verdict.
const fewRounds = 5

// A Result is what a check has found.
type Result struct {
	Verdict Verdict
	Why     string // nothing was judged

	Sizes  []int     // those that were measured
	Times  []float64 // the CPU time of an operation at each of them, undisturbed, in ns
	Rounds int
	Calm   bool // the rounds hardly differ

	// Share is the share that the part above the bound has of the time at the
	// largest size, and Low and High are its 99 % interval.
	Share, Low, High float64
	// Superlinear is the share that a fit of c + n + n² gives to n², and
	// SuperlinearBound the one of work that grows exactly as the bound does.
	Superlinear, SuperlinearBound float64
	// Ratio is the time at the largest size over that at the size From, which is
	// nearest to a quarter of it.
	Ratio float64
	From  int
	// Slope is the exponent of n between the least and the largest size that
	// fits best.
	Slope float64

	// Dropped says why larger sizes were left out, "" if none was.
	Dropped string
}

// conclude fills the result in from the CPU times by round and size, which are
// over zero.
func (r *Result) conclude(bound Order, times [][]float64) {
	t := newTable(times)
	r.Rounds, r.Calm, r.Times = len(times), t.calm(), t.fastest(slices.Repeat([]int{1}, len(times)))
	linear, bounds := newModel(Linear, r.Sizes), make([]float64, len(r.Sizes))
	for i, n := range r.Sizes {
		bounds[i] = bound.at(n)
	}
	r.Superlinear, r.SuperlinearBound = linear.excess(r.Times), linear.excess(bounds)
	r.Slope = slope(r.Sizes, r.Times)
	i := quarter(r.Sizes)
	r.From, r.Ratio = r.Sizes[i], r.Times[len(r.Times)-1]/r.Times[i]
	if r.Rounds < fewRounds {
		r.Why = fmt.Sprintf("only %d rounds fitted into the limit, want at least %d", r.Rounds, fewRounds)
		return
	}
	r.judge(newModel(bound, r.Sizes), t)
}

// sure reports whether further rounds are not needed.
func (r *Result) sure() bool {
	return r.Verdict != Unclear && r.Verdict != Unjudged && (r.Calm || r.Rounds >= sureRounds)
}

// quarter is the index of the size that is nearest to a quarter of the largest.
func quarter(sizes []int) int {
	want := float64(sizes[len(sizes)-1]) / 4
	off := func(n int) float64 { return math.Abs(math.Log(float64(n) / want)) }
	best := 0
	for i, n := range sizes {
		if off(n) < off(sizes[best]) {
			best = i
		}
	}
	return best
}
