package lag

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// An actor serves one message at a time.
type actor struct{ mailbox chan func() }

// newActor starts one that the test's end stops.
func newActor(t *testing.T, room int) actor {
	a := actor{make(chan func(), room)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for f := range a.mailbox {
			f()
		}
	}()
	t.Cleanup(func() { close(a.mailbox); <-done })
	return a
}

func (a actor) through(beat func()) { a.mailbox <- beat }

// loopStats are those of the loop without a name.
func loopStats(t *testing.T, r *probe.Reading) Stats {
	t.Helper()
	s, ok := LoopStatsOf(r, "")
	if !ok {
		t.Fatal("the reading has no lag of a loop in it")
	}
	return s
}

// A lock that is held for 600 ms under an actor stops its loop and not the
// scheduler, and every slot of the loop is there.
func TestLoopBehindLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newActor(t, 0)
		loop, sched := blind(Options{Through: a.through}), blind(Options{})
		w := watch2(t, loop, sched)
		lock := make(chan struct{}, 1) // a mutex on which a bubble's time passes
		lock <- struct{}{}
		time.Sleep(220 * ms)
		go func() { a.mailbox <- func() { lock <- struct{}{}; <-lock } }()
		time.Sleep(600 * ms)
		if age, watched := loop.Pending(); age != 570*ms || !watched {
			t.Errorf("got pending %v, %v, want 570 ms (since the slot at 250)", age, watched)
		}
		if age, _ := sched.Pending(); age != 0 {
			t.Errorf("got %v pending in the scheduler, want 0", age)
		}
		<-lock
		time.Sleep(190 * ms)
		r := w.Close()
		l, s := loopStats(t, r), wantStats(t, r)
		if l.Total.Max != 570*ms || l.Loop.Max != 570*ms || s.Total.Max != 0 {
			t.Errorf("got loop %v (in the loop %v), scheduler %v, want 570ms, 570ms, 0", l.Total.Max, l.Loop.Max, s.Total.Max)
		}
		if l.Slots != 20 || l.Total.Count != 20 || l.Loop.Count != 20 || l.Queue.Count != 20 || l.Timer.Count != 20 {
			t.Errorf("got %+v, want 20 slots in each part", l)
		}
		if l.BeatGap != 620*ms { // from the beat at 200 ms to the one at 820
			t.Errorf("got %v between two beats, want 620ms", l.BeatGap)
		}
		// Eight were under way, those due at 250 to 600 ms; four joined the last.
		if l.Saturated != 4 {
			t.Errorf("got %d saturated, want 4", l.Saturated)
		}
	})
}

// watch2 opens a window over a set.
func watch2(t *testing.T, probes ...probe.Probe) *probe.Window {
	t.Helper()
	w, err := probe.NewSet(probes...).Watch()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// A pool of workers is stuck when all of them are, and not before.
func TestLoopWorkerPool(t *testing.T) {
	for busy, want := range map[int]time.Duration{1: 0, 2: 0, 3: 270 * ms} {
		synctest.Test(t, func(t *testing.T) {
			jobs := make(chan func())
			var workers sync.WaitGroup
			for range 3 {
				workers.Go(func() {
					for job := range jobs {
						job()
					}
				})
			}
			p := blind(Options{Through: func(beat func()) { jobs <- beat }})
			w := watch(t, p)
			time.Sleep(120 * ms)
			for range busy {
				jobs <- func() { time.Sleep(300 * ms) }
			}
			time.Sleep(time.Second)
			s := loopStats(t, w.Close())
			if s.Total.Max != want || s.Total.Count != s.Slots {
				t.Errorf("%d of 3 workers busy: got a lag of %v, %d of %d served, want %v (from 150 to 420 ms) and all",
					busy, s.Total.Max, s.Total.Count, s.Slots, want)
			}
			close(jobs)
			workers.Wait()
		})
	}
}

// The wait for a turn in the loop is told from the wait in the run queue, and
// total is the sum of all parts.
func TestLoopParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := stalled(Options{Through: func(beat func()) { time.Sleep(9 * ms); beat() }}, map[int]time.Duration{2: 20 * ms})
		p.yield = func() { time.Sleep(3 * ms) }
		w := watch(t, p)
		time.Sleep(140 * ms)
		s := loopStats(t, w.Close())
		want := Stats{Slots: 2, Wakes: 2, BeatGap: 70 * ms}
		got := Stats{Slots: s.Slots, Wakes: s.Wakes, BeatGap: s.BeatGap}
		if got != want || s.Timer.Max != 20*ms || s.Queue.Max != 3*ms || s.Loop.Max != 9*ms || s.Total.Max != 32*ms {
			t.Errorf("got %+v, want timer 20, queue 3, loop 9, total 32 ms", s)
		}
	})
}

