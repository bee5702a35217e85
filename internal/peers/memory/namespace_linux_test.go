package memory

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tidestaff/tidestaff/internal/proc"
)

// TestForeignNamespace is a process in a cgroup namespace of its own that sees
// the mounts of another one, as after `unshare -C`: its group's path reads "/",
// and so does that of the machine's root. We refuse; the others report the root.
func TestForeignNamespace(t *testing.T) {
	a, g := play(t, actForeign, syscall.CLONE_NEWCGROUP)
	ours := a.Said["tidestaff"]
	if ours.Usage != 0 || !strings.Contains(ours.Err, proc.ErrForeignNamespace.Error()) {
		t.Errorf("tidestaff: got %+v, want nothing and %q", ours, proc.ErrForeignNamespace)
	}
	wrong(t, g, a, "containerd", "opencontainers", "gopsutil")
}

// TestNestedBelowMount is a container that sees the host's cgroup namespace, and
// whose process is in a group below the one that is mounted. gopsutil joins the
// host's path to the mount, finds nothing there and reports the mounted group
// instead. The other two do the same on version 2, and report 0.
func TestNestedBelowMount(t *testing.T) {
	g := measurable(t)
	if !strings.HasPrefix(filepath.Dir(g.Dir), g.Mount+"/") {
		t.Skipf("needs a group that is two levels below the mounted one; it is %s", g.Dir)
	}
	a, g := play(t, actNested, syscall.CLONE_NEWNS)
	right(t, g, a, "tidestaff")
	if g.Version == 2 { // the group above may have nothing else, and then gopsutil looks right
		wrong(t, g, a, "containerd", "opencontainers")
		return
	}
	right(t, g, a, "containerd", "opencontainers")
	wrong(t, g, a, "gopsutil")
}

// TestHiddenMount is a process whose group exists and is shown by no mount.
// gopsutil says so, though of a file of a container that there is not.
func TestHiddenMount(t *testing.T) {
	a, g := play(t, actHidden, syscall.CLONE_NEWNS)
	ours := a.Said["tidestaff"]
	if ours.Usage != 0 || !strings.Contains(ours.Err, proc.ErrHidden.Error()) {
		t.Errorf("tidestaff: got %+v, want nothing and %q", ours, proc.ErrHidden)
	}
	if got := a.Said["gopsutil"]; got.Err == "" {
		t.Errorf("gopsutil: got %+v, want an error", got)
	}
	if g.Version != 1 {
		return // without the mount nobody takes the machine for version 2
	}
	if got := a.Said["containerd"]; got.Err != errNoMemory.Error() {
		t.Errorf("containerd: got %+v; does it say now that it has nothing?", got)
	}
	if got := a.Said["opencontainers"]; got != (statement{}) {
		t.Errorf("opencontainers: got %+v, want 0 without an error; is it mended?", got)
	}
}

// measurable is the memory group that this process is in.
func measurable(t *testing.T) proc.Group {
	t.Helper()
	needGroup(t)
	g, err := ownGroup("memory")
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// most is a bound of what the group can have used: its peak so far.
func most(t *testing.T, g proc.Group) uint64 {
	t.Helper()
	to := amounts{}
	if err := opened(t, part(partUsage, usageFields...))(&to); err != nil {
		t.Fatal(err)
	}
	return to[peak]
}

// right wants the group's own numbers.
func right(t *testing.T, g proc.Group, a account, who ...string) {
	t.Helper()
	limit := most(t, g)
	for _, by := range who {
		if s := a.Said[by]; s.Err != "" || s.Usage == 0 || s.Usage > limit {
			t.Errorf("%s: got %+v, want the group's own usage, at most %d", by, s, limit)
		}
	}
}

// wrong wants, without an error, numbers that are not the group's: on version 1
// the mounted group's, on version 2, whose root has no usage, 0 or an emulation.
func wrong(t *testing.T, g proc.Group, a account, who ...string) {
	t.Helper()
	limit := most(t, g)
	low, high := min(a.RootBefore, a.RootAfter), max(a.RootBefore, a.RootAfter)
	if g.Version == 1 && low < 2*limit {
		t.Skipf("needs a machine on which more is used than %d by this test; it is %d", limit, low)
	}
	for _, by := range who {
		s := a.Said[by]
		near := s.Usage > low-low/4 && s.Usage < high+high/4
		if s.Err != "" || g.Version == 1 && !near || g.Version == 2 && s.Usage > 0 && s.Usage <= limit {
			t.Errorf("%s: got %+v, and the mounted group has %d to %d; is it mended?", by, s, low, high)
		}
		t.Logf("%s: %d bytes, of %s, which has %d at most", by, s.Usage, filepath.Base(g.Dir), limit)
	}
}
