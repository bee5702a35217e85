package lag

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

func TestBackfill(t *testing.T) {
	for _, tt := range []struct {
		name   string
		script map[int]time.Duration
		want   []time.Duration
		wakes  uint64
	}{
		{"nothing", nil, nil, 20},
		// From the slot before, the ticker is away for 270 ms.
		{"270 ms", map[int]time.Duration{2: 220 * ms}, []time.Duration{220 * ms, 170 * ms, 120 * ms, 70 * ms, 20 * ms}, 16},
		{"less than an interval", map[int]time.Duration{3: 20 * ms}, []time.Duration{20 * ms}, 20},
		// Late by exactly one interval: the next slot is due at that instant.
		{"an interval", map[int]time.Duration{3: 50 * ms}, []time.Duration{50 * ms}, 19},
		{"one more nanosecond", map[int]time.Duration{3: 50*ms + 1}, []time.Duration{50*ms + 1, 1}, 19},
		{"one less nanosecond", map[int]time.Duration{3: 50*ms - 1}, []time.Duration{50*ms - 1}, 20},
		{"several", map[int]time.Duration{5: 130 * ms, 8: 20 * ms, 9: 50 * ms},
			[]time.Duration{130 * ms, 80 * ms, 30 * ms, 20 * ms, 50 * ms}, 17},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := stalled(Options{}, tt.script)
				w := watch(t, p)
				time.Sleep(time.Second)
				r := w.Close()
				wantSlots(t, p, r)
				wantValues(t, r, "timer", tt.want...)
				wantValues(t, r, "total", tt.want...)
				wantValues(t, r, "queue")
				if s := wantStats(t, r); s.Slots != 20 || s.Wakes != tt.wakes {
					t.Errorf("got %d slots, %d wakes, want 20, %d", s.Slots, s.Wakes, tt.wakes)
				}
			})
		})
	}
}

// A wake-up before its time is on time, not early.
func TestNeverNegative(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := blind(Options{})
		p.group.wait = func(t *ticker, due int64) bool { return t.sleep(due - int64(3*ms)) }
		w := watch(t, p)
		time.Sleep(time.Second)
		r := w.Close()
		wantSlots(t, p, r)
		for _, component := range []string{"timer", "queue", "total"} {
			wantValues(t, r, component)
			if n := dist(t, r, component).Clamped(); n != 0 {
				t.Errorf("%s: %d negative values", component, n)
			}
		}
	})
}

// Lag beyond what a distribution holds counts as an hour, and is counted.
func TestClamped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := stalled(Options{Interval: time.Minute}, map[int]time.Duration{1: 2 * time.Hour})
		w := watch(t, p)
		time.Sleep(3 * time.Hour)
		r := w.Close()
		wantSlots(t, p, r)
		d := dist(t, r, "total")
		// Late by 120, 119, … 61 minutes.
		if d.Max() != int64(time.Hour) || d.Clamped() != 60 {
			t.Errorf("got maximum %v, %d clamped, want 1h, 60", time.Duration(d.Max()), d.Clamped())
		}
	})
}

// A process that was stopped overnight does not spend its morning on records.
func TestGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := stalled(Options{}, map[int]time.Duration{1: 24 * time.Hour})
		w := watch(t, p)
		time.Sleep(25 * time.Hour)
		r := w.Close()
		wantSlots(t, p, r)
		const day, hour = 24 * 3600 * 20, 3600 * 20
		s := wantStats(t, r)
		if want := uint64(day + 1 - maxBackfill); s.Gap != want {
			t.Errorf("got a gap of %d slots, want %d", s.Gap, want)
		}
		// The records stand evenly for the slots: of 24 hours 23 are over an hour.
		d := dist(t, r, "timer")
		if got, want := float64(d.Clamped())/maxBackfill, 23.0/24; got < want-1e-4 || got > want+1e-4 {
			t.Errorf("a share of %v is over an hour, want %v", got, want)
		}
		if d.Count() < hour-2 || d.Max() != int64(time.Hour) {
			t.Errorf("got %d records, maximum %v", d.Count(), time.Duration(d.Max()))
		}
	})
}

// Whatever the stalls and however slow the run queue, windows that tile time
// hold every slot exactly once, and a slot that is not served is under way.
func TestInvariant(t *testing.T) {
	for seed := range uint64(50) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rnd := rand.New(rand.NewPCG(seed, 0))
				script := map[int]time.Duration{}
				for range 5 {
					script[1+rnd.IntN(40)] = time.Duration(rnd.Int64N(int64(300 * ms)))
				}
				queue := time.Duration(rnd.Int64N(int64(200 * ms)))
				p := stalled(Options{}, script)
				p.yield = func() { time.Sleep(queue) }
				testTiling(t, p, func() { time.Sleep(time.Duration(1 + rnd.Int64N(int64(500*ms)))) })
			})
		})
	}
}