// A loop that does not move, or that forgets its beats, costs eight goroutines
// and no tick; Close does not wait for it beyond its second. If it may have lost the
// beats, three more find out in the first ten seconds.
func TestLoopStuck(t *testing.T) {
	for name, through := range map[string]func(moves chan struct{}, beat func()){
		"blocks":   func(moves chan struct{}, beat func()) { <-moves; beat() },
		"forgets":  func(chan struct{}, func()) {},
		"hands on": func(moves chan struct{}, beat func()) { go func() { <-moves; beat() }() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				moves := make(chan struct{})
				p := blind(Options{Through: func(beat func()) { through(moves, beat) }})
				w := watch(t, p)
				time.Sleep(10010 * ms)
				var r probe.Reading
				w.Read(&r)
				s := loopStats(t, &r)
				if s.Wakes != 200 || s.Timer.Count != 200 || s.Timer.Max != 0 {
					t.Errorf("got %d wakes, %d ticked, timer max %v, want 200, 200, 0", s.Wakes, s.Timer.Count, s.Timer.Max)
				}
				saturated := uint64(192)
				if name != "blocks" {
					saturated -= 3
				}
				if s.Total.Count != 0 || s.Saturated != saturated || s.BeatGap != 10010*ms {
					t.Errorf("got %d served, %d saturated, gap %v, want 0, %d, 10.01s", s.Total.Count, s.Saturated, s.BeatGap, saturated)
				}
				if age, watched := p.Pending(); age != 9960*ms || !watched {
					t.Errorf("got pending %v, %v, want 9.96s", age, watched)
				}
				closing := time.Now()
				w.Close()
				if d := time.Since(closing); d > 1200*ms {
					t.Errorf("Close took %v", d)
				}
				close(moves) // beats after Close: the bubble's end shows that they return
				synctest.Wait()
			})
		})
	}
}

// A beat counts once, and not in a window that its slot has nothing to do with.
func TestBeatTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var kept keptBeats
		p := blind(Options{Through: func(beat func()) {
			beat()
			beat()
			kept.keep(beat)
		}})
		for range 2 { // the second window sees the first one's beats called again
			w := watch(t, p)
			time.Sleep(1010 * ms)
			kept.call()
			s := loopStats(t, w.Close())
			if s.Slots != 20 || s.Total.Count != 20 || s.Total.Max != 0 {
				t.Errorf("got %d slots, %d served, max %v, want 20, 20, 0", s.Slots, s.Total.Count, s.Total.Max)
			}
		}
	})
}

// A beat that is called again does not serve the later slot that has its errand.
func TestBeatOfLaterSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var kept keptBeats
		p := blind(Options{Through: func(beat func()) {
			kept.keep(beat)
			kept.call(0)
		}})
		w := watch(t, p)
		time.Sleep(170 * ms) // the slot at 50 ms is served, those at 100 and 150 are not
		if age, _ := p.Pending(); age != 70*ms {
			t.Errorf("got pending %v, want 70ms", age)
		}
		kept.call(1)
		if age, _ := p.Pending(); age != 20*ms {
			t.Errorf("got pending %v after the beat of the slot at 100 ms, want 20ms", age)
		}
		kept.call()
		if s := loopStats(t, w.Close()); s.Total.Count != 3 || s.Total.Max != 70*ms {
			t.Errorf("got %d served, max %v, want 3, 70ms", s.Total.Count, s.Total.Max)
		}
	})
}

