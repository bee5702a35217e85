package inject

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"
)

// procs is the GOMAXPROCS of a child.
const procs = 2

// A wiper is a goroutine's memory, for clearing it over and over: nothing can
// interrupt that, as nothing can interrupt a large copy.
//
// Note: copying would be the more usual thing, but under the race detector a copy
// is a call, at which the runtime can stop the goroutine.
type wiper struct {
	mem    []byte
	each   time.Duration // of one pass
	wiping atomic.Bool   // it has been through the first pass, and goes on
}

func newWiper() *wiper {
	w := &wiper{mem: make([]byte, 64<<20)}
	w.calibrate() // faults the pages in
	return w
}

// calibrate finds out how long a pass takes: the least of some, since a busy
// machine can only make one longer, and with it the stall.
//
//go:norace
func (w *wiper) calibrate() {
	w.each = time.Hour
	for range 6 {
		start := time.Now()
		clear(w.mem)
		w.each = min(w.each, max(time.Since(start), time.Microsecond))
	}
}

// run clears for about d. The loop has no point at which the runtime could stop
// the goroutine: there is nothing else in it, not even the race detector's calls.
//
//go:norace
func (w *wiper) run(d time.Duration) {
	clear(w.mem)
	w.wiping.Store(true)
	for n := int(d / w.each); n > 0; n-- {
		clear(w.mem)
	}
}

// gcPause has the GC wait for a wiper when it stops the world.
func gcPause() func(d time.Duration) { return pause(runtime.GC) }

// otherPause has a read of the memory statistics wait for it.
func otherPause() func(d time.Duration) {
	var m runtime.MemStats
	return pause(func() { runtime.ReadMemStats(&m) })
}

func pause(stop func()) func(d time.Duration) {
	w := newWiper()
	return func(d time.Duration) {
		w.calibrate()
		var wg sync.WaitGroup
		wg.Go(func() { w.run(d) })
		for !w.wiping.Load() { // a sleep might last for all of it
			runtime.Gosched()
		}
		stop()
		wg.Wait()
	}
}

// stoppedBy tells whether the process was ever stopped for half of a time, by a
// histogram of the runtime's.
func stoppedBy(metric string) func(d time.Duration) bool {
	return func(d time.Duration) bool {
		s := []metrics.Sample{{Name: metric}}
		metrics.Read(s)
		if s[0].Value.Kind() != metrics.KindFloat64Histogram {
			return true // this release of Go does not tell
		}
		h := s[0].Value.Float64Histogram()
		for i, n := range h.Counts {
			if n > 0 && h.Buckets[i+1] > d.Seconds()/2 {
				return true
			}
		}
		return false
	}
}

// wipe has all processors do it.
func wipe() func(d time.Duration) {
	var ws [procs]*wiper
	for i := range ws {
		ws[i] = newWiper()
	}
	return func(d time.Duration) {
		for _, w := range ws {
			w.calibrate()
		}
		var wg sync.WaitGroup
		for _, w := range ws {
			wg.Go(func() { w.run(d) })
		}
		wg.Wait()
	}
}

// spin has more goroutines compute than there are processors, so that each
// has its 10 ms in turn.
func spin() func(d time.Duration) {
	return func(d time.Duration) { compute(min(procs+int(d*procs/(10*time.Millisecond))/2, 64), 2*d) }
}

// busy has a goroutine compute on each processor, which alone does not stall it.
func busy() func(d time.Duration) {
	return func(d time.Duration) { compute(procs, 2*d) }
}

// compute has n goroutines compute for d.
func compute(n int, d time.Duration) {
	var done atomic.Bool
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			for !done.Load() {
			}
		})
	}
	time.Sleep(d)
	done.Store(true)
	wg.Wait()
}

// runQueue has so many goroutines do a little in turn that one round takes d.
func runQueue() func(d time.Duration) {
	const work = 100 * time.Microsecond
	return func(d time.Duration) {
		end := time.Now().Add(3 * d)
		var wg sync.WaitGroup
		for range int(d * procs / work) {
			wg.Go(func() {
				for time.Now().Before(end) {
					for start := time.Now(); time.Since(start) < work; {
					}
					runtime.Gosched()
				}
			})
		}
		wg.Wait()
	}
}

// A leaf is memory that the GC has to follow.
type leaf struct{ a, b *leaf }

func tree(depth int) *leaf {
	if depth == 0 {
		return &leaf{}
	}
	return &leaf{tree(depth - 1), tree(depth - 1)}
}

// gcWork has goroutines allocate faster than the GC can mark a large heap, so
// that they have to help.
func gcWork() func(d time.Duration) {
	live := tree(20) // two million nodes
	runtime.GC()
	return func(d time.Duration) {
		defer runtime.KeepAlive(live)
		defer debug.SetGCPercent(debug.SetGCPercent(2))
		var done atomic.Bool
		var wg sync.WaitGroup
		for range 8 * procs {
			wg.Go(func() {
				for !done.Load() {
					tree(8)
				}
			})
		}
		time.Sleep(max(3*d, 500*time.Millisecond))
		done.Store(true)
		wg.Wait()
	}
}

// lockedLoop is a loop behind a lock that somebody else holds.
func lockedLoop() (through func(beat func()), inside func(d time.Duration)) {
	var mu sync.Mutex
	through = func(beat func()) {
		mu.Lock()
		defer mu.Unlock()
		beat()
	}
	return through, func(d time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		time.Sleep(d)
	}
}

// busyDispatcher is an actor that computes for long when it should dispatch.
func busyDispatcher() (through func(beat func()), inside func(d time.Duration)) {
	mailbox := make(chan func())
	go func() {
		for f := range mailbox {
			f()
		}
	}()
	through = func(beat func()) { mailbox <- beat }
	return through, func(d time.Duration) {
		done := make(chan struct{})
		mailbox <- func() {
			defer close(done)
			for start := time.Now(); time.Since(start) < d; {
			}
		}
		<-done
	}
}