func testTiling(t *testing.T, p *Probe, pass func()) {
	all, tiles := watch(t, p), watch(t, p)
	var sum Stats
	var r probe.Reading
	for range 10 {
		pass()
		tiles.Next(&r)
		s := wantStats(t, &r)
		sum.Slots += s.Slots
		sum.Timer.Count += s.Timer.Count
		sum.Total.Count += s.Total.Count
	}
	all.Read(&r)
	s := wantStats(t, &r)
	if s.Slots != sum.Slots || s.Timer.Count != sum.Timer.Count || s.Total.Count != sum.Total.Count {
		t.Errorf("the tiles add up to %+v, want %+v", sum, s)
	}
	// A slot that a stall is swallowing now is not counted before its end.
	age, _ := p.Pending()
	if due := int64((r.Duration() - age - 1) / p.interval); int64(s.Slots) < due || s.Slots > uint64(r.Duration()/p.interval) {
		t.Errorf("got %d slots in %v, pending for %v", s.Slots, r.Duration(), age)
	}
	if s.Timer.Count != s.Slots {
		t.Errorf("got %d slots ticked, want all %d", s.Timer.Count, s.Slots)
	}
	if n := outstanding(p.running.Load()); s.Total.Count+uint64(n) != s.Slots {
		t.Errorf("got %d slots served and %d under way, want %d together", s.Total.Count, n, s.Slots)
	}
}

// Under real load on one processor every slot is there too. How late they are
// is the machine's business.
func TestBusyProcessor(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	p := New(Options{Interval: 5 * ms})
	before := time.Now()
	w := watch(t, p)
	opened := time.Now()

	var done atomic.Bool
	var spinners sync.WaitGroup
	for range 4 {
		spinners.Go(func() {
			for !done.Load() {
			}
		})
	}
	time.Sleep(150 * ms)
	done.Store(true)
	spinners.Wait()

	closing := time.Now()
	s := wantStats(t, w.Close())
	// Due between Watch's return and Close are certainly in, before Watch and
	// after Close certainly not.
	least, most := closing.Sub(opened)/p.interval, time.Since(before)/p.interval+1
	if s.Slots < uint64(least) || s.Slots > uint64(most) {
		t.Errorf("got %d slots, want %d to %d", s.Slots, least, most)
	}
	if s.Timer.Count < uint64(least) || s.Total.Count < uint64(least) {
		t.Errorf("got %d and %d slots in timer and total, want at least %d", s.Timer.Count, s.Total.Count, least)
	}
}

// A slot allocates nothing, with the evidence of a real machine too; through a loop it
// is the beat, which the loop may keep.
func TestTickAllocs(t *testing.T) {
	for name, tt := range map[string]struct {
		through func(beat func())
		most    float64
	}{"scheduler": {nil, 0}, "loop": {func(beat func()) { beat() }, 1}} {
		t.Run(name, func(t *testing.T) {
			p := New(Options{Through: tt.through})
			p.yield = func() {}
			tr, tick := ticking(p)
			defer tr.ticker.history.sampler.close()
			if n := testing.AllocsPerRun(200, func() { tick(); tr.idleAgain() }); n > tt.most {
				t.Errorf("got %v allocations a tick, want at most %v", n, tt.most)
			}
			if n := tr.ticker.history.n; n < 200 {
				t.Errorf("got %d snapshots, want one a tick", n)
			}
			var served probe.Dist
			if p.series.total.Snapshot(&served); served.Count() < 200 {
				t.Errorf("got %d slots served, want one a tick", served.Count())
			}
		})
	}
}

// idleAgain waits for the goroutines of the slots so far.
func (tr *track) idleAgain() {
	tr.errands.Wait()
	for calls := 1; calls > 0; runtime.Gosched() {
		tr.mu.Lock()
		calls = tr.loop.calls
		tr.mu.Unlock()
	}
}

// ticking is a probe's track on a clock that stands still, and a function that is
// one tick on time, with evidence.
func ticking(p *Probe) (*track, func()) {
	tr := newTrack(p)
	var due atomic.Int64
	due.Store(tr.interval)
	c := clock{now: due.Load}
	tr.ticker = &ticker{clock: c, interval: tr.interval, floor: &p.group.floor, history: &history{sampler: p.newSampler()}}
	tr.begin(tr.interval)
	tracks := []*track{tr}
	return tr, func() {
		tr.tick(due.Load(), due.Load(), 1)
		tr.ticker.explain(tr.ticker.history, tracks, due.Load(), due.Load(), true)
		due.Add(tr.interval)
	}
}

func BenchmarkTick(b *testing.B) {
	tr, tick := ticking(New(Options{}))
	defer tr.ticker.history.sampler.close()
	b.ReportAllocs()
	for b.Loop() {
		tick()
		tr.idleAgain()
	}
}

// A tick that was in the channel before is not the slot's.
func TestEarlyTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		early := make(chan time.Time, 1)
		early <- time.Now()
		tk := newTicker(clock{now: probe.Now, wait: (*ticker).sleep}, 50*ms, &floor{})
		real := tk.timer.C
		tk.timer.C = early
		go func() { early <- <-real }()
		due := probe.Now() + int64(50*ms)
		if !tk.sleep(due) || probe.Now() < due {
			t.Errorf("woke %v before the slot was due", time.Duration(due-probe.Now()))
		}
	})
}

// One stall in a minute is in the percentiles for as long as it was: of 1,200 slots it
// swallowed 100. One value for it would be below the 99th.
func TestStallInPercentiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := stalled(Options{}, map[int]time.Duration{100: 5 * time.Second})
		w := watch(t, p)
		time.Sleep(60*time.Second + ms)
		s := wantStats(t, w.Close())
		if want := 4400 * ms; s.Slots != 1200 || s.Total.P99 < want || s.Total.P99 > want+want/1000 {
			t.Errorf("got %v at the 99th percentile of %d slots, want %v of 1200", s.Total.P99, s.Slots, want)
		}
	})
}
