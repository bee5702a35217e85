package growth

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"
)

const (
	leastSizes = 4  // below, and within a smaller span, a constant cannot be told
	leastSpan  = 16 // from an order

	// A verdict is tried after so many rounds, and again whenever there are twice as
	// many, until it is clear. One of less than sureRounds counts if the rounds
	// hardly differ: looking again and again finds what is not there.
	rounds     = 7
	sureRounds = 8 * rounds
	mostRounds = 8 * sureRounds

	// shortest is the CPU time of a sample below which the clock's own errors
	// would be a part of it.
	shortest = 20 * time.Microsecond
	// mostItems bounds what is prepared for a sample: that many times what one
	// operation at the largest size needs.
	mostItems = 32
)

// A Check measures an operation at several sizes and judges how its CPU time
// grows.
type Check struct {
	// Sizes are at least 4, ascending, the largest at least 16 times the least.
	Sizes []int
	// Bound is the order that the time may have.
	Bound Order
	// Limit is how long the check may take, set-up included. It is looked at
	// between samples: what runs is not stopped.
	Limit time.Duration

	// Prepare makes fresh data of size n and returns an operation on it, which is
	// executed once.
	Prepare func(n int) (op func())
	// Done lets go of all that was prepared since the last call.
	Done func()

	// CPU is the clock, the CPU time of the process; Now is the time of day.
	CPU func() (time.Duration, error)
	Now func() time.Time

	overhead time.Duration // of reading the clock
	start    time.Time
}

// Validate says what is wrong with the settings.
func (c *Check) Validate() error {
	switch n := len(c.Sizes); {
	case !c.Bound.Valid():
		return fmt.Errorf("no such order: %d", int(c.Bound))
	case n > 0 && c.Sizes[0] < 1, !slices.IsSorted(c.Sizes), len(slices.Compact(slices.Clone(c.Sizes))) < n:
		return fmt.Errorf("the sizes %v do not ascend from 1 or more", c.Sizes)
	case c.Limit < 0:
		return fmt.Errorf("a limit of %v", c.Limit)
	}
	return enough(c.Sizes)
}

// enough says why nothing can be concluded from the sizes.
func enough(sizes []int) error {
	if n := len(sizes); n < leastSizes || sizes[n-1] < leastSpan*sizes[0] {
		return fmt.Errorf("no verdict on %d sizes %v: a constant is told from an order by at least %d that span %d times",
			n, sizes, leastSizes, leastSpan)
	}
	return nil
}

// Run measures until there is a verdict, or no round more fits into the limit.
//
// A sample is the CPU time of several operations, each on data of its own, so that
// it handles as many items at each size: it then meets as much garbage collection,
// as many interrupts and as cold a cache, whatever the size. The rounds are
// interleaved, so that what else the machine does falls on all sizes.
func (c *Check) Run() Result {
	c.start = c.Now()
	r := Result{Sizes: c.Sizes}
	if err := c.run(&r); err != nil {
		r.Verdict, r.Why = Unjudged, err.Error()
	}
	return r
}

func (c *Check) run(r *Result) error {
	batches, err := c.plan(r)
	if err != nil {
		return err
	}
	if err := enough(r.Sizes); err != nil {
		return err
	}
	var times [][]float64
	look := rounds
	for last := false; !last; {
		began := c.Now()
		round, err := c.round(r.Sizes, batches, len(times))
		if err != nil {
			return err
		}
		times = append(times, round)
		now := c.Now()
		last = len(times) == mostRounds || now.Sub(c.start)+now.Sub(began) > c.Limit
		if last || len(times) == look {
			look *= 2
			r.conclude(c.Bound, times)
			last = last || r.sure()
		}
	}
	return nil
}

// plan tries each size, and finds how many operations make a sample of it. Sizes
// that take too long are left out.
func (c *Check) plan(r *Result) (batches []int, err error) {
	if err := c.calibrate(); err != nil {
		return nil, err
	}
	if _, err := c.sample(r.Sizes[0], 1); err != nil { // what is done once in a process
		return nil, err
	}
	var rough []time.Duration
	for i, n := range c.Sizes {
		t, dropped, err := c.try(n)
		if err != nil {
			return nil, err
		}
		if dropped != "" {
			r.Sizes, r.Dropped = c.Sizes[:i], dropped
			break
		}
		rough = append(rough, t)
	}
	if len(rough) == 0 {
		return nil, errors.New(r.Dropped)
	}
	return batch(r.Sizes, rough)
}

// try is the CPU time of one operation, and the reason to leave its size out if as
// many as a verdict takes would not fit into the limit. What was slow once is tried
// again, if that fits: the machine may have been elsewhere.
func (c *Check) try(n int) (t time.Duration, dropped string, err error) {
	// Each sample handles about as much as one at the largest size does.
	samples := time.Duration(rounds * len(c.Sizes))
	for again := false; ; again = true {
		began := c.Now()
		if t, err = c.sample(n, 1); err != nil {
			return 0, "", err
		}
		now := c.Now()
		took, left := now.Sub(began), c.Limit-now.Sub(c.start)
		if samples*took <= left {
			return t, "", nil
		}
		if again || 2*took > left {
			return 0, fmt.Sprintf("n=%d and more are left out: set-up and one operation took %v, and %d of them do not fit into the limit of %v",
				n, took.Round(time.Millisecond), samples, c.Limit), nil
		}
	}
}

// batch is how many operations make a sample at each size: as many as have
// together as many items as one at the largest size, unless that takes longer than
// one there does, and more if all are short.
func batch(sizes []int, rough []time.Duration) ([]int, error) {
	last := len(sizes) - 1
	most := mostItems * sizes[last]
	batches := make([]int, len(sizes))
	for i, n := range sizes {
		t := max(rough[i], 1)
		k := min(sizes[last]/n, int(max(rough[last], 1)/t))
		k = max(k, int((shortest+t-1)/t), 1)
		if k*n > most {
			return nil, fmt.Errorf("an operation at n=%d takes %v of CPU time: too short to be measured; let one do more", n, t)
		}
		batches[i] = k
	}
	return batches, nil
}

// calibrate finds what reading the clock adds to a sample.
func (c *Check) calibrate() error {
	for i := range 10 {
		from, err := c.CPU()
		if err != nil {
			return err
		}
		to, err := c.CPU()
		if err != nil {
			return err
		}
		if d := to - from; i == 0 || d < c.overhead {
			c.overhead = d
		}
	}
	return nil
}

// round is the CPU time of an operation at each size, in ns, the sizes in an order
// of chance.
func (c *Check) round(sizes, batches []int, number int) ([]float64, error) {
	times := make([]float64, len(sizes))
	for _, i := range rand.New(rand.NewPCG(uint64(number), 0)).Perm(len(sizes)) {
		t, err := c.sample(sizes[i], batches[i])
		if err != nil {
			return nil, err
		}
		times[i] = float64(max(t, 1)) / float64(batches[i])
	}
	return times, nil
}

// sample is the CPU time of some operations of a size, each on fresh data: what an
// operation leaves behind, in the data or in what the processor has learnt of
// them, makes the next one on it another one. What was there before is collected
// first, so that no size pays for another.
func (c *Check) sample(n, operations int) (time.Duration, error) {
	defer c.Done()
	ops := make([]func(), operations)
	for i := range ops {
		ops[i] = c.Prepare(n)
	}
	runtime.GC()
	from, err := c.CPU()
	if err != nil {
		return 0, err
	}
	for _, op := range ops {
		op()
	}
	to, err := c.CPU()
	return to - from - c.overhead, err
}
