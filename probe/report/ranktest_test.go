package report

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// TestRankTest has p values of published tables and of all deals counted one by
// one.
func TestRankTest(t *testing.T) {
	for _, tt := range []struct {
		a, b []float64
		want float64
	}{
		{[]float64{1, 2, 3, 4, 5}, []float64{6, 7, 8, 9, 10}, 2.0 / 252},
		{[]float64{1, 2, 3, 4, 6}, []float64{5, 7, 8, 9, 10}, 4.0 / 252},
		{[]float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}, 2.0 / 70},
		{[]float64{6, 7, 8, 9, 10}, []float64{1, 2, 3, 4, 5}, 2.0 / 252},
		{[]float64{1, 1, 1}, []float64{1, 1, 1}, 1},
		{[]float64{1, 1, 1, 1, 1}, []float64{2, 2, 2, 2, 2}, 2.0 / 252},
		{nil, []float64{1}, 1},
		{[]float64{1}, []float64{2}, 1},
	} {
		if got := rankTest(tt.a, tt.b); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("rankTest(%v, %v) = %v, want %v", tt.a, tt.b, got, tt.want)
		}
	}
}

// TestRankTestCountsDeals compares with a count over all deals, with ties.
func TestRankTestCountsDeals(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		nA, nB := 1+rng.IntN(6), 1+rng.IntN(6)
		all := make([]float64, nA+nB)
		for i := range all {
			all[i] = float64(rng.IntN(8)) // ties are common
		}
		if got, want := rankTest(all[:nA], all[nA:]), countDeals(all, nA); math.Abs(got-want) > 1e-12 {
			t.Fatalf("rankTest(%v, %v) = %v, want %v", all[:nA], all[nA:], got, want)
		}
	}
}

// countDeals is the definition of the p value: every way to choose n of all.
func countDeals(all []float64, n int) float64 {
	above := func(mask int) (u float64) { // Mann and Whitney's U
		for i := range all {
			for k := range all {
				if mask>>i&1 == 1 && mask>>k&1 == 0 {
					switch {
					case all[i] > all[k]:
						u++
					case all[i] == all[k]:
						u += 0.5
					}
				}
			}
		}
		return u
	}
	own := above(1<<n - 1)
	var deals, low, high float64
	for mask := range 1 << len(all) {
		if bits.OnesCount(uint(mask)) != n {
			continue
		}
		deals++
		if u := above(mask); u <= own {
			low++
		}
		if u := above(mask); u >= own {
			high++
		}
	}
	return min(1, 2*min(low, high)/deals)
}

// The approximation for many values joins on to the count.
func TestNormalTest(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		a, b := make([]float64, 20), make([]float64, 20)
		for i := range a {
			a[i], b[i] = float64(rng.IntN(60)), float64(rng.IntN(60)+8)
		}
		ranks, sum := doubledRanks(a, b)
		exact, normal := dealTest(ranks, 20, sum), normalTest(ranks, 20, sum)
		if math.Abs(exact-normal) > 0.01 {
			t.Errorf("by counting %v, by the approximation %v", exact, normal)
		}
	}
	same := make([]float64, 30)
	if got := rankTest(same, same); got != 1 {
		t.Errorf("of equal values: got %v, want 1", got)
	}
}

func TestLeastP(t *testing.T) {
	for _, tt := range []struct {
		a, b int
		want float64
	}{{5, 5, 2.0 / 252}, {4, 4, 2.0 / 70}, {4, 5, 2.0 / 126}, {1, 1, 1}, {3, 3, 0.1}} {
		if got := leastP(tt.a, tt.b); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("leastP(%d, %d) = %v, want %v", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestShift(t *testing.T) {
	for _, tt := range []struct {
		before, after []float64
		want          float64
	}{
		{[]float64{10}, []float64{11}, 0.1},
		{[]float64{10, 10, 1000}, []float64{12, 12, 12}, 0.2}, // one run that went wrong
		{[]float64{0}, []float64{0}, 0},
		{[]float64{0, 0}, []float64{5, 5}, math.Inf(1)},
		{[]float64{4}, []float64{0}, -1},
		{[]float64{-2}, []float64{-1}, 0.5},
	} {
		if got := shift(tt.before, tt.after); math.Abs(got-tt.want) > 1e-9 && got != tt.want {
			t.Errorf("shift(%v, %v) = %v, want %v", tt.before, tt.after, got, tt.want)
		}
	}
}
