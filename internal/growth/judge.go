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
	tail      = 0.025 // of the interval, on each side: 95 %
)

// A table is the times of some rounds, each relative to its round: logarithms over
// the mean of the round's logarithms.
//
// A machine runs at one speed for seconds and at half of it for others (another
// thread on the same core, a neighbour in the cache), and a round of some
// milliseconds mostly falls within one. So what a round says of the sizes relative
// to each other is worth more than its times.
//
// Note: the least time of each size over the rounds, which is the best estimate
// where noise only adds to single samples, mixes sizes that were measured at
// different speeds. On a busy machine its share spreads wider.
type table struct {
	columns [][]entry // by size, the least first
	speed   float64   // the median of the rounds' means
}

// An entry is a time relative to its round.
type entry struct {
	ratio float64
	round int
}

func newTable(times [][]float64) table {
	t := table{columns: make([][]entry, len(times[0]))}
	var speeds []float64
	for r, round := range times {
		mean := 0.0
		for _, x := range round {
			mean += math.Log(x) / float64(len(round))
		}
		for i, x := range round {
			t.columns[i] = append(t.columns[i], entry{math.Log(x) - mean, r})
		}
		speeds = append(speeds, mean)
	}
	for _, column := range t.columns {
		slices.SortFunc(column, func(a, b entry) int { return cmp.Compare(a.ratio, b.ratio) })
	}
	slices.Sort(speeds)
	t.speed = (speeds[(len(speeds)-1)/2] + speeds[len(speeds)/2]) / 2
	return t
}

// typical is the median time of each size, over rounds of which each counts as
// often as weights says, at the median speed.
func (t table) typical(weights []int) []float64 {
	total := 0
	for _, w := range weights {
		total += w
	}
	times := make([]float64, len(t.columns))
	for i, column := range t.columns {
		seen, low := 0, math.NaN()
		for _, e := range column {
			seen += weights[e.round]
			if seen > (total-1)/2 && math.IsNaN(low) {
				low = e.ratio
			}
			if seen > total/2 {
				times[i] = math.Exp((low+e.ratio)/2 + t.speed)
				break
			}
		}
	}
	return times
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
		shares[i] = m.excess(t.typical(weights))
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
