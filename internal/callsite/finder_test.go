package callsite_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tidestaff/tidestaff/internal/callsite"
)

// A decision is what a test's Finder makes of a chain.
type decision struct{ method, role string }

func decide(known *string, method, role string) decision {
	if known != nil {
		role = *known
	}
	return decision{method, role}
}

func find(limit int) *callsite.Finder[string, decision] {
	return callsite.New(callsite.Options{Limit: limit}, decide)
}

// store is a service's store.
type store struct {
	f *callsite.Finder[string, decision]
}

func (s *store) Get() decision { return s.get() }

func (s *store) get() decision { return s.f.Find(nil) }

// List finds in a literal and through a helper.
func (s *store) List() (d decision) {
	retry(func() { d = s.get() })
	return d
}

//go:noinline
func retry(f func()) { f() }

func once(yield func(int) bool) { yield(0) }

// All finds in the body of a range over a function.
func (s *store) All() (d decision) {
	for range once {
		d = s.f.Find(nil)
	}
	return d
}

// Close finds in a deferred call.
func (s *store) Close() (d decision) {
	defer func() { d = s.get() }()
	return decision{}
}

// A cache is generic.
type cache[K comparable] struct {
	f *callsite.Finder[string, decision]
}

func (c *cache[K]) Load() decision { return c.load() }

//go:noinline
func (c *cache[K]) load() decision { return c.f.Find(nil) }

// A value has its methods on values.
type value struct {
	f *callsite.Finder[string, decision]
}

func (v value) Read() decision { return v.f.Find(nil) }

func TestFind(t *testing.T) {
	f := find(0)
	s := &store{f}
	for _, c := range []struct {
		name, method string
		find         func() decision
	}{
		{"through a helper method", "(*store).Get", s.Get},
		{"in a literal", "(*store).List", s.List},
		{"in a range over a function", "(*store).All", s.All},
		{"in a deferred call", "(*store).Close", s.Close},
		{"generic", "(*cache).Load", (&cache[string]{f}).Load},
		{"by value", "value.Read", value{f}.Read},
	} {
		for _, from := range []string{"new", "known"} {
			if got, want := c.find(), (decision{c.method, "test"}); got != want {
				t.Errorf("%s, %s: got %v, want %v", c.name, from, got, want)
			}
		}
		var got decision
		var wg sync.WaitGroup
		wg.Go(func() { got = c.find() })
		wg.Wait()
		if want := (decision{c.method, "background:TestFind"}); got != want {
			t.Errorf("%s, in a goroutine: got %v, want %v", c.name, got, want)
		}
	}
}

// TestKnown: one chain, decided once for each thing that is known without it.
func TestKnown(t *testing.T) {
	f := find(0)
	a, b := "a", "b"
	for range 3 {
		for _, known := range []*string{nil, &a, &b} {
			want := decision{"TestKnown", "test"}
			if known != nil {
				want.role = *known
			}
			if got := f.Find(known); got != want {
				t.Errorf("got %v, want %v", got, want)
			}
		}
	}
	if got, _ := f.Sites(); got > 4 { // one may be of the first use
		t.Errorf("got %d sites, want 3", got)
	}
}

func TestFindAllocatesNothing(t *testing.T) {
	f := find(0)
	s := &store{f}
	for _, depth := range []int{0, 20, 100} {
		nest(depth, func() {
			if got := testing.AllocsPerRun(1000, func() { s.Get() }); got != 0 {
				t.Errorf("at depth %d: got %v allocations, want 0", depth, got)
			}
		})
	}
}

// TestDeepChains: beyond what a key covers, the role is not known, and not the
// role of whoever came first.
func TestDeepChains(t *testing.T) {
	s := &store{find(0)}
	var got decision
	for _, c := range []struct {
		depth int
		role  string
	}{{100, "test"}, {callsite.MaxFrames - 50, "test"}, {callsite.MaxFrames + 50, callsite.Unknown}, {2 * callsite.MaxFrames, callsite.Unknown}} {
		nest(c.depth, func() { got = s.Get() })
		if want := (decision{"(*store).Get", c.role}); got != want {
			t.Errorf("at depth %d: got %v, want %v", c.depth, got, want)
		}
	}
}