// keptBeats are beats that a loop kept for later.
type keptBeats struct {
	mu    sync.Mutex
	beats []func()
}

func (k *keptBeats) keep(beat func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.beats = append(k.beats, beat)
}

// call calls those at the given places, or all.
func (k *keptBeats) call(at ...int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, beat := range k.beats {
		if len(at) == 0 || slices.Contains(at, i) {
			beat()
		}
	}
}

// Beats that come late and out of order leave the oldest slot pending.
func TestBeatsOutOfOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var kept keptBeats
		p := blind(Options{Through: kept.keep})
		w := watch(t, p)
		time.Sleep(160 * ms)
		kept.call(2)
		if age, _ := p.Pending(); age != 110*ms {
			t.Errorf("got pending %v, want 110 ms", age)
		}
		kept.call(0, 1)
		if age, _ := p.Pending(); age != 0 {
			t.Errorf("got pending %v, want 0", age)
		}
		s := loopStats(t, w.Close())
		if s.Total.Count != 3 || s.Total.Max != 110*ms {
			t.Errorf("got %d served, max %v, want 3, 110 ms", s.Total.Count, s.Total.Max)
		}
	})
}

// A Through that panics is a reason, and the service lives on.
func TestThroughPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var broken atomic.Bool
		broken.Store(true)
		p := blind(Options{Through: func(beat func()) {
			if broken.Load() {
				panic("closed mailbox")
			}
			beat()
		}})
		w := watch(t, p)
		time.Sleep(60 * ms)
		var r probe.Reading
		w.Read(&r)
		if len(r.Absent) != 1 || r.Absent[0].Name != loopDuration.Name || !strings.Contains(r.Absent[0].Reason, "closed mailbox") {
			t.Errorf("got absent %+v, want the panic's text", r.Absent)
		}
		broken.Store(false)
		time.Sleep(100 * ms)
		w.Read(&r)
		if s := loopStats(t, &r); len(r.Absent) != 0 || s.Total.Count != 2 {
			t.Errorf("got absent %+v and %d served, want 2 after it works again", r.Absent, s.Total.Count)
		}
		w.Close()
	})
}

// With real time and a real mutex too, the loop stalls and the scheduler does
// not have to.
func TestLoopRealMutex(t *testing.T) {
	var mu sync.Mutex
	loop := New(Options{Interval: 5 * ms, Through: func(beat func()) { mu.Lock(); defer mu.Unlock(); beat() }})
	w := watch(t, loop)
	mu.Lock()
	held := time.Now()
	for age := time.Duration(0); age < 30*ms; age, _ = loop.Pending() {
		runtime.Gosched()
	}
	for s := loop.running.Load(); ; runtime.Gosched() { // the slot has had its turn, and waits
		s.mu.Lock()
		turn := len(s.waiting) > 0 && s.waiting[0].turn > 0
		s.mu.Unlock()
		if turn {
			break
		}
	}
	mu.Unlock()
	s := loopStats(t, w.Close())
	if s.Total.Max < 30*ms || s.Total.Max > time.Since(held)+time.Second {
		t.Errorf("got a maximum of %v, want at least the 30 ms that were pending", s.Total.Max)
	}
}

// The window that opens during a gap does not lose it, and windows are
// independent in it.
func TestBeatGapWindows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newActor(t, 0)
		p := blind(Options{Through: a.through})
		all := watch(t, p)
		time.Sleep(70 * ms) // a beat at 50 ms
		go func() { a.mailbox <- func() { time.Sleep(300 * ms) } }()
		synctest.Wait()
		time.Sleep(400 * ms) // from 70 to 370 ms
		quiet := watch(t, p)
		time.Sleep(500 * ms)
		for name, tt := range map[string]struct {
			w    *probe.Window
			want time.Duration
		}{"all": {all, 320 * ms}, "quiet": {quiet, 50 * ms}} {
			if got := loopStats(t, tt.w.Close()).BeatGap; got != tt.want {
				t.Errorf("%s: got %v, want %v", name, got, tt.want)
			}
		}
	})
}
