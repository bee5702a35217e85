package lag

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// The queue part is what the fresh goroutine waited, and total is the sum.
func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := stalled(Options{}, map[int]time.Duration{3: 60 * ms})
		p.yield = func() { time.Sleep(7 * ms) }
		w := watch(t, p)
		time.Sleep(220 * ms)
		r := w.Close()
		wantSlots(t, p, r)
		wantValues(t, r, "timer", 60*ms, 10*ms)
		wantValues(t, r, "queue", 7*ms, 7*ms, 7*ms, 7*ms)
		wantValues(t, r, "total", 7*ms, 7*ms, 67*ms, 17*ms)
	})
}

// While the run queue moves slowly, the ticker keeps its schedule.
func TestQueueIsOpenLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := blind(Options{})
		p.yield = func() { time.Sleep(340 * ms) }
		w := watch(t, p)
		time.Sleep(time.Second)
		if age, _ := p.Pending(); age < 290*ms || age > 340*ms {
			t.Errorf("got pending %v, want 290 to 340 ms", age)
		}
		r := w.Close()
		s := wantStats(t, r)
		if s.Slots < 20 || s.Timer.Max != 0 || s.Queue.P50 < 340*ms {
			t.Errorf("got %d slots, timer max %v, queue p50 %v, want 20 or more, 0, 340ms", s.Slots, s.Timer.Max, s.Queue.P50)
		}
		if s.Total.Count < 20 {
			t.Errorf("got %d slots served, want the 20 that were due at Close", s.Total.Count)
		}
	})
}

// A run queue that does not move holds 64 goroutines, and no slot is lost.
func TestSaturated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := blind(Options{})
		moves := make(chan struct{})
		p.yield = func() { <-moves }
		w := watch(t, p)
		time.Sleep(70*50*ms + 10*ms)

		var r probe.Reading
		w.Read(&r)
		s := wantStats(t, &r)
		if s.Slots != 70 || s.Timer.Count != 70 || s.Saturated != 6 || s.Total.Count != 0 {
			t.Errorf("got %d slots, %d ticked, %d saturated, %d served, want 70, 70, 6, 0",
				s.Slots, s.Timer.Count, s.Saturated, s.Total.Count)
		}
		if got, want := outstanding(p.running.Load()), int64(70); got != want {
			t.Errorf("got %d slots outstanding, want %d", got, want)
		}

		close(moves)
		end := w.Close()
		wantSlots(t, p, end)
		var want []time.Duration
		for k := range time.Duration(70) {
			want = append(want, 10*ms+k*50*ms)
		}
		wantValues(t, end, "total", want...)
		wantValues(t, end, "queue", want...)
	})
}

func outstanding(s *track) (n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.waiting {
		n += e.slots
	}
	return n
}
