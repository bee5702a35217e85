package sqlitetrace

import "math"

// A RowTiming says how the time of stepping a query's rows is found.
type RowTiming uint8

const (
	// RowTimingSampled times the first 2 steps of a query, and then one at a
	// random place in every 32, scaled.
	RowTimingSampled RowTiming = iota
	// RowTimingExact times every step: two readings of the clock for each row,
	// which add about an eighth to a query of 100 rows on SQLite.
	RowTimingExact
	// RowTimingOff times no step. The time in the driver is then that of the
	// call and the close, and the phases "step" and "idle" are absent.
	RowTimingOff
)

const (
	// exactSteps is how many steps of each query are timed: the first one may
	// hold the whole sort. It is what keeps a query of 100 rows within a
	// microsecond.
	exactSteps = 2
	// stepStride is how many steps share one that is timed, beyond those.
	stepStride = 1 << strideBits
	strideBits = 5
)

// A stepTimer estimates the time that stepping a query's rows took, from the
// steps that it wants timed: all of the first ones, then one at a random place
// in each stride, since a fixed place could fall in step with the pages of a
// table.
type stepTimer struct {
	steps   int64
	next    int64 // the number, from 0, of the step to time next
	first   int64 // how many steps are timed before the sampling begins
	exact   int64 // ns of those
	sampled int64 // ns of the samples beyond
	samples int64
	random  uint32
}

// newStepTimer makes a timer; seed differs from query to query.
func newStepTimer(t RowTiming, seed uint32) stepTimer {
	switch t {
	case RowTimingExact:
		return stepTimer{first: math.MaxInt64}
	case RowTimingOff:
		return stepTimer{next: math.MaxInt64}
	}
	return stepTimer{first: exactSteps, random: seed}
}

// step begins a step and reports whether to time it.
func (t *stepTimer) step() bool {
	i := t.steps
	t.steps = i + 1
	return i >= t.next
}

// took adds the time of a step that was to be timed.
func (t *stepTimer) took(ns int64) {
	if t.steps <= t.first {
		t.exact += ns
		t.next = t.steps // the first step beyond is a sample, always
		return
	}
	t.sampled += ns
	t.samples++
	// The next stride begins after this one.
	stride := (t.steps - 1 - t.first) / stepStride
	t.random = t.random*1664525 + 1013904223
	t.next = t.first + (stride+1)*stepStride + int64(t.random>>(32-strideBits))
}

// off reports whether no step is timed.
func (t *stepTimer) off() bool { return t.next == math.MaxInt64 }

// more adds further work on the row of the present step, which is timed.
func (t *stepTimer) more(ns int64) {
	if t.steps <= t.first {
		t.exact += ns
	} else {
		t.sampled += ns
	}
}

// estimate is the time of all steps.
func (t *stepTimer) estimate() int64 {
	if t.samples == 0 {
		return t.exact
	}
	return t.exact + int64(float64(t.sampled)*float64(t.steps-t.first)/float64(t.samples))
}

// scaled is how many of the timed steps stand for others as well: the samples
// that the estimate rests on, 0 if it is no estimate.
func (t *stepTimer) scaled() int64 {
	if t.samples == 0 || t.samples == t.steps-t.first {
		return 0
	}
	return t.samples
}
