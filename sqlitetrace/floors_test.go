//go:build !race && (amd64 || arm64) && !tidestaff_nofp

package sqlitetrace_test

import (
	"context"
	"math"
	"testing"

	"github.com/tidestaff/tidestaff/probe"
)

// TestFloors holds what a watched Exec costs over the bare driver to a multiple
// of the floor: two readings of the clock and a record, which is what no wrapper
// that measures can do without. Times are compared with times of the same
// milliseconds, the least of many short turns of each, so that the machine's
// other work falls out; the test ends as soon as they fit. The limits are twice
// the targets: a neighbour on the same core slows the code down, but not the
// clock. The bench files have the cost itself.
func TestFloors(t *testing.T) {
	for _, tc := range []struct {
		name  string
		ctx   context.Context
		limit float64
	}{
		{"labelled", labelled("(*Store).Put"), 2 * 2.2}, // target: 125 ns where the floor is 56
		{"automatic", context.Background(), 2 * 3.55},   // target: 200 ns there
	} {
		bare, wrapped := setup(t, false, false), setup(t, true, true)
		var r probe.Recorder
		least := leastTimes(400, func() {
			start := probe.Now()
			r.RecordShard(0, probe.Now()-start)
		}, func() { bare.ExecContext(tc.ctx, "plain") }, func() { wrapped.ExecContext(tc.ctx, "plain") })
		over := func(least []float64) float64 { return (least[2] - least[1]) / least[0] }
		best := math.Inf(1)
		for turns := 0; turns < 2000 && best > tc.limit; turns++ {
			best = over(least())
		}
		if best > tc.limit {
			t.Errorf("%s: got %.2f floors over the bare driver, want at most %.2f", tc.name, best, tc.limit)
		}
	}
}

// leastTimes gives a function that takes one more turn of each operation, n
// times over, and returns the least time of each so far, in nanoseconds.
func leastTimes(n int, ops ...func()) func() []float64 {
	least := make([]float64, len(ops))
	for i := range least {
		least[i] = math.Inf(1)
	}
	return func() []float64 {
		for i, op := range ops {
			start := probe.Now()
			for range n {
				op()
			}
			least[i] = min(least[i], float64(probe.Now()-start)/float64(n))
		}
		return least
	}
}
