package lag

import (
	"cmp"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// stalled is a probe whose ticker over-sleeps: script says by how much the
// wake-up for the n-th wait (1 is the first) is late. In a synctest bubble
// nothing else takes time.
func stalled(o Options, script map[int]time.Duration) *Probe {
	p := blind(o)
	n := 0
	p.group.wait = func(t *ticker, due int64) bool {
		n++
		ok := t.sleep(due)
		time.Sleep(script[n])
		return ok
	}
	return p
}

// blind is a probe for a bubble, without evidence: reading the kernel's files at
// each slot of an hour takes seconds.
func blind(o Options) *Probe {
	p := New(o)
	p.newSampler = func() sampler { return &script{} }
	p.inBubble = func() bool { return false }
	return p
}

// A script is a sampler whose counters a test sets. They are added up: a
// snapshot has all that was set up to its time.
type script struct {
	mu     sync.Mutex
	now    snapshot
	facts_ facts
	closed bool
}

func (s *script) sample(dst *snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*dst = s.now
	dst.at = probe.Now()
	dst.procs = cmp.Or(dst.procs, 2)
}

func (s *script) facts() facts { return s.facts_ }

func (s *script) close() { s.closed = true }

// change changes the counters.
func (s *script) change(f func(*snapshot)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.now)
}

// watch opens a window that the test's end closes.
func watch(t *testing.T, p *Probe) *probe.Window {
	t.Helper()
	w, err := p.Watch()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// wantStats is StatsOf of a reading that must have some.
func wantStats(t *testing.T, r *probe.Reading) Stats {
	t.Helper()
	s, ok := StatsOf(r)
	if !ok {
		t.Fatal("the reading has no lag in it")
	}
	return s
}

// wantSlots checks the invariant: every slot is once in every distribution, and
// there are elapsed/interval ± 1 of them.
func wantSlots(t *testing.T, p *Probe, r *probe.Reading) {
	t.Helper()
	s := wantStats(t, r)
	due := int64(r.Duration() / p.interval)
	if d := int64(s.Slots) - due; d < -1 || d > 1 {
		t.Errorf("got %d slots in %v, want %d ± 1", s.Slots, r.Duration(), due)
	}
	for name, part := range map[string]Part{"timer": s.Timer, "queue": s.Queue, "total": s.Total} {
		if part.Count+s.Gap != s.Slots {
			t.Errorf("%s has %d slots and the gap %d, want %d together", name, part.Count, s.Gap, s.Slots)
		}
	}
}

// dist is a component's distribution.
func dist(t *testing.T, r *probe.Reading, component string) *probe.Dist {
	t.Helper()
	for m := range r.Find(lagDuration.Name, probe.Attr{Key: AttrComponent, Value: component}) {
		return m.Dist
	}
	t.Fatalf("the reading has no component %q", component)
	return nil
}

// wantValues checks that a component holds exactly these values, to the
// resolution of its buckets, beside any number of zeros.
func wantValues(t *testing.T, r *probe.Reading, component string, want ...time.Duration) {
	t.Helper()
	slices.Sort(want)
	left := want
	d := dist(t, r, component)
	d.Each(func(low, high int64, n uint64) {
		if low == 0 {
			return
		}
		for range n {
			if len(left) == 0 || int64(left[0]) < low || int64(left[0]) > high {
				t.Errorf("%s: got a value of %v to %v, want %v (all: %v)",
					component, time.Duration(low), time.Duration(high), left, want)
				return
			}
			left = left[1:]
		}
	})
	if len(left) > 0 {
		t.Errorf("%s: missing %v of %v", component, left, want)
	}
}
