package sqlitetrace

import (
	"math"
	"testing"
)

// run steps n times; step i takes cost(i) nanoseconds.
func (t *stepTimer) run(n int64, cost func(int64) int64) (timed, truth int64) {
	for i := range n {
		truth += cost(i)
		if t.step() {
			timed++
			t.took(cost(i))
		}
	}
	return timed, truth
}

// TestStepsExact wants short queries to be exact.
func TestStepsExact(t *testing.T) {
	for n := range int64(exactSteps + 2) { // up to the first sample, which is always a sample
		timer := newStepTimer(RowTimingSampled, 1)
		timed, truth := timer.run(n, func(i int64) int64 { return 1 + i*i })
		if got := timer.estimate(); got != truth || timed != n || timer.scaled() != 0 {
			t.Errorf("%d steps: got %d ns from %d timed, %d of them scaled, want %d from all", n, got, timed, timer.scaled(), truth)
		}
	}
}

// TestStepsSampled wants an estimate within 5 % of the truth over 100,000 rows,
// at a 32nd of the clock reads, also where costs repeat with the stride (a
// fixed place in it would see the dear steps always or never).
func TestStepsSampled(t *testing.T) {
	const n = 100_000
	for name, cost := range map[string]func(int64) int64{
		"even":       func(int64) int64 { return 300 },
		"sort first": func(i int64) int64 { return 300 + 12_000_000*max(0, 1-i) },
		"growing":    func(i int64) int64 { return 100 + i/100 },
		"periodic":   func(i int64) int64 { return 200 + 800*max(0, 1-i%stepStride) },
		"pages":      func(i int64) int64 { return 250 + 1000*max(0, 1-i%37) },
	} {
		for seed := range uint32(20) {
			timer := newStepTimer(RowTimingSampled, seed*0x9E3779B9)
			timed, truth := timer.run(n, cost)
			if got := timer.estimate(); math.Abs(float64(got-truth)) > 0.05*float64(truth) {
				t.Errorf("%s, seed %d: got %d ns, want %d within 5 %%", name, seed, got, truth)
			}
			if got := timer.scaled(); got != timed-exactSteps {
				t.Errorf("%s, seed %d: got %d samples, want %d", name, seed, got, timed-exactSteps)
			}
			if timed < n/stepStride*9/10 || timed > n/stepStride*11/10 {
				t.Errorf("%s, seed %d: timed %d steps, want about %d", name, seed, timed, n/stepStride)
			}
		}
	}
}

// TestStepsMore adds what a row's columns cost to the step that is timed.
func TestStepsMore(t *testing.T) {
	timer := newStepTimer(RowTimingSampled, 1)
	for range 20 {
		if timer.step() {
			timer.took(1)
			timer.more(10)
		}
	}
	if got := timer.estimate(); got != 20*11 {
		t.Errorf("got %d ns, want %d", got, 20*11)
	}
}
