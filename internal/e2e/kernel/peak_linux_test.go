package kernel

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tidestaff/tidestaff/cgroup"
	"github.com/tidestaff/tidestaff/probe"
)

// peakChecks: the highest charge of the group within a window, and how it was
// obtained.
var peakChecks = []check{
	{name: "overlapping windows", run: checkOverlapping},
	{name: "others' marks", run: checkOthersMarks},
	{name: "no reset", run: checkNoReset},
	{name: "read-only", unshare: syscall.CLONE_NEWNS, run: checkReadOnly},
	{name: "unprivileged", uid: 1000, run: checkUnprivileged},
}

// canReset reports whether a write to memory.peak sets it back for the
// descriptor that wrote. The tests know it from the release, as the probe must
// not.
func canReset(t *testing.T) bool {
	t.Helper()
	switch r := release(); {
	case strings.HasPrefix(r, "6.1."):
		return false
	case strings.HasPrefix(r, "6.12."):
		return true
	default:
		t.Fatalf("which kernel is %s?", r)
		return false
	}
}

// wantPeak wants the group's peak at a level, exact, by a method.
func wantPeak(t *testing.T, what string, r *probe.Reading, level float64, method string) {
	t.Helper()
	m := one(t, r, groupPeak)
	near(t, what, m.Value, level, room)
	if want := (probe.Provenance{Method: method}); m.Prov != want {
		t.Errorf("%s: got %+v, want %+v", what, m.Prov, want)
	}
}

// wantBound wants a peak that is only a lower bound, and says so.
func wantBound(t *testing.T, what string, r *probe.Reading, least, most float64) {
	t.Helper()
	m := one(t, r, groupPeak)
	if !(m.Value >= least-room && m.Value <= most+room) {
		t.Errorf("%s: got %.1f MiB, want %.1f to %.1f", what, m.Value/mib, least/mib, most/mib)
	}
	if m.Prov.How != probe.Sampled || m.Prov.Samples == 0 || m.Prov.MaxGap <= 0 {
		t.Errorf("%s: got %+v, want sampled, with samples and a gap", what, m.Prov)
	}
}

// checkOverlapping: two windows overlap, with a spike in the first one's part,
// in both, and in the second one's. With the reset each has its own; without,
// the window in which the mark rose has its own and the other one says that it
// does not know.
func checkOverlapping(t *testing.T) {
	base := number(t, filepath.Join(ownDir(t), "memory.current"))
	p := cgroup.New(cgroup.Options{})
	open := func() *probe.Window {
		w, err := p.Watch()
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	a := open()
	spike(t, 48*mib)
	b := open()
	spike(t, 16*mib)
	first := a.Close()
	spike(t, 32*mib)
	second := b.Close()
	c := open()
	spike(t, 64*mib)
	third := c.Close()

	if canReset(t) {
		wantPeak(t, "first window", first, base+48*mib, peakReset)
		wantPeak(t, "second window", second, base+32*mib, peakReset)
		wantPeak(t, "third window", third, base+64*mib, peakReset)
	} else {
		wantPeak(t, "first window", first, base+48*mib, peakRose)
		wantBound(t, "second window", second, base, base+32*mib)
		wantPeak(t, "third window", third, base+64*mib, peakRose)
	}
	// What a window needed is its peak over the level at its start.
	near(t, "growth in the third window", one(t, third, groupGrowth).Value, 64*mib, room)
	// The process's own peak is exact on both kernels.
	for i, r := range []*probe.Reading{first, second, third} {
		if got, want := one(t, r, processPeak).Prov, (probe.Provenance{Method: markReset}); got != want {
			t.Errorf("window %d: got a process's peak with %+v, want %+v", i+1, got, want)
		}
	}
}

// checkOthersMarks: somebody else who watches the same group, through a
// descriptor of its own or by opening the file now and then, keeps its peak.
func checkOthersMarks(t *testing.T) {
	name := filepath.Join(ownDir(t), "memory.peak")
	other, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	spike(t, 48*mib)
	lifetime := number(t, name)
	w := watch(t, cgroup.Options{})
	spike(t, 24*mib)
	w.Close()
	if got := number(t, name); got != lifetime {
		t.Errorf("got %v from a new descriptor, want the lifetime's %v", got, lifetime)
	}
	var b [32]byte
	n, err := other.ReadAt(b[:], 0)
	if got := strings.TrimSpace(string(b[:n])); n == 0 || got != format(lifetime) {
		t.Errorf("got %q, %v from the other one's descriptor, want %s", got, err, format(lifetime))
	}
}

// checkNoReset: on request the mark is left alone, whatever the kernel can do.
func checkNoReset(t *testing.T) {
	wantUnresettable(t, cgroup.Options{NoReset: true})
}

// checkReadOnly: a read-only mount, which is what most containers have.
func checkReadOnly(t *testing.T) {
	const flags = syscall.MS_REMOUNT | syscall.MS_BIND | syscall.MS_RDONLY
	if err := syscall.Mount("", unified, "", flags, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := os.OpenFile(filepath.Join(ownDir(t), "memory.peak"), os.O_RDWR, 0); err == nil {
		t.Fatal("the mount is writable")
	}
	wantUnresettable(t, cgroup.Options{})
}

// checkUnprivileged: a user to whom the group does not belong. The process's
// own mark is its own to set back.
func checkUnprivileged(t *testing.T) {
	if os.Getuid() == 0 {
		t.Fatal("got root")
	}
	wantUnresettable(t, cgroup.Options{})
	r := watch(t, cgroup.Options{}).Close()
	if got := one(t, r, processPeak).Prov.Method; got != markReset {
		t.Errorf("got a process's peak by %q, want %q", got, markReset)
	}
}

// wantUnresettable wants the labels of a mark that cannot be set back: it rose
// in the first window and not in the second.
func wantUnresettable(t *testing.T, o cgroup.Options) {
	t.Helper()
	base := number(t, filepath.Join(ownDir(t), "memory.current"))
	w := watch(t, o)
	spike(t, 40*mib)
	wantPeak(t, "window of a new maximum", w.Close(), base+40*mib, peakRose)
	w = watch(t, o)
	spike(t, 20*mib)
	wantBound(t, "window below it", w.Close(), base, base+20*mib)
}
