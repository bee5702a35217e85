package spikes

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestPlan: what is drawn lies within its bounds and its slot, is the same for
// the same seed, and is in no order.
func TestPlan(t *testing.T) {
	s := Default()
	all := s.plan()
	if len(all) != s.Spikes {
		t.Fatalf("got %d spikes, want %d", len(all), s.Spikes)
	}
	short := 0
	for i, p := range all {
		if p.size < minSize || p.size > maxSize || p.hold < 0 || p.hold > s.MaxHold ||
			p.wait < edge || p.wait+p.hold > s.Slot-edge {
			t.Errorf("spike %d: got %+v, want it within %+v", i, p, s)
		}
		if p.hold < s.MaxHold/4 {
			short++
		}
	}
	if short < s.Spikes/3 || short > s.Spikes*2/3 {
		t.Errorf("got %d of %d spikes shorter than a quarter of the longest, want about half", short, s.Spikes)
	}
	bySize := func(a, b planned) int { return a.size - b.size }
	byHold := func(a, b planned) int { return int(a.hold - b.hold) }
	if slices.IsSortedFunc(all, bySize) || slices.IsSortedFunc(all, byHold) {
		t.Error("got a plan in order, want it mixed")
	}
	if diff := cmp.Diff(all, Default().plan(), cmp.AllowUnexported(planned{})); diff != "" {
		t.Errorf("the same seed drew other spikes: %s", diff)
	}
	s.Seed++
	if other := s.plan(); slices.Equal(all, other) {
		t.Error("another seed drew the same spikes")
	}
}

func TestPlanOfShortSlots(t *testing.T) {
	s := Study{Spikes: 100, Slot: 110 * time.Millisecond, MaxHold: 60 * time.Millisecond}
	for i, p := range s.plan() {
		if p.wait < edge || p.wait+p.hold > s.Slot-edge {
			t.Errorf("spike %d: got %+v, want it within a slot of %v", i, p, s.Slot)
		}
	}
}
