package cgroup

import (
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// A fakeGroup is a kernel's idea of a group's charge. The value is read as from
// memory.current, the mark as from one descriptor of memory.peak.
type fakeGroup struct{ now, peak int64 }

func (g *fakeGroup) Read() ([]byte, error) { return fmt.Appendf(nil, "%d\n", g.now), nil }
func (g *fakeGroup) Write([]byte) error    { return syscall.EINVAL }
func (g *fakeGroup) Close() error          { return nil }

func (g *fakeGroup) set(v int64) { g.now, g.peak = v, max(g.peak, v) }

type fakePeak struct {
	*fakeGroup
	err error // of a write: EINVAL before Linux 6.12
}

func (p *fakePeak) Read() ([]byte, error) { return fmt.Appendf(nil, "%d\n", p.peak), nil }

func (p *fakePeak) Write(b []byte) error {
	if p.err == nil && len(b) > 0 {
		p.peak = p.now
	}
	return p.err
}

// A peakProbe is a probe of nothing but a group's peak.
type peakProbe struct {
	probe.Core
	look func() // at the level
}

// watchPeak opens a window over the peak of a fakeGroup with a mark.
func watchPeak(t *testing.T, k *fakeGroup, mark *groupMark) (*peakProbe, *probe.Window) {
	t.Helper()
	p := new(peakProbe)
	peak := p.Peak(descGroupPeak)
	mark.join(peak)
	p.look = func() { peak.Sample(k.now) }
	p.Sample = func() {
		p.look()
		if _, err := mark.boundary(); err != nil {
			t.Error(err)
		}
	}
	return p, watch(t, p)
}

func TestGroupPeakReset(t *testing.T) {
	k := &fakeGroup{now: 10, peak: 900}
	core, w := watchPeak(t, k, &groupMark{file: &fakePeak{fakeGroup: k}, reset: true, resetBy: peakReset, rose: peakRose})
	k.set(50)
	k.set(10)
	inner := watch(t, core)
	k.set(30)
	k.set(10)
	if v, prov := one(t, inner.Close(), descGroupPeak); v != 30 || prov != (probe.Provenance{Method: peakReset}) {
		t.Errorf("inner: got %v, %+v, want 30, exact by reset", v, prov)
	}
	if v, prov := one(t, w.Close(), descGroupPeak); v != 50 || prov != (probe.Provenance{Method: peakReset}) {
		t.Errorf("outer: got %v, %+v, want 50, exact by reset", v, prov)
	}
}

// TestGroupPeakRefused: a kernel that reads memory.peak and refuses the write
// gives a lifetime's mark, and the label says so: EINVAL before Linux 6.12, and
// whatever else a mount, a user or a sandbox may answer.
func TestGroupPeakRefused(t *testing.T) {
	for _, refusal := range []error{syscall.EINVAL, syscall.EACCES, syscall.EROFS, syscall.EBADF, syscall.EPERM, syscall.ENOSYS} {
		k := &fakeGroup{now: 10, peak: 100}
		g := &groupMark{file: &fakePeak{k, refusal}, reset: true, resetBy: peakReset, rose: peakRose}
		core, w := watchPeak(t, k, g)
		if g.reset {
			t.Errorf("%v: got a mark that counts as reset", refusal)
		}
		k.set(60)
		core.look()
		k.set(10)
		v, prov := one(t, w.Close(), descGroupPeak)
		if v != 60 || prov.How != probe.Sampled || prov.Samples != 2 || prov.MaxGap <= 0 {
			t.Errorf("%v: below the lifetime's: got %v, %+v, want 60 from 2 samples with a gap", refusal, v, prov)
		}
		w = watch(t, core)
		k.set(300)
		k.set(10)
		if v, prov := one(t, w.Close(), descGroupPeak); v != 300 || prov != (probe.Provenance{Method: peakRose}) {
			t.Errorf("%v: above the lifetime's: got %v, %+v, want 300, exact because it rose", refusal, v, prov)
		}
	}
}

// TestGroupPeakRefusedLater: what was reset so far stays exact, and what comes is
// labelled for what it is.
func TestGroupPeakRefusedLater(t *testing.T) {
	k := &fakeGroup{now: 10, peak: 900}
	m := &fakePeak{fakeGroup: k}
	core, before := watchPeak(t, k, &groupMark{file: m, reset: true, resetBy: peakReset, rose: peakRose})
	k.set(50)
	k.set(10)
	m.err = syscall.EINVAL
	after := watch(t, core)
	if v, prov := one(t, after.Close(), descGroupPeak); v != 10 || prov.How != probe.Sampled {
		t.Errorf("opened after: got %v, %+v, want 10, sampled", v, prov)
	}
	if v, prov := one(t, before.Close(), descGroupPeak); v != 50 || prov != (probe.Provenance{Method: peakRose}) {
		t.Errorf("opened before: got %v, %+v, want 50, exact because it rose", v, prov)
	}
}

// TestGroupPeakAbsent: without memory.peak there are samples only.
func TestGroupPeakAbsent(t *testing.T) {
	k := &fakeGroup{now: 10}
	core, w := watchPeak(t, k, new(groupMark))
	k.set(40)
	core.look()
	k.set(20)
	if v, prov := one(t, w.Close(), descGroupPeak); v != 40 || prov.How != probe.Sampled || prov.Method != "sampled" {
		t.Errorf("got %v, %+v, want 40, sampled", v, prov)
	}
}

// TestGroupPeakShared: a mark that is set back for everybody is one mark for all
// probes, so that what one of them takes the other gets.
func TestGroupPeakShared(t *testing.T) {
	k := &fakeGroup{now: 10, peak: 900}
	g := &groupMark{file: &fakePeak{fakeGroup: k}, reset: true, resetBy: maxReset, rose: maxRose}
	core, outer := watchPeak(t, k, g)
	k.set(70)
	k.set(10)
	other, w := watchPeak(t, k, g) // its boundary takes the mark
	k.set(30)
	k.set(10)
	inner := watch(t, core)
	want := func(what string, w *probe.Window, peak float64) {
		t.Helper()
		if v, prov := one(t, w.Close(), descGroupPeak); v != peak || prov != (probe.Provenance{Method: maxReset}) {
			t.Errorf("%s: got %v, %+v, want %v, exact by reset", what, v, prov, peak)
		}
	}
	want("second probe", w, 30)
	want("inner", inner, 10)
	want("outer", outer, 70)
	if other.Watched() {
		t.Error("got a window that is open")
	}
}

// TestGroupPeakForeign: when somebody else sets a lifetime's mark back, it does
// not tell any more what was before, and nothing may be called exact by it.
func TestGroupPeakForeign(t *testing.T) {
	k := &fakeGroup{now: 10, peak: 300}
	core, w := watchPeak(t, k, &groupMark{file: &fakePeak{fakeGroup: k}, rose: maxRose})
	k.set(500)
	k.set(10)
	k.peak = 20 // somebody else
	inner := watch(t, core)
	k.set(320)
	k.set(10)
	if v, prov := one(t, inner.Close(), descGroupPeak); v != 320 || prov != (probe.Provenance{Method: maxRose}) {
		t.Errorf("opened after: got %v, %+v, want 320, exact because it rose", v, prov)
	}
	if v, prov := one(t, w.Close(), descGroupPeak); v != 320 || prov.How != probe.Sampled {
		t.Errorf("opened before: got %v, %+v, want at least 320, not exact", v, prov)
	}
}

// TestNoLevelAboveItsPeak: a look at the levels between the boundary of a reading
// and the reading itself, which other goroutines may take at any time, raises the
// peaks as well, and an exact one keeps its label.
func TestNoLevelAboveItsPeak(t *testing.T) {
	root := fixture(t, "v2")
	rewrite(t, root, "proc/self/status", "VmHWM:\t100000 kB\nVmRSS:\t100000 kB\n")
	rewrite(t, root, "proc/self/clear_refs", "")
	for _, name := range []string{"memory.peak", "memory.swap.peak"} {
		rewrite(t, root, leaf+name, "9\n")
	}
	p := New(Options{Root: root, Interval: time.Hour})
	p.opts.NoReset = false // the fixture's files can be written, which looks like a reset
	late := &probe.Core{Sample: func() {
		rewrite(t, root, "proc/self/statm", "225000 100000 2500 300 0 22500 0\n")
		for _, name := range []string{"memory.current", "memory.swap.current", "pids.current"} {
			rewrite(t, root, leaf+name, "400000000\n")
		}
		for range richEvery {
			p.tick()
		}
	}}
	r := watch(t, probe.NewSet(p, late)).Close() // members are sampled in their order
	for _, tt := range []struct {
		level, peak *probe.Desc
		want        float64
		prov        probe.Provenance
	}{
		{descRSS, descPeak, 100000 * float64(os.Getpagesize()), probe.Provenance{Method: markReset}},
		{descGroupUsage, descGroupPeak, 4e8, probe.Provenance{Method: peakReset}},
		{descGroupSwap, descGroupSwapPeak, 4e8, probe.Provenance{Method: swapPeakReset}},
		{descTasks, descTasksPeak, 4e8, probe.Provenance{}},
	} {
		level, _ := one(t, r, tt.level)
		peak, prov := one(t, r, tt.peak)
		if level != tt.want || peak != level || tt.prov.Method != "" && prov != tt.prov {
			t.Errorf("%s: got a level of %v, a peak of %v, %+v, want both %v, %+v", tt.level.Name, level, peak, prov, tt.want, tt.prov)
		}
	}
}

// TestSharedIsForgotten: the last user takes the value with it, and one that
// cannot join leaves none behind.
func TestSharedIsForgotten(t *testing.T) {
	var s shared[*int]
	made := 0
	take := func(err error) error {
		return s.take("x", func() *int { made++; return new(int) }, func(n *int) error { *n++; return err })
	}
	if err := take(syscall.EPERM); err != syscall.EPERM || len(s.names) != 0 {
		t.Errorf("got %v and %d values after a failed join, want EPERM and none", err, len(s.names))
	}
	for range 2 {
		if err := take(nil); err != nil {
			t.Fatal(err)
		}
	}
	left := -1
	s.drop("x", func(n *int) { left = *n })
	if made != 2 || left != 2 || len(s.names) != 1 {
		t.Errorf("got %d values made, %d joined, %d kept; want 2, 2, 1", made, left, len(s.names))
	}
	s.drop("x", func(*int) {})
	if len(s.names) != 0 {
		t.Errorf("got %d values after the last user, want none", len(s.names))
	}
}
