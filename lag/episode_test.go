package lag

import (
	"context"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
)

// scriptedStall is stalled with a sampler of the test's.
func scriptedStall(o Options, late map[int]time.Duration) (*Probe, *script) {
	p, s := stalled(o, late), &script{}
	p.newSampler = func() sampler { return s }
	p.group.floor.cpu = func() (time.Duration, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.now.cpu, nil
	}
	return p, s
}

// onlyStall is the one stall of a reading.
func onlyStall(t *testing.T, r *probe.Reading) Stall {
	t.Helper()
	stalls := StallsOf(r)
	if len(stalls) != 1 {
		t.Fatalf("got %d stalls, want 1: %+v", len(stalls), stalls)
	}
	return stalls[0]
}

// A stall has a start, a length and its bound, and the slots that it swallowed.
func TestStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, _ := scriptedStall(Options{}, map[int]time.Duration{4: 270 * ms}) // slot 4, due at 200 ms
		w := watch(t, p)
		start := time.Now()
		time.Sleep(time.Second)
		s := onlyStall(t, w.Close())
		got := Stall{ID: s.ID, Duration: s.Duration, UpperBound: s.UpperBound, Slots: s.Slots, Missed: s.Missed, Timer: s.Timer}
		want := Stall{ID: 1, Duration: 270 * ms, UpperBound: 320 * ms, Slots: 6, Missed: 5, Timer: 270 * ms}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("stall (-want +got):\n%s", diff)
		}
		if at := s.Start.Sub(start); at != 200*ms {
			t.Errorf("got a start at %v, want 200ms", at)
		}
		if !strings.HasPrefix(s.Text, "stall 270 ms at ") {
			t.Errorf("got %q", s.Text)
		}
	})
}

func TestThreshold(t *testing.T) {
	for _, tt := range []struct {
		threshold, late time.Duration
		stalls          int
	}{
		{0, 100*ms - 1, 0}, {0, 100 * ms, 1},
		{20 * ms, 20 * ms, 1}, {20 * ms, 19 * ms, 0},
		{-1, time.Second, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := stalled(Options{Threshold: tt.threshold}, map[int]time.Duration{2: tt.late})
			w := watch(t, p)
			time.Sleep(2 * time.Second)
			if got := len(StallsOf(w.Close())); got != tt.stalls {
				t.Errorf("threshold %v, late by %v: got %d stalls, want %d", tt.threshold, tt.late, got, tt.stalls)
			}
		})
	}
}

// Late wake-ups less than two intervals apart are one episode, and a long
// overload is one event.
func TestEpisodesMerge(t *testing.T) {
	for _, tt := range []struct {
		name string
		late map[int]time.Duration
		want []time.Duration
	}{
		// Wakes at 220 (slot 2 of 100 ms), next due 250: late to 400.
		{"next slot", map[int]time.Duration{2: 120 * ms, 3: 150 * ms}, []time.Duration{300 * ms}},
		// Slots due at 250 on time, 300 late to 420: 80 ms after the end.
		{"one on time between", map[int]time.Duration{2: 120 * ms, 4: 120 * ms}, []time.Duration{320 * ms}},
		// 250, 300 on time, 350 late: 130 ms after the end.
		{"two on time between", map[int]time.Duration{2: 120 * ms, 5: 120 * ms}, []time.Duration{120 * ms, 120 * ms}},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := stalled(Options{}, tt.late)
			w := watch(t, p)
			time.Sleep(2 * time.Second)
			var got []time.Duration
			for _, s := range StallsOf(w.Close()) {
				got = append(got, s.Duration)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.name, diff)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		p := blind(Options{})
		overload := time.Now().Add(time.Second)
		p.yield = func() {
			if d := time.Since(overload); d > 0 && d < 10*time.Second {
				time.Sleep(150 * ms)
			}
		}
		w := watch(t, p)
		time.Sleep(15 * time.Second)
		s := onlyStall(t, w.Close())
		if s.Duration != 10050*ms || s.Queue != 150*ms || s.Timer != 0 {
			t.Errorf("got %v, queue %v, timer %v, want one stall of 10.05s (150 ms after the last slot), 150ms, 0", s.Duration, s.Queue, s.Timer)
		}
	})
}

