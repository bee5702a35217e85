package growth

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestOutgrows(t *testing.T) {
	of := func(f func(n float64) float64) []float64 {
		var counts []float64
		for _, n := range testSizes {
			counts = append(counts, math.Ceil(f(float64(n))))
		}
		return counts
	}
	constant := of(func(float64) float64 { return 3 })
	linear := of(func(n float64) float64 { return 2 + n })
	blocks := of(func(n float64) float64 { return n / 64 })
	full := of(func(n float64) float64 { return max(0, n-1000) })
	nlogn := of(func(n float64) float64 { return n * math.Log2(n) })
	quadratic := of(func(n float64) float64 { return 5 + n*n/1e5 })
	mixed := of(func(n float64) float64 { return 1e6 + 10*n + n*n/100 })
	for _, tt := range []struct {
		name   string
		counts []float64
		order  Order
		want   bool
	}{
		{"constant", constant, Constant, false},
		{"one more", []float64{3, 3, 3, 3, 4}, Constant, true},
		{"one fewer", []float64{4, 3, 3, 3, 3}, Constant, true},
		{"linear", linear, Constant, true},
		{"constant", constant, Linear, false},
		{"linear", linear, Linear, false},
		{"blocks", blocks, Linear, false},
		{"a full cache", full, Linear, false},
		{"n log n", nlogn, Linear, true},
		{"quadratic", quadratic, Linear, true},
		{"mixed", mixed, Linear, true},
		{"linear", linear, NLogN, false},
		{"n log n", nlogn, NLogN, false},
		{"quadratic", quadratic, NLogN, true},
		{"mixed", mixed, NLogN, true},
		{"quadratic", quadratic, Quadratic, false},
		{"falling", []float64{9, 7, 5, 3, 1}, Linear, false},
		{"none", []float64{0, 0, 0, 0, 0}, Linear, false},
		{"two sizes", []float64{1, 1000}, Linear, false},
		{"two sizes", []float64{1, 2}, Constant, true},
		{"no sizes", nil, Constant, false},
	} {
		if got := tt.order.Outgrows(testSizes, tt.counts); got != tt.want {
			t.Errorf("%s, at most %v: got %t, want %t: %v", tt.name, tt.order, got, tt.want, tt.counts)
		}
	}
}

// TestOutgrowsBlocks: no linear count in whole blocks is taken for one that grows
// faster, whatever the block and the sizes.
func TestOutgrowsBlocks(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		sizes, counts := make([]int, 4), make([]float64, 4)
		n, block, begun := 0, 1+random.Float64()*500, random.Float64()
		for i := range sizes {
			n += 1 + random.IntN(1000)
			sizes[i], counts[i] = n, math.Floor(float64(n)/block+begun)
		}
		if Linear.Outgrows(sizes, counts) {
			t.Fatalf("sizes %v, blocks of %v: %v is taken for more than linear", sizes, block, counts)
		}
	}
}
