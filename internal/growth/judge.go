package growth

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// A Verdict is what is known of how a time grows.
type Verdict int

// The verdicts.
const (
	Unjudged Verdict = iota // nothing can be said, for the reason in Result.Why
	Within                  // no faster than the bound
	Exceeds                 // faster
	Unclear                 // the interval holds both
)

// A share of the time at the largest size is an excess from shareWithin on, if the
// interval lies over shareExceeds; it is none if all the interval lies below
// shareWithin. A fit of n log n gives work that is linear with 30 % quadratic a
// share of 15 %, since it bends a little itself: what lies there may go either way.
const (
	shareExceeds = 0.15
	shareWithin  = 0.25
)

const (
	resamples = 400
	tail      = 0.005 // of the interval, on each side: 99 %
)

// undisturbed is the share of the rounds, the fastest, that say what an operation takes.
//
// On a machine shared with others a sample of half a millisecond has a spread of 20 to
// 45 %: a thread is as fast as what runs on the other half of its core lets it, and
// the one beside it changes by the millisecond. Others only ever add, and how slow the
// slow ones are says nothing of the operation.
//
// Note: medians relative to the mean of the round follow the machine's speed by the
// second, and wander with the share of slow samples where it changes within a round:
// of half a quadratic part beside two processes that compute they found 87 % (500
// checks), where the fastest tenth misses next to none. The one least time rests on a
// single sample.
const undisturbed = 0.1

// A table is the times of some rounds by size, the least first.
type table [][]entry

// An entry is the logarithm of a time, and the round that it is from.
type entry struct {
	log   float64
	round int
}

func newTable(times [][]float64) table {
	t := make(table, len(times[0]))
	for r, round := range times {
		for i, x := range round {
			t[i] = append(t[i], entry{math.Log(x), r})
		}
	}
	for _, column := range t {
		slices.SortFunc(column, func(a, b entry) int { return cmp.Compare(a.log, b.log) })
	}
	return t
}

// fastest is the geometric mean of the fastest tenth of each size, at least one, over
// rounds of which each counts as often as weights says.
func (t table) fastest(weights []int) []float64 {
	total := 0
	for _, w := range weights {
		total += w
	}
	want := max(1, int(undisturbed*float64(total)))
	times := make([]float64, len(t))
	for i, column := range t {
		sum, left := 0.0, want
		for _, e := range column {
			n := min(weights[e.round], left)
			sum += float64(n) * e.log
			if left -= n; left == 0 {
				break
			}
		}
		times[i] = math.Exp(sum / float64(want))
	}
	return times
}

// calm reports whether the samples of each size hardly differ: the middle one is less
// than 5 % over the least. A few rounds then say what many would.
func (t table) calm() bool {
	for _, column := range t {
		if column[len(column)/2].log-column[0].log > 0.05 {
			return false
		}
	}
	return true
}

// judge says within which bounds the excess share lies if the rounds had been
// others: it is fitted again to rounds that are drawn from them, whole, since what
// else the machine did in one falls on all its sizes.
func (r *Result) judge(m model, t table) {
	r.Share = m.excess(r.Times)
	random := rand.New(rand.NewPCG(uint64(r.Rounds), 1)) // the same times, the same verdict
	shares := make([]float64, resamples)
	weights := make([]int, r.Rounds)
	for i := range shares {
		clear(weights)
		for range weights {
			weights[random.IntN(r.Rounds)]++
		}
		shares[i] = m.excess(t.fastest(weights))
	}
	slices.Sort(shares)
	cut := int(tail * resamples)
	r.Low, r.High = min(shares[cut], r.Share), max(shares[resamples-1-cut], r.Share)
	switch {
	case r.High < shareWithin:
		r.Verdict = Within
	case r.Low > shareExceeds && r.Share >= shareWithin:
		r.Verdict = Exceeds
	default:
		r.Verdict = Unclear
	}
}

// slope is the exponent of n that fits best, by least squares on logarithms.
func slope(sizes []int, times []float64) float64 {
	var sx, sy, sxx, sxy float64
	for i, n := range sizes {
		x, y := math.Log(float64(n)), math.Log(times[i])
		sx, sy, sxx, sxy = sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	k := float64(len(sizes))
	return (k*sxy - sx*sy) / (k*sxx - sx*sx)
}
