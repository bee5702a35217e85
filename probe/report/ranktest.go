package report

import (
	"cmp"
	"math"
	"slices"
)

// mostExact is how many values the rank test takes by counting all arrangements.
// Beyond it the normal approximation is off by less than matters.
const mostExact = 40

// rankTest is the two-sided p value of the Mann-Whitney U test: how likely it is
// that values of one kind, dealt into two sides at random, would lie at least as
// far apart as these do, doubled because either side may be the higher one. It
// asks nothing of how the values are distributed, which latencies would not
// grant. Equal values share their ranks; the p value is exact with them as well,
// because what is counted are the deals of these very ranks. It is 1 if a side
// is empty.
func rankTest(a, b []float64) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 1
	}
	ranks, sum := doubledRanks(a, b)
	if len(ranks) > mostExact {
		return normalTest(ranks, len(a), sum)
	}
	return dealTest(ranks, len(a), sum)
}

// doubledRanks ranks all values from 1 and doubles the ranks, so that the mean
// of equal ones is whole. sum is of those of a.
func doubledRanks(a, b []float64) (ranks []int, sum int) {
	type value struct {
		v   float64
		ofA bool
	}
	var all []value
	for _, v := range a {
		all = append(all, value{v, true})
	}
	for _, v := range b {
		all = append(all, value{v, false})
	}
	slices.SortFunc(all, func(x, y value) int { return cmp.Compare(x.v, y.v) })
	for i := 0; i < len(all); {
		j := i
		for j < len(all) && all[j].v == all[i].v {
			j++
		}
		for _, x := range all[i:j] {
			rank := i + 1 + j // twice the mean of i+1 to j
			ranks = append(ranks, rank)
			if x.ofA {
				sum += rank
			}
		}
		i = j
	}
	return ranks, sum
}

// dealTest counts, for every sum, the ways to choose n of the ranks.
func dealTest(ranks []int, n, sum int) float64 {
	total := 0
	for _, r := range ranks {
		total += r
	}
	ways := make([][]float64, n+1) // ways[k][s]: k ranks with the sum s
	for k := range ways {
		ways[k] = make([]float64, total+1)
	}
	ways[0][0] = 1
	for _, r := range ranks {
		for k := n; k > 0; k-- {
			for s := total; s >= r; s-- {
				ways[k][s] += ways[k-1][s-r]
			}
		}
	}
	var all, low, high float64
	for s, w := range ways[n] {
		all += w
		if s <= sum {
			low += w
		}
		if s >= sum {
			high += w
		}
	}
	return min(1, 2*min(low, high)/all)
}

// normalTest is the approximation for many values, with the corrections for
// continuity and for ties.
func normalTest(ranks []int, n int, sum int) float64 {
	N, nA := float64(len(ranks)), float64(n)
	nB := N - nA
	var ties float64
	for i := 0; i < len(ranks); {
		j := i
		for j < len(ranks) && ranks[j] == ranks[i] {
			j++
		}
		t := float64(j - i)
		ties += t*t*t - t
		i = j
	}
	variance := nA * nB / 12 * (N + 1 - ties/(N*(N-1)))
	if variance <= 0 {
		return 1 // all values are equal
	}
	distance := math.Abs(float64(sum)/2-nA*(N+1)/2) - 0.5
	if distance <= 0 {
		return 1
	}
	return math.Erfc(distance / math.Sqrt(variance) / math.Sqrt2)
}

// leastP is the smallest p value that so many runs can have: with all values of
// one side above all of the other.
func leastP(nA, nB int) float64 {
	p := 2.0
	for i := 1; i <= nA; i++ {
		p *= float64(i) / float64(nB+i)
	}
	return min(1, p)
}

// shift is by what share of before the values of after lie higher: the median
// over all pairs (Hodges and Lehmann), which a single run that went wrong does
// not move. It works on ratios where all values are positive, and else on
// differences over the median of before; it is infinite if that is zero and they
// differ.
func shift(before, after []float64) float64 {
	positive := func(vs []float64) bool { return slices.Min(vs) > 0 }
	logs := positive(before) && positive(after)
	var pairs []float64
	for _, b := range before {
		for _, a := range after {
			if logs {
				pairs = append(pairs, math.Log(a)-math.Log(b))
				continue
			}
			pairs = append(pairs, a-b)
		}
	}
	m := median(pairs)
	switch base := math.Abs(median(before)); {
	case logs:
		return math.Expm1(m)
	case m == 0:
		return 0
	default:
		return m / base
	}
}
