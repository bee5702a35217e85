package lag

import (
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
)

const ms = time.Millisecond

// An hour on time is one wake-up for each of 72,000 slots and nothing else: no other
// wake-ups, no allocations.
func TestOnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := blind(Options{})
		w := watch(t, p)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		time.Sleep(time.Hour)
		runtime.ReadMemStats(&after)
		if n := after.Mallocs - before.Mallocs; n > 7200 {
			t.Errorf("got %d allocations, want less than one in ten slots", n)
		}
		r := w.Close()
		want := Stats{Slots: 72000, Wakes: 72000,
			Timer: Part{Count: 72000}, Queue: Part{Count: 72000}, Total: Part{Count: 72000}}
		if diff := cmp.Diff(want, wantStats(t, r)); diff != "" {
			t.Errorf("an hour on time (-want +got):\n%s", diff)
		}
	})
}

func TestInterval(t *testing.T) {
	for _, tt := range []struct {
		interval time.Duration
		err      string
	}{
		{0, ""},
		{2 * ms, ""},
		{2*ms - 1, "Options.Interval is 1.999999ms"},
		{-1, "Options.Interval is -1ns"},
	} {
		w, err := New(Options{Interval: tt.interval}).Watch()
		if err == nil {
			w.Close()
		}
		if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("interval %v: got error %v, want %q", tt.interval, err, tt.err)
		}
	}
}

func TestWindowsAreIndependent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := stalled(Options{}, map[int]time.Duration{4: 130 * ms}) // slot 4, due at 200 ms
		all := watch(t, p)
		tiles := watch(t, p)
		time.Sleep(110 * ms)
		late := watch(t, p)
		time.Sleep(500 * ms)

		var first, second probe.Reading
		tiles.Next(&first)
		time.Sleep(400 * ms)
		tiles.Next(&second)
		for _, r := range []*probe.Reading{&first, &second} {
			wantSlots(t, p, r)
		}
		wantValues(t, &first, "total", 130*ms, 80*ms, 30*ms)
		wantValues(t, &second, "total")

		for _, w := range []*probe.Window{late, all} {
			r := w.Close()
			wantSlots(t, p, r)
			wantValues(t, r, "total", 130*ms, 80*ms, 30*ms)
		}
		if got := wantStats(t, tiles.Close()).Slots; got != 0 {
			t.Errorf("got %d slots since the last Next, want 0", got)
		}
	})
}

// A second life begins a schedule of its own: the time between two windows is
// no gap.
func TestWatchAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := blind(Options{})
		for range 3 {
			w := watch(t, p)
			time.Sleep(time.Second)
			r := w.Close()
			wantSlots(t, p, r)
			wantValues(t, r, "total")
			time.Sleep(time.Hour + 13*ms)
		}
	})
}

// A stall that is over when Close is called is in the last reading, though the
// ticker has not run yet.
func TestCloseAfterStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := stalled(Options{}, map[int]time.Duration{2: 150 * ms})
		w := watch(t, p)
		time.Sleep(250 * ms) // the instant at which the ticker wakes
		r := w.Close()
		wantSlots(t, p, r)
		wantValues(t, r, "total", 150*ms, 100*ms, 50*ms)
	})
}

// Close in the middle of a stall waits for its end, or for a second.
func TestCloseDuringStall(t *testing.T) {
	for _, tt := range []struct {
		stall, closes time.Duration
		slots         uint64
	}{
		{500 * ms, 500 * ms, 13},  // until 550 ms, and explained two slots later
		{5000 * ms, 1000 * ms, 0}, // nothing is known after a second
	} {
		synctest.Test(t, func(t *testing.T) {
			p := stalled(Options{}, map[int]time.Duration{1: tt.stall})
			w := watch(t, p)
			time.Sleep(150 * ms)
			s := p.running.Load()
			began := time.Now()
			s.settle(probe.Now(), time.Second)
			if got := time.Since(began); got != tt.closes {
				t.Errorf("stall of %v: settled after %v, want %v", tt.stall, got, tt.closes)
			}
			s.mu.Lock()
			if got := len(s.settlers); got != 0 {
				t.Errorf("stall of %v: %d settlers left", tt.stall, got)
			}
			s.mu.Unlock()
			var r probe.Reading
			w.Read(&r)
			if got := wantStats(t, &r).Slots; got != tt.slots {
				t.Errorf("stall of %v: got %d slots, want %d", tt.stall, got, tt.slots)
			}
		})
	}
}

// Closing twice, at once and beside other windows leaves no goroutine: the
// bubble would not end.
func TestCloseConcurrently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := stalled(Options{}, map[int]time.Duration{3: 700 * ms})
		var wg sync.WaitGroup
		for range 4 {
			w := watch(t, p)
			for range 3 {
				wg.Go(func() {
					time.Sleep(300 * ms)
					wantSlots(t, p, w.Close())
					wantSlots(t, p, w.Close())
				})
			}
		}
		wg.Wait()
		if p.running.Load() != nil {
			t.Error("the schedule still runs after the last Close")
		}
	})
}

func TestPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := stalled(Options{}, map[int]time.Duration{2: 400 * ms})
		want := func(age time.Duration, watched bool) {
			t.Helper()
			if a, ok := p.Pending(); a != age || ok != watched {
				t.Errorf("got pending %v, watched %v, want %v, %v", a, ok, age, watched)
			}
		}
		want(0, false)
		w := watch(t, p)
		want(0, true)
		time.Sleep(90 * ms) // slot 1 is served
		want(0, true)
		time.Sleep(310 * ms) // slot 2, due at 100 ms, is not
		want(300*ms, true)
		time.Sleep(110 * ms)
		want(0, true)
		w.Close()
		want(0, false)
	})
}

// Every request may ask: no lock, no allocation.
func TestPendingAllocs(t *testing.T) {
	p := New(Options{})
	w := watch(t, p)
	if n := testing.AllocsPerRun(100, func() { p.Pending() }); n != 0 {
		t.Errorf("got %v allocations, want 0", n)
	}
	tr := p.running.Load()
	tr.mu.Lock() // whoever holds the track's lock does not hold Pending up
	p.Pending()
	tr.mu.Unlock()
	w.Close()
}

func BenchmarkPending(b *testing.B) {
	p := New(Options{})
	w, err := p.Watch()
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			p.Pending()
		}
	})
}

// In a bubble nothing is known of a probe that is watched outside.
func TestPendingInBubble(t *testing.T) {
	p := New(Options{Interval: 10 * ms})
	watch(t, p)
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Second)
		if age, watched := p.Pending(); watched || age != 0 {
			t.Errorf("got %v, %v, want nothing known", age, watched)
		}
	})
	if _, watched := p.Pending(); !watched {
		t.Error("not watched outside")
	}
}
