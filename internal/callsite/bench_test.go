package callsite_test

import (
	"fmt"
	"math"
	"runtime"
	"testing"
	"time"
)

var epoch = time.Now()

// clockPair is what every timed operation pays.
func clockPair() time.Duration {
	start := time.Since(epoch)
	return time.Since(epoch) - start
}

// BenchmarkFind finds a known chain at several depths, beside runtime.Callers
// alone and beside two reads of the monotonic clock.
func BenchmarkFind(b *testing.B) {
	b.Run("clock-pair", func(b *testing.B) {
		for b.Loop() {
			clockPair()
		}
	})
	s := &store{find(0)}
	var pcs [128]uintptr
	for _, depth := range []int{8, 16, 32, 64} {
		b.Run(fmt.Sprintf("walk/depth=%d", depth), func(b *testing.B) {
			b.ReportAllocs()
			at(depth, func() {
				for b.Loop() {
					s.f.Find(nil)
				}
			})
		})
		b.Run(fmt.Sprintf("callers/depth=%d", depth), func(b *testing.B) {
			at(depth, func() {
				for b.Loop() {
					runtime.Callers(1, pcs[:])
				}
			})
		})
	}
}

// at calls f where runtime.Callers would return depth functions.
func at(depth int, f func()) {
	done := make(chan bool)
	go func() {
		defer close(done)
		nest(depth-5, f) // goexit, this one, the innermost nest, f and Find
	}()
	<-done
}

// TestCostOfTheWalk compares costs measured beside each other: at a usual depth
// a chain is found in a fraction of the time that runtime.Callers takes alone,
// and without a cost of another order than timing has.
func TestCostOfTheWalk(t *testing.T) {
	if !walksFast {
		t.Skip("needs the walk over frame pointers, and no race detector")
	}
	s := &store{find(0)}
	var pcs [128]uintptr
	walk, callers, clock := math.Inf(1), math.Inf(1), math.Inf(1)
	for range 10 { // the best of several of each: others use the machine too
		at(20, func() {
			walk = min(walk, timed(func() { s.f.Find(nil) }))
			callers = min(callers, timed(func() { runtime.Callers(1, pcs[:]) }))
			clock = min(clock, timed(func() { clockPair() }))
		})
	}
	overCallers, overClock := walk/callers, walk/clock
	t.Logf("Find takes %.2f of runtime.Callers, %.2f of a pair of clock reads", overCallers, overClock)
	if overCallers > 0.25 || overClock > 2 {
		t.Error("want at most 0.25 and 2")
	}
}

func timed(f func()) float64 {
	start := time.Now()
	for range 10000 {
		f()
	}
	return float64(time.Since(start))
}
