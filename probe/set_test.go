package probe

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// fake is a probe with a Core, as a leaf is.
type fake struct {
	core  Core
	peers []Probe
}

func (f *fake) Watch() (*Window, error) { return f.core.Watch() }
func (f *fake) Describe() []*Desc       { return f.core.Describe() }
func (f *fake) Meet(peers []Probe)      { f.peers = append(f.peers, peers...) }

func TestSetFlattensAndIntroduces(t *testing.T) {
	a, b := new(fake), new(fake)
	a.core.Name, b.core.Name = "a", "b"
	var app Core
	set := NewSet(NewSet(a, b), nil, a, NewSet(NewSet(&app)), b)
	if len(set.members) != 3 {
		t.Fatalf("%d members, want 3", len(set.members))
	}
	if len(a.peers) != 3 || a.peers[0] != Probe(b) { // the inner set: b; the outer: b and app
		t.Errorf("a met %d peers, want b twice and app", len(a.peers))
	}
	na, nb := a.core.Counter(testCount), b.core.Counter(testCount)
	w := watch(t, set)
	na.Add(70)
	nb.Add(30)
	app.Counter(&Desc{Name: "app.hits", Unit: "{hit}", Help: "Hits."}).Add(1)
	r := w.Close()
	if got := value(t, r, "test.count", Attr{AttrProbeName, "a"}); got != 70 {
		t.Errorf("a = %v, want 70", got)
	}
	if got := value(t, r, "test.count", Attr{AttrProbeName, "b"}); got != 30 {
		t.Errorf("b = %v, want 30", got)
	}
	if got := value(t, r, "app.hits"); got != 1 {
		t.Errorf("app = %v, want 1", got)
	}
	if a.core.Watched() || b.core.Watched() || app.Watched() {
		t.Error("a member is watched after Close")
	}
	if got := len(set.Describe()); got != 2 {
		t.Errorf("the set describes %d metrics, want 2", got)
	}
}

func TestSetUnsupported(t *testing.T) {
	good, bad := new(fake), new(Core)
	bad.Name = "memory"
	bad.Start = func() error { return fmt.Errorf("cgroup: no controller here: %w", ErrUnsupported) }
	r := watch(t, NewSet(bad, good)).Close()
	if len(r.Absent) != 1 || r.Absent[0].Name != "memory" || !strings.Contains(r.Absent[0].Reason, "no controller here") {
		t.Errorf("absent = %v, want the member with its reason", r.Absent)
	}
}

func TestSetErrorClosesWhatWasOpened(t *testing.T) {
	stopped := 0
	good := new(fake)
	good.core.Stop = func() { stopped++ }
	broken := errors.New("permission denied")
	bad := Core{Start: func() error { return broken }}
	w, err := NewSet(good, &bad).Watch()
	if w != nil || !errors.Is(err, broken) {
		t.Fatalf("Watch = %v, %v, want the member's error", w, err)
	}
	if stopped != 1 || good.core.Watched() {
		t.Errorf("stopped %d times, watched %v, want what was opened to be closed", stopped, good.core.Watched())
	}
}

func TestSetNames(t *testing.T) {
	a, b := new(fake), new(fake)
	a.core.Counter(testCount)
	b.core.Counter(testCount)
	if _, err := NewSet(a, b).Watch(); err == nil || !strings.Contains(err.Error(), "Options.Name") {
		t.Errorf("two nameless probes of one kind: %v, want an error that says what to do", err)
	}
	if a.core.Watched() || b.core.Watched() {
		t.Error("the refused window is still open")
	}
}

// TestSetSettlesAllThenReads: the time that one member takes to settle is
// outside the window at its start, and inside it, for all, at its end.
func TestSetSettlesAllThenReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow, quick := new(fake), new(fake)
		slow.core.Name = "slow"
		n := quick.core.Counter(testCount)
		slow.core.Settle = func() { time.Sleep(time.Second); n.Add(1) }
		w, err := NewSet(quick, slow).Watch()
		if err != nil {
			t.Fatal(err)
		}
		r := w.Close()
		if got := value(t, r, "test.count"); got != 1 {
			t.Errorf("count = %v, want the one of the closing settle", got)
		}
		if got := r.Duration(); got != time.Second {
			t.Errorf("the window lasted %v, want 1s", got)
		}
	})
}

// Each member may take its second to settle; a Set takes no longer than one.
func TestSetSettlesSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var members []Probe
		for i := range 5 {
			f := new(fake)
			f.core.Name = string('a' + rune(i))
			f.core.Settle = func() { time.Sleep(time.Second) }
			f.core.Counter(testCount)
			members = append(members, f)
		}
		w, err := NewSet(members...).Watch()
		if err != nil {
			t.Fatal(err)
		}
		if got := w.Close().Duration(); got != time.Second {
			t.Errorf("Close took %v, want 1s", got)
		}
	})
}

// A hook that panics in a Set is the caller's, like that of a probe alone, and the
// others are let go of.
func TestSetSettlePanics(t *testing.T) {
	bad, good := new(fake), new(fake)
	bad.core.Name = "bad"
	w := watch(t, NewSet(good, bad))
	bad.core.Settle = func() { panic("settle") }
	func() {
		defer func() {
			if got := recover(); got != "settle" {
				t.Errorf("recovered %v, want the hook's panic", got)
			}
		}()
		w.Close()
	}()
	if good.core.Watched() || bad.core.Watched() {
		t.Error("still watched")
	}
}

// uncomparable is a probe of a type that == panics on.
type uncomparable struct {
	*Core
	_ []int
}

func TestSetOfUncomparable(t *testing.T) {
	a, b := uncomparable{Core: new(Core)}, uncomparable{Core: new(Core)}
	n := a.Counter(testCount)
	w := watch(t, NewSet(a, b))
	n.Add(1)
	if got := value(t, w.Close(), "test.count"); got != 1 {
		t.Errorf("count = %v, want 1", got)
	}
}

// TestSharedCore: two probes over one Core are measured once.
func TestSharedCore(t *testing.T) {
	var c Core
	n := c.Counter(testCount)
	type other struct{ Probe }
	w := watch(t, NewSet(&c, other{&c}))
	n.Add(1)
	if got := value(t, w.Close(), "test.count"); got != 1 {
		t.Errorf("count = %v, want 1", got)
	}
	if c.Watched() {
		t.Error("still watched")
	}
}
