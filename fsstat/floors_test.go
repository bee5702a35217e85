//go:build !race && (amd64 || arm64) && !tidestaff_nofp

package fsstat

import (
	"math"
	"os"
	"testing"

	"github.com/tidestaff/tidestaff/probe"
)

// TestFloors holds what a watched ReadAt costs beside its system call to a
// multiple of the floor: two readings of the clock and a record, which is what
// nothing that times can do without. Times are compared with times of the same
// milliseconds, the least of many short turns of each, so that the machine's
// other work falls out; the test ends as soon as they fit. The limits are twice
// the targets: a neighbour on the same core slows the code down, but not the
// clock.
func TestFloors(t *testing.T) {
	for _, tc := range []struct {
		name    string
		options Options
		limit   float64
	}{
		{"counts", Options{TimeEvery: -1}, 2 * 0.71}, // target: 40 ns where the floor is 56
		{"timed", Options{}, 2 * 2.14},               // target: 120 ns there
	} {
		p := New(tc.options)
		watch(t, p)
		f := must[*File](t)(p.As("test").OpenFile(tempFile(t, 4096), os.O_RDONLY, 0))
		defer f.Close()
		var r probe.Recorder
		least := leastTimes(400, func() {
			start := probe.Now()
			r.RecordShard(0, probe.Now()-start)
		}, func() {
			c, pass := f.open().beginRead(f.File)
			c.end()
			c.moved(in, 4096, nil)
			pass.read(c.tally, 0, 4096)
		})
		best := math.Inf(1)
		for turns := 0; turns < 2000 && best > tc.limit; turns++ {
			now := least()
			best = now[1] / now[0]
		}
		if best > tc.limit {
			t.Errorf("%s: got %.2f floors, want at most %.2f", tc.name, best, tc.limit)
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
