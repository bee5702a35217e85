package memory

import (
	"os"
	"testing"

	"github.com/tidestaff/tidestaff/cgroup"
	"github.com/tidestaff/tidestaff/internal/peers/spikes"
	"github.com/tidestaff/tidestaff/probe"
)

// TestWindowPeaks: the peaks of a window are the marks that the others read, as
// long as these rose in it: the process's because the window began with a reset,
// the group's because the spike is higher than all before.
func TestWindowPeaks(t *testing.T) {
	needGroup(t)
	needReset(t)
	w, err := cgroup.New(cgroup.Options{}).Watch()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var before amounts
	if err := opened(t, part(partUsage, usageFields...))(&before); err != nil {
		t.Fatal(err)
	}
	if err := spikes.Spike(int(before[peak]-before[usage])+64<<20, 0); err != nil {
		t.Fatal(err)
	}
	theirs := map[string]ask{}
	for _, a := range append(answerStatus().askers, answerUsage().askers...) {
		if a.by != "kernel" && a.by != "tidestaff" {
			theirs[a.by] = opened(t, a)
		}
	}
	said := map[string]amounts{}
	for by, ask := range theirs {
		var to amounts
		if err := ask(&to); err != nil {
			t.Fatal(err)
		}
		said[by] = to
	}
	r := w.Close()
	process, group := peakOf(t, r, "tidestaff.process.memory.peak"), peakOf(t, r, "tidestaff.cgroup.memory.peak")
	near(t, "procfs's VmHWM", said["procfs"][hwm], process, roomOf(rss, nil))
	for _, by := range []string{"containerd", "opencontainers", "gopsutil"} {
		near(t, by, said[by][peak], group, 0)
	}
}

// peakOf is an exact peak.
func peakOf(t *testing.T, r *probe.Reading, name string) uint64 {
	t.Helper()
	for m := range r.Find(name) {
		if m.Prov.How != probe.Exact {
			t.Errorf("%s: got %+v, want an exact one", name, m.Prov)
		}
		return uint64(m.Value)
	}
	t.Fatalf("no %s; absent are %v", name, r.Absent)
	return 0
}

// near wants a mark as we have it. It can only have risen since they read it, by
// what asking costs.
func near(t *testing.T, what string, got, ours, room uint64) {
	t.Helper()
	if got > ours+room || got+room+tight < ours {
		t.Errorf("%s: got %d, and ours is %d", what, got, ours)
	}
}

// TestResetIsOurs: a window that sets the process's mark back takes it from
// whoever else reads VmHWM, and NoReset leaves it.
func TestResetIsOurs(t *testing.T) {
	needReset(t)
	mark := opened(t, part(partStatus, statusFields...))
	for _, tt := range []struct {
		o    cgroup.Options
		kept bool
	}{{cgroup.Options{NoReset: true}, true}, {cgroup.Options{}, false}} {
		if err := spikes.Spike(64<<20, 0); err != nil {
			t.Fatal(err)
		}
		var before, after amounts
		if err := mark(&before); err != nil {
			t.Fatal(err)
		}
		w, err := cgroup.New(tt.o).Watch()
		if err != nil {
			t.Fatal(err)
		}
		w.Close()
		if err := mark(&after); err != nil {
			t.Fatal(err)
		}
		if kept := after[hwm] >= before[hwm]; kept != tt.kept {
			t.Errorf("%+v: the mark was %d and is %d, want it kept %t", tt.o, before[hwm], after[hwm], tt.kept)
		}
	}
}

// needReset skips where the process's mark cannot be set back.
func needReset(t *testing.T) {
	t.Helper()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		t.Skipf("needs a high-water mark that can be set back: %v", err)
	}
}
