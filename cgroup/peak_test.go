package cgroup

import (
	"fmt"
	"syscall"
	"testing"

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

// watchPeak opens a window over a group's peak alone.
func watchPeak(t *testing.T, g *groupPeak) (*probe.Core, *probe.Window) {
	t.Helper()
	core := new(probe.Core)
	g.peak = core.Peak(descGroupPeak)
	core.Sample = func() {
		if err := g.boundary(); err != nil {
			t.Error(err)
		}
	}
	return core, watch(t, core)
}

func TestGroupPeakReset(t *testing.T) {
	k := &fakeGroup{now: 10, peak: 900}
	core, w := watchPeak(t, &groupPeak{usage: k, mark: &fakePeak{fakeGroup: k}, reset: true, rose: peakRose})
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
// gives a lifetime's mark, and the label says so.
func TestGroupPeakRefused(t *testing.T) {
	k := &fakeGroup{now: 10, peak: 100}
	g := &groupPeak{usage: k, mark: &fakePeak{k, syscall.EINVAL}, reset: true, rose: peakRose}
	core, w := watchPeak(t, g)
	if g.reset {
		t.Error("got a mark that counts as reset after EINVAL")
	}
	k.set(60)
	g.tick()
	k.set(10)
	v, prov := one(t, w.Close(), descGroupPeak)
	if v != 60 || prov.How != probe.Sampled || prov.Samples != 2 || prov.MaxGap <= 0 {
		t.Errorf("below the lifetime's: got %v, %+v, want 60 from 2 samples with a gap", v, prov)
	}
	w = watch(t, core)
	k.set(300)
	k.set(10)
	if v, prov := one(t, w.Close(), descGroupPeak); v != 300 || prov != (probe.Provenance{Method: peakRose}) {
		t.Errorf("above the lifetime's: got %v, %+v, want 300, exact because it rose", v, prov)
	}
}

// TestGroupPeakAbsent: without memory.peak there are samples only.
func TestGroupPeakAbsent(t *testing.T) {
	k := &fakeGroup{now: 10}
	g := &groupPeak{usage: k}
	_, w := watchPeak(t, g)
	k.set(40)
	g.tick()
	k.set(20)
	if v, prov := one(t, w.Close(), descGroupPeak); v != 40 || prov.How != probe.Sampled || prov.Method != "sampled" {
		t.Errorf("got %v, %+v, want 40, sampled", v, prov)
	}
}