// What the kernel and the runtime write after the wake-up is in the evidence:
// it is settled one slot later.
func TestLateCounters(t *testing.T) {
	for _, tt := range []struct {
		stopping, late func(now *snapshot) // what is written in the stall, as the world stops, and after it
		want           Cause
		text           string
	}{
		{func(now *snapshot) {}, func(now *snapshot) { now.throttled, now.periods, now.exhausted = 300*ms, 3, 3 },
			CauseThrottled, "100 % CPU quota (throttled for 300 ms"},
		{func(now *snapshot) { now.stoppingOther = pauses{1, 2 * ms} }, func(now *snapshot) { now.totalOther = pauses{1, 300 * ms} },
			CausePauseOther, "100 % stop-the-world (1 of together 300 ms, 2.0 ms of it until all had stopped"},
		{func(now *snapshot) { now.stoppingGC = pauses{1, 2 * ms} }, func(now *snapshot) { now.totalGC = pauses{2, 300 * ms} },
			CausePauseGC, "100 % GC stop-the-world (2 of together 300 ms, 2.0 ms of it until all had stopped"},
	} {
		synctest.Test(t, func(t *testing.T) {
			p, s := scriptedStall(Options{}, map[int]time.Duration{4: 300 * ms}) // until 500 ms
			s.change(func(now *snapshot) { now.has = hasCPU | hasRunDelay | hasThrottled | hasPauses })
			w := watch(t, p)
			time.Sleep(450 * ms)
			s.change(tt.stopping)
			time.Sleep(75 * ms)
			s.change(tt.late)
			time.Sleep(time.Second)
			stall := onlyStall(t, w.Close())
			if c := stall.Causes[0]; c.Cause != tt.want || c.Weight != 1 {
				t.Errorf("got %+v, want %s alone", stall.Causes, tt.want)
			}
			if !strings.Contains(stall.Text, tt.text) {
				t.Errorf("got %q, want %q in it", stall.Text, tt.text)
			}
		})
	}
}

// Counters that moved before or after the stall do not explain it.
func TestEvidenceWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := scriptedStall(Options{}, map[int]time.Duration{10: 300 * ms}) // 500 to 800 ms
		s.change(func(now *snapshot) { now.has = hasCPU | hasRunDelay | hasThrottled | hasPauses | hasGC })
		w := watch(t, p)
		time.Sleep(425 * ms)
		everything := func(now *snapshot) {
			now.cpu, now.runDelay, now.throttled = now.cpu+time.Second, now.runDelay+time.Second, now.throttled+time.Second
			now.totalGC.sum, now.gcCPU = now.totalGC.sum+time.Second, now.gcCPU+time.Second
		}
		s.change(everything)
		time.Sleep(500 * ms) // 925 ms: more than a slot after the end
		s.change(everything)
		time.Sleep(time.Second)
		stall := onlyStall(t, w.Close())
		if c := stall.Causes; len(c) != 1 || c[0].Cause != CauseStopped {
			t.Errorf("got %+v, want stopped: nothing moved in the stall", c)
		}
	})
}

// A stall that is going on at a Close is emitted as ongoing, and completed under
// its number for who watches on.
func TestOngoing(t *testing.T) {
	for name, stuck := range map[string]func(p *Probe) *Probe{
		"ticker": func(p *Probe) *Probe { return p },
		"queue": func(p *Probe) *Probe {
			p.group.wait = (*ticker).sleep
			until := time.Now().Add(5500 * ms)
			p.yield = func() { time.Sleep(time.Until(until)) }
			return p
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := stuck(stalled(Options{}, map[int]time.Duration{10: 5000 * ms})) // due at 500 ms
				if name == "queue" {
					time.Sleep(500 * ms)
				}
				on, first := watch(t, p), watch(t, p)
				time.Sleep(2 * time.Second)
				early := onlyStall(t, first.Close()) // waits a second
				if !early.Ongoing || early.Duration < 2400*ms || early.Duration > 3000*ms {
					t.Errorf("got %+v, want an ongoing stall of 2.5 to 3 s", early)
				}
				if !strings.Contains(early.Text, " so far") {
					t.Errorf("got %q, want it to say so", early.Text)
				}
				time.Sleep(7 * time.Second)
				r := on.Close()
				late := onlyStall(t, r)
				if late.Ongoing || late.ID != early.ID || !late.Start.Equal(early.Start) || late.Duration < 4900*ms {
					t.Errorf("got %+v, want number %d completed after 5 s", late, early.ID)
				}
				want := 2 // the ongoing one of the Close, and the completed one
				if name == "queue" {
					want++ // and that after a second
				}
				for i, e := range r.Events {
					if e.Ongoing != (i < want-1) || e.ID != late.ID {
						t.Errorf("got event %d of the stall %d, ongoing %t", i, e.ID, e.Ongoing)
					}
				}
				if len(r.Events) != want {
					t.Errorf("got %d events, want %d", len(r.Events), want)
				}
			})
		})
	}
}

