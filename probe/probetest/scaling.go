package probetest

import (
	"os"
	"sync"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/internal/growth"
	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

// A Growth is how a cost may grow with the size n of the data, for [Scaling].
type Growth int

// The bounds.
const (
	NLogN     = Growth(growth.NLogN)
	Constant  = Growth(growth.Constant)
	Linear    = Growth(growth.Linear)
	Quadratic = Growth(growth.Quadratic)
)

// String is the growth as people write it: "n log n".
func (g Growth) String() string { return growth.Order(g).String() }

// A Scaling is how an operation's cost may grow with the size of its data. The zero
// value bounds its CPU time by n log n.
//
// Counts are judged first, exactly, from one operation at each size. Of the CPU
// time a sum of the bound and of what grows faster is fitted to rounds of
// measurements, and the verdict is about the share that the faster part has at the
// largest size: the test fails if that is 25 % or more and is surely more than 15 %,
// and passes if it is surely less than 25 %. What is neither, or cannot be judged,
// is in the test's log; with TIDESTAFF_STRICT=1 it fails.
type Scaling struct {
	// Bound is the growth that is allowed to the CPU time and to each exact count
	// of the probes. n log n lets up to about 40 % of quadratic work pass beside
	// linear work, Linear takes n log n for an excess.
	Bound Growth

	// Sizes ascend; they are at least 4, and the largest is at least 16 times the
	// least. If empty: 625, 1,250, 2,500, 5,000 and 10,000.
	Sizes []int

	// Probes are whose counts are judged. They do not watch while CPU time is
	// measured.
	Probes []probe.Probe

	// Counts have a growth of their own, such as {"queries/op": Constant}. The
	// units are those of benchmarks. One that was not measured fails.
	Counts map[string]Growth

	// Limit is how long the CPU measurement may take, set-up included. If 0, it is
	// 10 s. Sizes of which 7 rounds would take longer are left out. What runs is
	// not stopped.
	Limit time.Duration

	clock clock // of tests of this package
}

// A clock is what a check reads the time by.
type clock struct {
	cpu func() (time.Duration, error)
	now func() time.Time
}

// measuring lets one check measure at a time: the CPU clock is the whole process's.
var measuring sync.Mutex

// Check calls prepare for data of size n, executes the operation that it returns
// once, many times for each size, and fails the test if a cost grows faster than
// its bound.
//
//	probetest.Scaling{Probes: []probe.Probe{sqlp}, Counts: map[string]probetest.Growth{"queries/op": probetest.Constant}}.Check(t,
//		func(t testing.TB, n int) (op func()) {
//			store := seeded(t, n)
//			return func() { store.List(ctx) }
//		})
//
// prepare makes its data anew each time, or the operation is not the same: sorting
// what is sorted is fast. What it registers with Cleanup of the t that it gets, and
// the folders of its TempDir, end before the next data is made. As many operations
// are prepared at once as have the largest size's number of items together, and
// more of those that take less than 20 µs.
func (s Scaling) Check(t testing.TB, prepare func(t testing.TB, n int) (op func())) {
	t.Helper()
	each := &scope{TB: t}
	check := s.check(each, prepare)
	if err := check.Validate(); err != nil {
		t.Errorf("probetest: %v", err)
		return
	}
	for name, g := range s.Counts {
		if !growth.Order(g).Valid() {
			t.Errorf("probetest: %s: no such growth: %d", name, int(g))
			return
		}
	}
	o := outcome{bound: s.Bound, cpu: measured(check)}
	var ok bool
	if o.counts, o.trials, ok = s.count(each, prepare, o.cpu.Sizes); !ok {
		return
	}
	strict := os.Getenv(strictVar) != ""
	if text := o.text(); o.fails(strict) {
		t.Errorf("%s", text)
	} else {
		t.Logf("%s", text)
	}
}

// measured has the CPU time measured and judged, while no other check does.
func measured(c *growth.Check) growth.Result {
	measuring.Lock()
	defer measuring.Unlock() // even if prepare ends the test
	return c.Run()
}

// check is the check of the CPU time.
func (s Scaling) check(each *scope, prepare func(t testing.TB, n int) func()) *growth.Check {
	c := &growth.Check{
		Sizes:   s.Sizes,
		Bound:   growth.Order(s.Bound),
		Limit:   s.Limit,
		Prepare: func(n int) func() { return prepare(each, n) },
		Done:    each.end,
		CPU:     s.clock.cpu,
		Now:     s.clock.now,
	}
	if len(c.Sizes) == 0 {
		c.Sizes = []int{625, 1_250, 2_500, 5_000, 10_000}
	}
	if c.Limit == 0 {
		c.Limit = 10 * time.Second
	}
	if c.CPU == nil {
		c.CPU, c.Now = proc.ReadCPUClock, time.Now
	}
	return c
}

// A scope is a test to the set-up of one sample: what is cleaned up by it ends with
// the sample, or a test of some hundred set-ups would keep the data of all.
type scope struct {
	testing.TB
	mu   sync.Mutex
	ends []func()
	dir  string // in which the folders are
}

// Cleanup implements [testing.TB].
func (s *scope) Cleanup(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ends = append(s.ends, f)
}

// TempDir implements [testing.TB].
func (s *scope) TempDir() string {
	s.Helper()
	s.mu.Lock()
	if s.dir == "" {
		s.dir = s.TB.TempDir()
	}
	s.mu.Unlock()
	dir, err := os.MkdirTemp(s.dir, "")
	if err != nil {
		s.Fatalf("TempDir: %v", err)
	}
	s.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			s.Errorf("TempDir: %v", err)
		}
	})
	return dir
}

// end cleans up, the last first, as package testing does.
func (s *scope) end() {
	for {
		s.mu.Lock()
		last := len(s.ends) - 1
		if last < 0 {
			s.mu.Unlock()
			return
		}
		f := s.ends[last]
		s.ends = s.ends[:last]
		s.mu.Unlock()
		f()
	}
}