func TestFindIsBounded(t *testing.T) {
	// The first chain of a process is told by runtime.Callers, while frame
	// pointers are proved: a site that would count here.
	(&store{find(1)}).Get()
	s := &store{find(8)}
	var last decision
	var first decision
	for range 2 {
		for depth := range 20 {
			nest(depth, func() { last = s.Get() })
			if depth == 0 {
				first = last
			}
		}
		if want := (decision{callsite.Other, callsite.Other}); last != want {
			t.Errorf("beyond the limit: got %v, want %v", last, want)
		}
		if want := (decision{"(*store).Get", "test"}); first != want {
			t.Errorf("a chain that was there before: got %v, want %v", first, want)
		}
	}
	if got, _ := s.f.Sites(); got != 8 {
		t.Errorf("got %d sites, want 8", got)
	}
}

//go:noinline
func nest(n int, f func()) {
	if n == 0 {
		f()
		return
	}
	nest(n-1, f)
}

// leaf needs no frame. A fault in it leaves the return address of its caller in
// no frame record.
//
//go:noinline
func leaf(p *[8]int, i int) int { return p[i&7] }

//go:noinline
func leftBehind(s *store, d *decision) {
	leaf(nil, 1)
	s.f = nil // never reached; keeps the call from being a jump
}

// TestHiddenFrame: a frame that the walk misses makes it doubted, and the
// finding no worse.
func TestHiddenFrame(t *testing.T) {
	s := &store{find(0)}
	var d decision
	agree := !callsite.Walks
	for range 2 {
		func() {
			defer func() { _ = recover(); d = s.Get(); agree = agree || callsite.Agree() }()
			leftBehind(s, &d)
		}()
		if want := (decision{"(*store).Get", "test"}); d != want {
			t.Errorf("got %v, want %v", d, want)
		}
	}
	want := 1
	if agree { // the race detector, or -gcflags=-N, gives leaf a frame; or nothing walks
		want = 0
	}
	if _, doubted := s.f.Sites(); doubted != want {
		t.Errorf("got %d doubted sites, want %d", doubted, want)
	}
	if walksFast && agree {
		t.Log("the walk sees all frames: this run shows nothing")
	}
}

// TestFindUnderPressure finds on goroutines whose stacks grow, move and shrink
// while the collector runs and preempts them.
func TestFindUnderPressure(t *testing.T) {
	s := &store{find(0)}
	var stop atomic.Bool
	var wg, collector sync.WaitGroup
	collector.Go(func() {
		for !stop.Load() {
			runtime.GC()
		}
	})
	for i := range 8 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(i)))
			for range 300 {
				var wg sync.WaitGroup
				wg.Go(func() { // a new stack grows from the smallest size
					for range 4 {
						grow(r.IntN(100), func() {
							if got, want := s.Get(), (decision{"(*store).Get", "background:TestFindUnderPressure"}); got != want {
								t.Errorf("got %v, want %v", got, want)
							}
							if callsite.Walks && !callsite.Agree() {
								t.Error("frame pointers differ from runtime.Callers")
							}
						})
					}
				})
				wg.Wait()
			}
		})
	}
	wg.Wait()
	stop.Store(true)
	collector.Wait()
}

// grow takes much stack.
//
//go:noinline
func grow(n int, f func()) byte {
	var pad [512]byte
	if n == 0 {
		f()
		return pad[0]
	}
	pad[n%len(pad)] = grow(n-1, f)
	return pad[0]
}

// TestFirstUse has many goroutines be the first.
func TestFirstUse(t *testing.T) {
	for range 20 {
		s := &store{find(0)}
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if got := s.Get(); got.method != "(*store).Get" {
					t.Errorf("got %v", got)
				}
			})
		}
		wg.Wait()
		if got, _ := s.f.Sites(); got > 2 { // of a first use, and by frame pointers
			t.Errorf("%d sites for one chain", got)
		}
	}
}

// TestGivenUp is a process in which the check at first use fails.
func TestGivenUp(t *testing.T) {
	defer callsite.GiveUp()()
	s := &store{find(0)}
	for range 2 {
		if got, want := s.Get(), (decision{"(*store).Get", "test"}); got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	if got := testing.AllocsPerRun(1000, func() { s.Get() }); got != 0 {
		t.Errorf("got %v allocations, want 0", got)
	}
}

func ExampleFinder() {
	f := callsite.New(callsite.Options{Between: []string{"example.com/app/ent"}}, func(_ *string, method, role string) string {
		return method + " on " + role
	})
	get := func() string { return f.Find(nil) } // a service's method that runs a statement
	done := make(chan string)
	go func() { done <- get() }()
	fmt.Println(<-done)
	// Output: ExampleFinder on background:ExampleFinder
}
