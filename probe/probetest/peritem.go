package probetest

import (
	"runtime"
	"slices"
	"testing"
)

// PerItem reports what n items cost in memory: heap-bytes/item, the live heap that
// they add, and alloc-bytes/item, what was allocated to make them. make makes the
// n items and returns what keeps them alive. After these measurements, which take
// two collections each, make is also timed, as [testing.B.Loop] does.
//
//	func BenchmarkMarker(b *testing.B) {
//		probetest.PerItem(b, 10_000, func() any { return newMarkers(10_000) })
//	}
//
// Of five tries the first number is the median and the second the least, as
// runtime.MemStats has them: other goroutines can only add to what was allocated, and
// may let go of what they had, too. Memory that is not on Go's heap is in neither.
func PerItem(b *testing.B, n int, make func() any) {
	b.Helper()
	if n <= 0 {
		b.Fatalf("probetest: PerItem of %d items", n)
	}
	heap, alloc := itemCost(make)
	for b.Loop() {
		runtime.KeepAlive(make())
	}
	// A metric that is reported before the loop would be lost: its first
	// iteration sets everything back.
	b.ReportMetric(max(float64(heap), 0)/float64(n), descHeap.Bench[0].Unit)
	b.ReportMetric(float64(alloc)/float64(n), descAlloc.Bench[0].Unit)
}

// itemCost is the live heap that make's result keeps, and what making it
// allocated, in bytes.
func itemCost(make func() any) (heap, alloc int64) {
	const tries = 5
	stats := new(runtime.MemStats) // one, or it would be in its own numbers
	make()                         // what is made once, such as tables and pools
	var growths []int64
	for i := range tries {
		before := liveHeap()
		from := allocated(stats)
		kept := make()
		made := allocated(stats) - from
		grown := liveHeap() - before
		runtime.KeepAlive(kept)
		growths = append(growths, grown)
		if alloc = min(alloc, made); i == 0 {
			alloc = made
		}
	}
	slices.Sort(growths)
	return growths[tries/2], alloc
}

// allocated is all bytes allocated on the heap so far.
func allocated(m *runtime.MemStats) int64 {
	runtime.ReadMemStats(m)
	return int64(m.TotalAlloc)
}