// A Close right after a stall has its event, explained.
func TestCloseExplains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := stalled(Options{}, map[int]time.Duration{2: 300 * ms})
		w := watch(t, p)
		time.Sleep(400 * ms) // the instant at which the ticker wakes
		closing := time.Now()
		s := onlyStall(t, w.Close())
		if s.Ongoing || s.Duration != 300*ms || time.Since(closing) > 150*ms {
			t.Errorf("got %+v after %v, want 300 ms complete", s, time.Since(closing))
		}
	})
}

// A stall of the application's loop is charged to it, with the one who held it.
func TestLoopStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newActor(t, 0)
		p, sched := blind(Options{Name: "turns", Through: a.through}), blind(Options{})
		ops := new(probe.Ops)
		w := watch2(t, ops, p, sched)
		time.Sleep(210 * ms)
		a.mailbox <- func() {
			_, op := ops.Begin(probe.WithRole(context.Background(), "main"), "vacuum")
			time.Sleep(600 * ms)
			op.End(nil)
		}
		time.Sleep(time.Second)
		s := onlyStall(t, w.Close())
		if !s.Loop || s.Probe != "turns" || s.Duration != 560*ms || s.LoopWait != 560*ms || s.Causes[0].Cause != CauseApplication {
			t.Errorf("got %+v, want 560 ms of the loop turns, in the application", s)
		}
		for _, want := range []string{"stall of the loop turns 560 ms at ", ": 100 % waiting in the application", "; in flight: vacuum on main, 600 ms"} {
			if !strings.Contains(s.Text, want) {
				t.Errorf("got %q, want %q in it", s.Text, want)
			}
		}
	})
}

// While nothing moves, one slot in five takes evidence; a process that works, a
// late wake-up and a stall under way want it at every slot.
func TestEvidenceRests(t *testing.T) {
	for _, tt := range []struct {
		name   string
		late   map[int]time.Duration
		busy   bool
		queue  time.Duration
		looked int // of 20 slots, and one look at the start
	}{
		{"idle", nil, false, 0, 5},
		{"busy", nil, true, 0, 21},
		{"queue", nil, false, 60 * ms, 21},                           // whose slots overlap
		{"one late", map[int]time.Duration{3: 20 * ms}, false, 0, 6}, // and then every fifth
		{"stall", map[int]time.Duration{2: 120 * ms}, false, 0, 8},   // also at 250, 300 and 350, when it is complete
	} {
		synctest.Test(t, func(t *testing.T) {
			p, s := scriptedStall(Options{}, tt.late)
			p.yield = func() { time.Sleep(tt.queue) }
			w := watch(t, p)
			time.Sleep(30 * ms)
			for range 20 {
				if tt.busy {
					s.change(func(now *snapshot) { now.cpu += 10 * ms })
				}
				time.Sleep(50 * ms)
			}
			h := p.running.Load().ticker.history
			h.mu.Lock()
			if h.n != tt.looked {
				t.Errorf("%s: got %d snapshots, want %d", tt.name, h.n, tt.looked)
			}
			h.mu.Unlock()
			w.Close()
		})
	}
}

