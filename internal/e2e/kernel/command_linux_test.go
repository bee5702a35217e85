package kernel

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tidestaff/tidestaff/cgroup"
	"github.com/tidestaff/tidestaff/probe"
)

// commandChecks: a command's own peak and CPU time.
var commandChecks = []check{
	{name: "command", leaf: "leaf", run: checkCommand},
	{name: "command without a group", leaf: "leaf", run: checkCommandWithout},
	{name: "command of a user", leaf: "leaf", run: checkCommandDelegated},
}

// fat is what the parent of a command holds, of which nothing is the command's.
const fat = 64 * mib

// checkCommand: in a group of its own below one that has the memory controller
// switched on, a command's peak and CPU time are its own and exact. The group
// goes with it.
func checkCommand(t *testing.T) {
	defer hold(t, fat)()
	parent := filepath.Dir(ownDir(t))
	p := cgroup.New(cgroup.Options{CommandGroup: parent})
	u, err := p.RunCommand("hog", newHog(t, 24*mib))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "peak", u.Peak.V, 24*mib+base(t), room)
	if want := (probe.Provenance{Method: "memory.peak"}); !u.Peak.OK || u.Peak.Prov != want {
		t.Errorf("got a peak of %+v, want it by %+v", u.Peak, want)
	}
	if !(u.CPU.OK && u.CPU.V > 0 && u.CPU.V <= u.Duration.Seconds()+0.01) {
		t.Errorf("got CPU time of %+v in %v", u.CPU, u.Duration)
	}
	if left, err := filepath.Glob(parent + "/tidestaff-*"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	t.Logf("%v: peak %.1f MiB, CPU %.3f s (%s)", u.Duration, u.Peak.V/mib, u.CPU.V, u.CPU.Prov.Method)
}

// base is what a program like this one needs before it allocates anything, to
// the room that peaks have anyway.
func base(t *testing.T) float64 {
	t.Helper()
	u, err := cgroup.New(cgroup.Options{CommandGroup: filepath.Dir(ownDir(t))}).RunCommand("empty", newHog(t, 4096))
	if err != nil {
		t.Fatal(err)
	}
	return u.Peak.V
}

// checkCommandWithout: below a group that has processes of its own the kernel
// gives nobody the memory controller. The peak is then a lower bound, says so,
// and says why; it has nothing of the parent's all the same.
func checkCommandWithout(t *testing.T) {
	defer hold(t, fat)()
	u, err := cgroup.Run(newHog(t, 24*mib))
	if err != nil {
		t.Fatal(err)
	}
	if u.Peak.OK && (u.Peak.Prov.How != probe.Sampled || u.Peak.V > 24*mib+2*room) {
		t.Errorf("got a peak of %+v, want a lower bound", u.Peak)
	}
	if !strings.Contains(u.Peak.Reason, "not switched on") {
		t.Errorf("got reason %q, want one with %q", u.Peak.Reason, "not switched on")
	}
	t.Logf("%v: peak %+v", u.Duration, u.Peak)
}

// checkCommandDelegated: a user to whom the group above was handed over, as a
// service manager does, needs no option: commands get their groups beside the
// user's own, where there are peaks.
func checkCommandDelegated(t *testing.T) {
	const user = 1000
	above := filepath.Dir(ownDir(t))
	for _, name := range []string{"", "cgroup.procs", "cgroup.threads", subtree, "leaf", "leaf/cgroup.procs", "leaf/cgroup.threads"} {
		if err := os.Chown(filepath.Join(above, name), user, user); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(syscall.Setgid(user), syscall.Setuid(user)); err != nil {
		t.Fatal(err)
	}
	u, err := cgroup.Run(newHog(t, 24*mib))
	if err != nil {
		t.Fatal(err)
	}
	if want := (probe.Provenance{Method: "memory.peak"}); !u.Peak.OK || u.Peak.Prov != want || u.Peak.V < 24*mib || u.Peak.V > 24*mib+2*room {
		t.Errorf("got a peak of %+v, want it by %+v", u.Peak, want)
	}
	if left, err := filepath.Glob(above + "/tidestaff-*"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	t.Log(u)
}
