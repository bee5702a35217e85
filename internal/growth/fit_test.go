package growth

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

var testSizes = []int{625, 1_250, 2_500, 5_000, 10_000}

// mixed is the time at each size of work that has parts of several orders, given
// by their share of the time at the largest size, which is 1 ms.
func mixed(sizes []int, constant, linear, nlogn, quadratic float64) []float64 {
	last := float64(sizes[len(sizes)-1])
	var times []float64
	for _, n := range sizes {
		x := float64(n) / last
		times = append(times, 1e6*(constant+linear*x+nlogn*NLogN.at(n)/NLogN.at(int(last))+quadratic*x*x))
	}
	return times
}

// TestFitFinds: what is a sum of the model's terms is found exactly, whatever the
// bound.
func TestFitFinds(t *testing.T) {
	for o := range orders {
		m := newModel(o, testSizes)
		for _, want := range [][terms]float64{{3, 2, 5}, {0, 2, 1}, {1, 0, 4}, {0, 0, 7}, {4, 0, 0}, {1, 6, 0}} {
			if !m.terms[1] {
				want[1] = 0
			}
			times := make([]float64, len(testSizes))
			for i, row := range m.rows {
				for j := range terms {
					times[i] += row[j] * want[j]
				}
			}
			got := m.fit(times)
			for j := range terms {
				if math.Abs(got[j]-want[j]) > 1e-6 {
					t.Errorf("%v: got %v, want %v", o, got, want)
					break
				}
			}
		}
	}
}

// TestFitIsTheBest: at the least squares without negative terms, no term can be
// changed for a smaller error: the slope by each is zero, or not below zero at a
// term that is zero.
func TestFitIsTheBest(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	zeros := 0
	for range 2000 {
		m := newModel(Order(random.IntN(len(orders))), testSizes)
		times := make([]float64, len(testSizes))
		for i := range times {
			times[i] = math.Exp(3 * random.NormFloat64())
		}
		x := m.fit(times)
		for j := range terms {
			slope := 0.0
			for i, row := range m.rows {
				slope += row[j] / times[i] * ((row[0]*x[0]+row[1]*x[1]+row[2]*x[2])/times[i] - 1)
			}
			switch scale := 1 + 1/(times[0]*times[0]); {
			case !m.terms[j] && x[j] == 0:
			case x[j] < 0, x[j] > 0 && math.Abs(slope) > 1e-6*scale, slope < -1e-6*scale:
				t.Fatalf("times %v: term %d of %v can be made better: slope %v", times, j, x, slope)
			case x[j] == 0:
				zeros++
			}
		}
	}
	if zeros == 0 {
		t.Error("no term was ever zero: the test is too weak")
	}
}

// TestExcess: the share that the part above the bound has.
func TestExcess(t *testing.T) {
	for _, tt := range []struct {
		bound    Order
		times    []float64
		low, top float64
	}{
		{NLogN, mixed(testSizes, 0, 1, 0, 0), 0, 0},
		{NLogN, mixed(testSizes, 0.5, 0.5, 0, 0), 0, 0},
		{NLogN, mixed(testSizes, 0, 0, 1, 0), 0, 1e-9},
		{NLogN, mixed(testSizes, 1, 0, 0, 0), 0, 0},
		{NLogN, mixed(testSizes, 0, 0.5, 0, 0.5), 0.35, 0.4},
		{NLogN, mixed(testSizes, 0.5, 0, 0, 0.5), 0.44, 0.5},
		{NLogN, mixed(testSizes, 0, 0, 0, 1), 0.95, 1},
		{Linear, mixed(testSizes, 0.2, 0.3, 0, 0.5), 0.499, 0.501},
		{Linear, mixed(testSizes, 0, 0, 1, 0), 0.25, 0.35},
		{Constant, mixed(testSizes, 0.4, 0.6, 0, 0), 0.599, 0.601},
		{Constant, mixed(testSizes, 1, 0, 0, 0), 0, 1e-9},
		{Quadratic, mixed(testSizes, 0, 0, 0, 1), 0, 1e-9},
	} {
		t.Run(fmt.Sprint(tt.bound), func(t *testing.T) {
			if got := newModel(tt.bound, testSizes).excess(tt.times); got < tt.low || got > tt.top {
				t.Errorf("%v: got %v, want %v to %v", tt.times, got, tt.low, tt.top)
			}
		})
	}
}
