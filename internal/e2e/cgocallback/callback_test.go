//go:build cgo && !windows

package cgocallback

import (
	"context"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
)

// store stands for a service's store that C calls back.
type store struct{ got [2]string }

func (s *store) Load() { s.load() }

func (s *store) load() {
	l := probe.LabelOf(context.Background())
	s.got = [2]string{l.Method, l.Role}
}

// inGoroutine runs f on a goroutine of its own.
func inGoroutine(f func()) {
	var wg sync.WaitGroup
	wg.Go(f)
	wg.Wait()
}

// TestChainsThroughC: behind C is another part of the same goroutine, whose
// first function is what counts. Each chain is new once and known afterwards.
func TestChainsThroughC(t *testing.T) {
	s := new(store)
	check := func(what, role string) {
		t.Helper()
		if diff := cmp.Diff([2]string{"(*store).Load", role}, s.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
		s.got = [2]string{}
	}
	for range 3 {
		call(s.Load)
		check("on the test's goroutine", "test")
		inGoroutine(func() { call(s.Load) })
		check("on another", "background:TestChainsThroughC")
		call(func() { inGoroutine(s.Load) })
		check("on a goroutine that a callback starts", "background:(*store).Load") // what WaitGroup.Go was given
		call(func() { call(s.Load) })
		check("through C twice", "test")
		func() {
			defer func() { _ = recover(); call(s.Load) }()
			panic("x")
		}()
		check("during a panic", "test")
		if err := callOnThread(s.Load); err != nil {
			t.Fatal(err)
		}
		check("on a thread of C", "background:cgocallback")
	}
}

// TestManyThreads has threads of C come and go, each with another stack.
func TestManyThreads(t *testing.T) {
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 200 {
				s := new(store)
				if err := callOnThread(s.Load); err != nil {
					t.Error(err)
					return
				}
				if want := [2]string{"(*store).Load", "background:cgocallback"}; s.got != want {
					t.Errorf("got %q, want %q", s.got, want)
				}
			}
		})
	}
	wg.Wait()
}
