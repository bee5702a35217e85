package lag

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
)

// The operations that overlapped a stall are in its event: those that run and
// those that just ended, of all members of the set.
func TestOverlaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		p := stalled(Options{}, map[int]time.Duration{10: 400 * ms}) // 500 to 900 ms
		ops := new(probe.Ops)
		w := watch2(t, ops, p)
		ctx := probe.WithRole(context.Background(), "background:retention")
		run := func(from, to time.Duration, name string) {
			go func() {
				time.Sleep(from)
				_, op := ops.Begin(ctx, name)
				time.Sleep(to - from)
				op.End(nil)
			}()
		}
		run(480*ms, 890*ms, "archive") // ended when the ticker wakes
		run(300*ms, 3*time.Second, "long")
		run(550*ms, 600*ms, "short")
		run(100*ms, 450*ms, "before")
		run(920*ms, 990*ms, "after")
		time.Sleep(4 * time.Second)
		s := onlyStall(t, w.Close())
		var got []string
		for _, o := range s.Overlaps {
			got = append(got, o.Activity+" "+o.Name+" "+o.Role)
		}
		want := []string{"operation archive background:retention", "operation long background:retention", "operation short background:retention"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("overlaps (-want +got):\n%s", diff)
		}
		if want := "; in flight: archive on background:retention, 410 ms; long on"; !strings.Contains(s.Text, want) {
			t.Errorf("got %q, want %q in it", s.Text, want)
		}
		if s.Overlaps[0].Running || !s.Overlaps[1].Running {
			t.Errorf("got %+v, want the first ended and the second running", s.Overlaps)
		}
		if o := s.Overlaps[0]; !o.Start.Equal(begin.Add(480 * ms)) {
			t.Errorf("got %v as the first one's start, want 480 ms after %v", o.Start, begin)
		}
	})
}

// What was found by name in a queue stall that is going on is not lost when it
// has ended long before the stall.
func TestOverlapsDuringStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := blind(Options{})
		until := time.Now().Add(3 * time.Second)
		p.yield = func() { time.Sleep(time.Until(until)) }
		ops := new(probe.Ops)
		w := watch2(t, ops, p)
		_, op := ops.Begin(probe.WithRole(context.Background(), "main"), "first")
		time.Sleep(500 * ms)
		op.End(nil)
		for range 200 { // more than are remembered
			_, op := ops.Begin(probe.WithRole(context.Background(), "main"), "many")
			time.Sleep(10 * ms)
			op.End(nil)
		}
		time.Sleep(2 * time.Second)
		s := onlyStall(t, w.Close())
		if len(s.Overlaps) != maxOverlaps || s.Overlaps[0].Name != "first" {
			t.Errorf("got %+v, want 8 with the first one first", s.Overlaps)
		}
	})
}

// A peer that panics says nothing, and the stall has its event.
func TestOverlapPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := stalled(Options{}, map[int]time.Duration{10: 400 * ms})
		p.know(broken{})
		w := watch(t, p)
		time.Sleep(2 * time.Second)
		if s := onlyStall(t, w.Close()); len(s.Overlaps) != 0 {
			t.Errorf("got %+v, want no overlaps", s.Overlaps)
		}
	})
}

type broken struct{}

func (broken) Overlapping([]probe.Overlap, time.Duration) []probe.Overlap { panic("broken") }

// A peerFunc is a member of a Set that says what it is told to.
type peerFunc func(d time.Duration) []probe.Overlap

func (f peerFunc) Overlapping(dst []probe.Overlap, d time.Duration) []probe.Overlap {
	return append(dst, f(d)...)
}

// A peer that does not answer holds nobody up: neither the schedule nor a Close, nor
// what the others say.
func TestPeerBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := stalled(Options{}, map[int]time.Duration{4: 300 * ms, 14: 300 * ms})
		block := make(chan struct{})
		var asked atomic.Int64
		p.know(peerFunc(func(time.Duration) []probe.Overlap { asked.Add(1); <-block; return nil }))
		p.know(broken{})
		p.know(peerFunc(func(d time.Duration) []probe.Overlap {
			return []probe.Overlap{{Name: "known", Start: time.Now().Add(-d), Duration: d, Running: true}}
		}))
		w := watch(t, p)
		time.Sleep(1810 * ms)
		closing := time.Now()
		r := w.Close()
		if d := time.Since(closing); d > 1500*ms {
			t.Errorf("Close took %v", d)
		}
		wantSlots(t, p, r)
		wantValues(t, r, "timer", 300*ms, 250*ms, 200*ms, 150*ms, 100*ms, 50*ms, 300*ms, 250*ms, 200*ms, 150*ms, 100*ms, 50*ms)
		stalls := StallsOf(r)
		if len(stalls) != 2 {
			t.Fatalf("got %d stalls, want 2", len(stalls))
		}
		for _, s := range stalls {
			if len(s.Overlaps) != 1 || s.Overlaps[0].Name != "known" || s.Ongoing {
				t.Errorf("got %+v, ongoing %t, want what the other peer knows", s.Overlaps, s.Ongoing)
			}
		}
		if n := asked.Load(); n != 1 {
			t.Errorf("the peer that does not answer was asked %d times", n)
		}
		close(block)
		synctest.Wait()
	})
}

// Of what a stall of long overlaps, the best is remembered and no more.
func TestOverlapsStayBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		block := make(chan struct{})
		p := blind(Options{Through: func(beat func()) { <-block; beat() }})
		ops := new(probe.Ops)
		w := watch2(t, p, ops)
		time.Sleep(100 * ms)
		for i := range 300 { // 6 s, and one long one among them
			name, d := "request", 20*ms
			if i == 100 {
				name, d = "long", 500*ms
			}
			_, op := ops.Begin(t.Context(), name)
			time.Sleep(d)
			op.End(nil)
		}
		tr := p.running.Load()
		tr.mu.Lock()
		n := len(tr.episode.overlaps)
		tr.mu.Unlock()
		if n > keptOverlaps {
			t.Errorf("got %d operations, want at most %d", n, keptOverlaps)
		}
		close(block)
		if s := onlyStall(t, w.Close()); len(s.Overlaps) != maxOverlaps || s.Overlaps[0].Name != "long" {
			t.Errorf("got %+v, want 8 with the long one first", s.Overlaps)
		}
	})
}

// A probe forgets the oldest of many peers, and has none twice.
func TestPeersStayBounded(t *testing.T) {
	p := New(Options{})
	var last *probe.Ops
	for range 1000 {
		last = new(probe.Ops)
		p.know(last)
		p.know(last)
	}
	peers := *p.peers.Load()
	if len(peers) != maxPeers || peers[maxPeers-1].overlapper != last {
		t.Errorf("got %d peers, want the last %d", len(peers), maxPeers)
	}
}
