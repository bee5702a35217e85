package lag

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// What a loop serves late is recorded in its own goroutine, so that it is bounded.
func TestSaturatedRecordsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		block := make(chan struct{})
		p := blind(Options{Interval: 2 * ms, Threshold: -1, Through: func(beat func()) { <-block; beat() }})
		w := watch(t, p)
		time.Sleep(10*time.Minute + ms) // 300,000 slots
		close(block)
		synctest.Wait()
		s := loopStats(t, w.Close())
		if s.Slots != 300_000 || s.Total.Count != maxBackfill+maxBeats-1 || s.Total.Count+s.Gap != s.Slots {
			t.Errorf("got %d slots, %d served, gap %d, want 300000, 100007 and the rest", s.Slots, s.Total.Count, s.Gap)
		}
	})
}

// A loop that is stuck has swallowed no wake-up.
func TestLoopMissesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		block := make(chan struct{})
		p := blind(Options{Through: func(beat func()) { <-block; beat() }})
		w := watch(t, p)
		time.Sleep(975 * ms)
		close(block)
		time.Sleep(500 * ms)
		r := w.Close()
		if s, stall := loopStats(t, r), onlyStall(t, r); stall.Missed != s.Slots-s.Wakes {
			t.Errorf("got %d missed of %d slots with %d wakes", stall.Missed, s.Slots, s.Wakes)
		}
	})
}

// A beat that the loop has dropped is counted when a queue's worth of later ones has
// been served, and Pending does not wait for it any more.
func TestLostBeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		p := blind(Options{Through: func(beat func()) {
			if n := calls.Add(1); n%20 == 0 && n <= 160 { // a full pool's TrySubmit
				return
			}
			beat()
		}})
		w := watch(t, p)
		time.Sleep(60 * time.Second)
		s := loopStats(t, w.Close())
		if s.Lost != 8 || s.Total.Count+s.Lost != s.Slots || s.Saturated != 0 {
			t.Errorf("got %d lost, %d served of %d, %d saturated, want 8, the others, 0", s.Lost, s.Total.Count, s.Slots, s.Saturated)
		}
		if age, _ := p.Pending(); age > 50*ms {
			t.Errorf("got pending %v", age)
		}
	})
}

// A loop that has lost all its beats, as an actor that was started anew has, is found to
// be well again.
func TestAllBeatsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var dead atomic.Bool
		dead.Store(true)
		var calls atomic.Int64
		p := blind(Options{Through: func(beat func()) {
			if calls.Add(1); !dead.Load() {
				beat()
			}
		}})
		w := watch(t, p)
		time.Sleep(10 * time.Minute)
		if n := calls.Load(); n < maxBeats+5 || n > maxBeats+15 {
			t.Errorf("got %d beats in a loop that has been stuck for ten minutes, want a few more than %d", n, maxBeats)
		}
		dead.Store(false)
		time.Sleep(20 * time.Minute)
		if age, _ := p.Pending(); age > 50*ms {
			t.Errorf("got pending %v, long after the loop was well again", age)
		}
		s := loopStats(t, w.Close())
		if s.Total.Count+s.Lost != s.Slots || s.Lost == 0 {
			t.Errorf("got %d served, %d lost, want %d together", s.Total.Count, s.Lost, s.Slots)
		}
	})
}

// What one shard of a pool serves late is recorded, though it was given up.
func TestShardServesLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newActor(t, 100), newActor(t, 100)
		var n atomic.Int64
		p := blind(Options{Through: func(beat func()) {
			if n.Add(1)%2 == 0 {
				a.mailbox <- beat
			} else {
				b.mailbox <- beat
			}
		}})
		w := watch(t, p)
		time.Sleep(1010 * ms)
		b.mailbox <- func() { time.Sleep(3 * time.Second) }
		time.Sleep(4 * time.Second)
		if s := loopStats(t, w.Close()); s.Total.Count != s.Slots || s.Lost == 0 || s.Total.Max < 2900*ms {
			t.Errorf("got %d served of %d, %d given up, max %v, want all, some, 2.96s", s.Total.Count, s.Slots, s.Lost, s.Total.Max)
		}
	})
}
