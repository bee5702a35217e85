package kernel

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// version1 are the checks of version 1, beside a version 2 hierarchy without
// controllers, which is what makes a machine hybrid.
var version1 = version1Checks

// controllers1 are the hierarchies in which the checks of version 1 have groups.
// Some may be one and the same. The last one is version 2's.
var controllers1 = []string{"memory", "cpu", "cpuacct", "pids", "blkio", "unified"}

// TestVersion1 runs the checks on this machine, in groups of the test's own
// below those that it is in.
func TestVersion1(t *testing.T) {
	if runSelf(t, version1) {
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root, to make cgroups")
	}
	var hierarchies []hierarchy
	for _, controller := range controllers1 {
		dir, err := machineDir(controller)
		if err != nil {
			t.Skipf("needs a machine with cgroup version 1, as a hybrid one has: %v", err)
		}
		own := filepath.Join(dir, fmt.Sprint("tidestaff-e2e-", os.Getpid()))
		if err := os.Mkdir(own, 0o755); errors.Is(err, fs.ErrExist) {
			continue // mounted together with one before
		} else if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := remove(own); err != nil {
				t.Error(err)
			}
		})
		if controller == "cpu" {
			// On a busy machine a group would else have less than its quota.
			if err := write(filepath.Join(own, "cpu.shares"), "262144"); err != nil {
				t.Fatal(err)
			}
		}
		hierarchies = append(hierarchies, hierarchy{controller, own})
	}
	for _, c := range version1 {
		t.Run(c.name, func(t *testing.T) {
			out, err := c.start("TestVersion1", hierarchies)
			t.Logf("%s", out)
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// machineDir is the folder of this process's group for a controller of version
// 1, or for "unified", found without the code that is tested.
func machineDir(controller string) (string, error) {
	b, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(b)) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		for name := range strings.SplitSeq(f[1], ",") {
			if name == controller || f[0] == "0" && controller == "unified" {
				dir := filepath.Join("/sys/fs/cgroup", controller, f[2])
				_, err := os.Stat(filepath.Join(dir, "cgroup.procs"))
				return dir, err
			}
		}
	}
	return "", fmt.Errorf("no hierarchy of %s in %q", controller, b)
}

// ownDir1 is machineDir for a check.
func ownDir1(t *testing.T, controller string) string {
	t.Helper()
	dir, err := machineDir(controller)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