// The evidence is in the event: what the process was like and what the counters
// did, and what is not known is not there. The probe's own goroutine is not counted as
// runnable.
func TestStallEvidence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := scriptedStall(Options{Name: "main"}, map[int]time.Duration{10: 300 * ms}) // 500 to 800 ms
		s.facts_ = facts{rss: 100 << 20, load: 2.5, missing: []string{"throttling: no cgroup"}}
		s.change(func(now *snapshot) {
			now.has = everything &^ hasThrottled
			now.threads, now.goroutines, now.runnable, now.procs = 9, 40, 7, 4
		})
		w := watch(t, p)
		time.Sleep(600 * ms)
		s.change(func(now *snapshot) {
			now.cpu, now.runDelay, now.faults, now.procs, now.goroutines = 30*ms, 200*ms, 3, 2, 50
			now.totalGC, now.gcCPU, now.cycles, now.assist = pauses{2, ms}, 20*ms, 1, 5*ms
		})
		time.Sleep(time.Second)
		r := w.Close()
		if len(r.Events) != 1 {
			t.Fatalf("got %d events, want 1", len(r.Events))
		}
		got := map[string]string{}
		for _, a := range r.Events[0].Attrs {
			got[strings.TrimPrefix(a.Key, attrPrefix)] = a.Value
		}
		want := map[string]string{
			probe.AttrProbeName: "main", "upper_bound": "0.35", "slots": "7", "missed": "6", "timer": "0.3", "queue": "0", "loop": "0",
			"goroutines": "50", "threads": "9", "gomaxprocs": "2", "gomaxprocs.before": "4", "rss": "104857600", "load": "2.50",
			"missing": "throttling: no cgroup", "cpu": "0.03", "run_delay": "0.2", "steal": "0", "pressure": "0", "suspended": "0",
			"pause.gc": "0.001", "pauses.gc": "2", "pause.other": "0", "pauses.other": "0", "gc.cpu": "0.02", "gc.cycles": "1",
			"gc.assist": "0.005", "runnable": "6", "faults.major": "3",
		}
		for key, value := range want {
			if got[key] != value {
				t.Errorf("%s: got %q, want %q", key, got[key], value)
			}
		}
		for key := range got {
			if _, ok := want[key]; !ok && !strings.HasPrefix(key, "cause.") {
				t.Errorf("got %s = %q, want no such attribute", key, got[key])
			}
		}
	})
}

// The evidence from before a slot is kept until the slot is late by the threshold,
// however many intervals that is.
func TestHistoryReachesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, sc := scriptedStall(Options{Interval: 2 * ms, Threshold: time.Second}, nil)
		sc.change(func(s *snapshot) { s.has = hasCPU | hasThrottled })
		var slow atomic.Bool
		p.yield = func() {
			if slow.Load() {
				time.Sleep(1500 * ms)
			}
		}
		w := watch(t, p)
		time.Sleep(101 * ms)
		slow.Store(true)
		for range 160 { // throttled for 800 ms of the 1.6 s
			time.Sleep(5 * ms)
			sc.change(func(s *snapshot) { s.throttled += 5 * ms; s.periods, s.exhausted = 1, 1 })
		}
		slow.Store(false)
		time.Sleep(3 * time.Second)
		if s := onlyStall(t, w.Close()); s.Causes[0].Cause != CauseThrottled && s.Causes[1].Cause != CauseThrottled {
			t.Errorf("got %q, want the quota among the causes", s.Text)
		}
	})
}

// A stall that is over when a window closes is not called one that goes on, even if
// there was no time to settle it; one that it is part of is completed later.
func TestEndedIsNotOngoing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := stalled(Options{Interval: time.Second}, map[int]time.Duration{2: 300 * ms})
		all, w := watch(t, p), watch(t, p)
		time.Sleep(2400 * ms) // it has been over for 100 ms
		if s := onlyStall(t, w.Close()); s.Ongoing || s.Duration != 300*ms || strings.Contains(s.Text, "so far") {
			t.Errorf("got %q, want it over", s.Text)
		}
		time.Sleep(3 * time.Second)
		r := all.Close()
		if s := onlyStall(t, r); s.Ongoing || s.Duration != 300*ms || len(r.Events) != 2 {
			t.Errorf("got %q of %d events, want it settled under the same number", s.Text, len(r.Events))
		}
	})
}

// A window for life hears of a loop that is stuck for as long, each time that it has
// been so for ten times as long.
func TestStuckIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		block := make(chan struct{})
		p := blind(Options{Through: func(beat func()) { <-block; beat() }})
		w := watch(t, p)
		time.Sleep(5 * time.Minute)
		var r probe.Reading
		w.Read(&r)
		for i, e := range r.Events {
			if want := time.Duration(math.Pow10(i)) * time.Second; !e.Ongoing || e.Duration < want || e.Duration > want+want/10 {
				t.Errorf("got an event after %v, ongoing %t, want one after %v", e.Duration, e.Ongoing, want)
			}
		}
		if len(r.Events) != 3 || onlyStall(t, &r).Causes[0].Cause != CauseApplication {
			t.Errorf("got %d events, want 3 of one stall in the application", len(r.Events))
		}
		close(block)
	})
}
