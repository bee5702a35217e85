package probe

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"
)

// heap is the live heap in bytes.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestMemory holds the totals that ARCHITECTURE.md promises: 500 busy series
// that 200 goroutines record into, and a window over all of them.
func TestMemory(t *testing.T) {
	const series, goroutines = 500, 200
	start := heap()
	var c Core
	recs := make([]*Recorder, series)
	for i := range recs {
		recs[i] = c.Recorder(testDist, Attr{"i", fmt.Sprint(i)})
	}
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(g), 1))
			for range 5 {
				for _, rec := range recs {
					rec.Record(int64(math.Exp(rnd.NormFloat64()) * 1e6)) // lognormal around 1 ms
				}
			}
		})
	}
	wg.Wait()
	busy := heap()
	if got := busy - start; got > 48<<20 {
		t.Errorf("%d busy series hold %d MB, want at most 48", series, got>>20)
	}
	w := watch(t, &c)
	var r Reading
	w.Next(&r)
	r = Reading{}
	if got := heap() - busy; got > 4<<20 {
		t.Errorf("a window over them holds %d KB, want at most 4096", got>>10)
	}
	t.Logf("%d KB a series, %d KB a window", (busy-start)/series>>10, (heap()-busy)>>10)
	runtime.KeepAlive(recs)
}

// TestThousandsOfWindows: nothing stays behind of windows that were opened and
// closed, also by several goroutines at once.
func TestThousandsOfWindows(t *testing.T) {
	var c Core
	rec := c.Recorder(testDist)
	rec.Record(1)
	watch(t, &c).Close()
	goroutines, start := runtime.NumGoroutine(), heap()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			var r Reading
			for range 1000 {
				w, err := c.Watch()
				if err != nil {
					t.Error(err)
					return
				}
				rec.Record(5)
				w.Next(&r)
				w.Read(&r)
				w.Close()
				w.Close()
			}
		})
	}
	wg.Wait()
	for deadline := time.Now().Add(time.Minute); runtime.NumGoroutine() > goroutines; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) { // the workers end a moment after Wait returns
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), goroutines)
		}
	}
	if got := heap() - start; got > 256<<10 {
		t.Errorf("4,000 windows left %d KB behind", got>>10)
	}
	if len(c.parts) != 0 || c.open != 0 {
		t.Errorf("%d parts, %d windows still counted", len(c.parts), c.open)
	}
}
