package sqlitetrace

const (
	// exactSteps is how many steps of each query are timed, so that short
	// queries are exact.
	exactSteps = 16
	// stepStride is how many steps share one that is timed, beyond those.
	stepStride = 16
)

// A stepTimer estimates the time that stepping a query's rows took, from the
// steps that it wants timed: all of the first ones, then one at a random place
// in each stride, since a fixed place could fall in step with the pages of a
// table. The zero stepTimer with a seed is ready for use.
type stepTimer struct {
	steps   int64
	exact   int64 // ns of the first exactSteps
	sampled int64 // ns of the samples beyond
	samples int64
	next    int64 // the step to time next, beyond exactSteps
	random  uint32
	timed   bool // the present step is
}

// step begins a step and reports whether to time it.
func (t *stepTimer) step() bool {
	i := t.steps
	t.steps++
	t.timed = i < exactSteps || i >= t.next
	return t.timed
}

// took adds the time of a step that was to be timed.
func (t *stepTimer) took(ns int64) {
	if t.steps <= exactSteps {
		t.exact += ns
		return
	}
	t.sampled += ns
	t.samples++
	// The next stride begins after this one; step numbers are from 0.
	stride := (t.steps - 1 - exactSteps) / stepStride
	t.random = t.random*1664525 + 1013904223
	t.next = exactSteps + (stride+1)*stepStride + int64(t.random>>28)
}

// more adds further work on the present step's row, if that is timed.
func (t *stepTimer) more(ns int64) {
	if t.steps <= exactSteps {
		t.exact += ns
	} else {
		t.sampled += ns
	}
}

// estimate is the time of all steps. The 17th is always a sample, so that there
// is one whenever there are steps to scale to.
func (t *stepTimer) estimate() int64 {
	if t.samples == 0 {
		return t.exact
	}
	return t.exact + int64(float64(t.sampled)*float64(t.steps-exactSteps)/float64(t.samples))
}
