package probetest

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

const ruleNothingLeft = `Close waits until everything that only its window needed has ended: after thousands of windows, opened and
closed by four goroutines, no goroutine, no descriptor and no memory is left. A benchmark opens a window per run,
an exporter one per collection.`

const (
	churnRounds     = 4
	windowsPerRound = 1000
	churners        = 4
	// leakPerWindow is less than the smallest window takes. Growth below it
	// is that of caches and of buckets that are made when they are first used.
	leakPerWindow = 48 // bytes
	// looks is how often it is looked, a millisecond apart, whether a goroutine
	// has come from its last statement to its end, and the collector has closed
	// what nobody holds. A number, since on a busy machine a look takes longer.
	looks = 500
)

func checkNothingLeft(s *subject) error {
	p := s.new()
	s.exercise(p) // what the host makes once, such as its connections
	if err := s.churn(p, churners); err != nil {
		return err
	}
	goroutines, files := running(), descriptors()
	growth := make([]int64, 0, churnRounds)
	live := liveHeap()
	for range churnRounds {
		if err := s.churn(p, windowsPerRound); err != nil {
			return err
		}
		now := liveHeap()
		growth = append(growth, now-live)
		live = now
	}
	return errors.Join(leakedGoroutines(goroutines), leakedFiles(files), leakedMemory(growth))
}

// churn opens and closes n windows from churners goroutines. Some are read,
// some tiled, some closed twice at once.
func (s *subject) churn(p target, n int) error {
	return together(churners, func(g int) error {
		var r probe.Reading
		for i := range n / churners {
			w, err := p.watch()
			if err != nil {
				return fmt.Errorf("window %d of goroutine %d: %w", i+1, g, err)
			}
			var other sync.WaitGroup
			switch i % 4 {
			case 1:
				w.Read(&r)
			case 2:
				w.Next(&r)
			case 3:
				other.Go(func() { w.Close() })
			}
			w.Close()
			other.Wait()
		}
		return nil
	})
}

// leakedMemory judges the growth of the heap over rounds of the same work. A
// leak grows in every round; a table or a bucket made late does not.
func leakedMemory(growth []int64) error {
	if least := slices.Min(growth); least > leakPerWindow*windowsPerRound {
		return fmt.Errorf("the heap grew in every one of %d rounds of %d windows, by %d bytes at least: %v",
			len(growth), windowsPerRound, least, growth)
	}
	return nil
}

// liveHeap is what the heap holds after a collection and its clean-ups. Those run in
// goroutines of the runtime, which on a busy machine come late: what they let go of
// would else be gone in the middle of what is measured next.
func liveHeap() int64 {
	var m runtime.MemStats
	for range 2 {
		cleaned := new(atomic.Bool) // no channel, which a test with a fake clock would not share
		runtime.AddCleanup(new([64]byte), func(done *atomic.Bool) { done.Store(true) }, cleaned)
		runtime.GC()
		for i := 0; i < 1000 && !cleaned.Load(); i++ {
			time.Sleep(time.Millisecond)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// leakedGoroutines waits for those that were not there before to end.
func leakedGoroutines(before map[string]string) error {
	var left map[string]string
	for range looks {
		left = running()
		maps.DeleteFunc(left, func(id, _ string) bool { _, there := before[id]; return there })
		if len(left) == 0 {
			return nil
		}
		time.Sleep(time.Millisecond)
	}
	var errs []error
	for _, id := range slices.Sorted(maps.Keys(left)) {
		errs = append(errs, fmt.Errorf("a goroutine is left:\n%s", left[id]))
	}
	return errors.Join(capped(errs)...)
}

// leakedFiles waits for the number of descriptors to fall to what it was.
func leakedFiles(before map[string]string) error {
	var now map[string]string
	for range looks {
		now = descriptors()
		if len(now) <= len(before) {
			return nil
		}
		time.Sleep(time.Millisecond)
		runtime.GC() // a file without Close is closed by its clean-up
	}
	var names []string
	for fd, to := range now {
		if before[fd] != to {
			names = append(names, fd+" -> "+to)
		}
	}
	slices.Sort(names)
	names = names[:min(len(names), 8)]
	return fmt.Errorf("%d descriptors are open, %d before; for example %s", len(now), len(before), strings.Join(names, ", "))
}

// running is the stack of every goroutine but the caller's, by its number.
func running() map[string]string {
	byID := map[string]string{}
	for i, g := range strings.Split(stacks(), "\n\n") {
		id, _, ok := strings.Cut(strings.TrimPrefix(g, "goroutine "), " ")
		if ok && i > 0 {
			byID[id] = g
		}
	}
	return byID
}

// stacks are the stacks of all goroutines, the caller's first.
func stacks() string { return stack(true) }

func ownStack() string { return stack(false) }

func stack(all bool) string {
	buf := make([]byte, 64<<10)
	for {
		if n := runtime.Stack(buf, all); n < len(buf) {
			return string(buf[:n])
		}
		buf = make([]byte, 2*len(buf))
	}
}

// together runs f in n goroutines and joins their errors.
func together(n int, f func(i int) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = safely(func() error { return f(i) }) })
	}
	wg.Wait()
	return errors.Join(errs...)
}
