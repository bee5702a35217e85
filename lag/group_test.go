package lag

import (
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// The probes of a Set that have one interval share a ticker, whatever the
// order in which sets are made, and each has all its slots.
func TestSharedSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		straight := func(beat func()) { beat() }
		a, b, c := blind(Options{}), blind(Options{Through: straight}), blind(Options{Name: "c"})
		other := blind(Options{Name: "other", Interval: 10 * ms})
		w := watch2(t, probe.NewSet(a, b), other, probe.NewSet(b, c))
		ticker := a.running.Load().ticker
		if b.running.Load().ticker != ticker || c.running.Load().ticker != ticker || other.running.Load().ticker == ticker {
			t.Error("want one ticker for those of 50 ms, and another for 10 ms")
		}
		time.Sleep(time.Second)
		r := w.Close()
		for name, want := range map[string]uint64{"": 20, "c": 20, "other": 100} {
			if got := statsOf(r, lagDuration, name); got.Slots != want || got.Total.Count != want {
				t.Errorf("probe %q: got %d slots, %d served, want %d", name, got.Slots, got.Total.Count, want)
			}
		}
		if got := loopStats(t, r); got.Slots != 20 || got.Total.Count != 20 {
			t.Errorf("loop: got %d slots, %d served, want 20", got.Slots, got.Total.Count)
		}
		if a.group.root().running != nil {
			t.Error("the shared ticker outlives its last track")
		}
	})
}

// A probe that joins a schedule begins with the next slot: neither the phase of
// the grid nor a stall that is going on gives it slots of a time before.
func TestJoinSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := stalled(Options{}, map[int]time.Duration{3: 230 * ms}) // asleep from 150 to 380 ms
		b := blind(Options{Name: "b"})
		probe.NewSet(b, a)
		wa := watch(t, a)
		time.Sleep(225 * ms)
		tb := newTrack(b)
		b.group.root().join(tb)
		b.running.Store(tb)
		if got, want := time.Duration(tb.unserved.Load()-a.running.Load().unserved.Load()), 100*ms; got != want {
			t.Errorf("its first slot is due %v after the one that the ticker is late for, want %v (250 and 150 ms)", got, want)
		}
		time.Sleep(1010*ms - 225*ms)
		if got := served(b); got != 16 {
			t.Errorf("got %d slots served, want the 16 due from 250 to 1000 ms", got)
		}
		tb.end()
		ra := wa.Close()
		wantSlots(t, a, ra)
		wantValues(t, ra, "timer", 230*ms, 180*ms, 130*ms, 80*ms, 30*ms)
	})
}

// served counts the slots that a probe has recorded since it was made.
func served(p *Probe) uint64 {
	var d probe.Dist
	p.series.total.Snapshot(&d)
	return d.Count()
}

// Probes that come and go share a ticker that others need, at any time.
func TestSharedConcurrently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		probes := []*Probe{blind(Options{Name: "a"}), blind(Options{Name: "b"}), blind(Options{Name: "c"})}
		probe.NewSet(probes[0], probes[1], probes[2])
		var wg sync.WaitGroup
		for i, p := range probes {
			for k := range 10 {
				wg.Go(func() {
					time.Sleep(time.Duration(7*i+13*k) * ms)
					w := watch(t, p)
					time.Sleep(time.Duration(100+31*k) * ms)
					wantSlots(t, p, w.Close())
				})
			}
		}
		wg.Wait()
		if probes[0].group.root().running != nil {
			t.Error("the ticker runs for nobody")
		}
	})
}

// A change of GOMAXPROCS, which stops the world, loses no slot.
func TestGOMAXPROCS(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	p := New(Options{Interval: 2 * ms})
	from := time.Now()
	w := watch(t, p)
	opened := time.Now()
	for n := 0; time.Since(opened) < 100*ms; n++ {
		runtime.GOMAXPROCS(1 + n%4)
		runtime.Gosched()
	}
	closing := time.Now()
	s := wantStats(t, w.Close())
	least, most := closing.Sub(opened)/p.interval, time.Since(from)/p.interval+1
	if s.Slots < uint64(least) || s.Slots > uint64(most) || s.Total.Count < uint64(least) {
		t.Errorf("got %d slots, %d served, want %d to %d", s.Slots, s.Total.Count, least, most)
	}
}
