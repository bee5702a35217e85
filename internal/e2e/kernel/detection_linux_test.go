package kernel

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/cgroup"
	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

// detectionChecks: where a process finds its groups, and where it has to refuse
// because it would find somebody else's.
var detectionChecks = []check{
	{name: "leaf", leaf: "leaf", run: checkLeaf},
	{name: "root", leaf: "..", run: checkRoot},
	{name: "namespace", leaf: "leaf", unshare: syscall.CLONE_NEWCGROUP | syscall.CLONE_NEWNS, run: checkNamespace,
		files: map[string]string{"memory.max": "200M", "cpu.max": "90000 100000"}},
	{name: "second mount", leaf: "leaf", unshare: syscall.CLONE_NEWCGROUP | syscall.CLONE_NEWNS, run: checkSecondMount},
	{name: "inherited", leaf: "leaf", unshare: syscall.CLONE_NEWCGROUP | syscall.CLONE_NEWNS, run: checkInherited},
	{name: "moved out", leaf: "leaf", unshare: syscall.CLONE_NEWCGROUP | syscall.CLONE_NEWNS, run: checkMovedOut},
	{name: "not delegated", leaf: "leaf", run: checkNotDelegated, files: map[string]string{subtree: "-memory -cpu"}},
	{name: "ancestors", leaf: "leaf", run: checkAncestors,
		files: map[string]string{"memory.max": "200M", "cpu.max": "90000 100000", "leaf/memory.max": "300M"}},
	{name: "moved", leaf: "leaf", run: checkMoved},
}

// allGroup are the metrics that every group has.
var allGroup = []string{groupUsage, groupPeak, groupStat, groupCPU}

// wantGroup wants each controller's group in the folder.
func wantGroup(t *testing.T, path, dir string, scope proc.Scope) {
	t.Helper()
	groups, err := proc.Detect("/")
	if err != nil {
		t.Fatal(err)
	}
	for _, controller := range []string{"memory", "cpu", "io", "pids", ""} {
		got, err := groups.LookupOwn(controller)
		if err != nil {
			t.Error(err)
			continue
		}
		want := proc.Group{Controller: controller, Version: 2, Path: path, Dir: dir, Mount: unified, Scope: scope}
		if scope == proc.ScopeNamespaceRoot {
			want.Mount = dir
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// wantRefused wants no group, for a reason of one kind.
func wantRefused(t *testing.T, kind error) {
	t.Helper()
	groups, err := proc.Detect("/")
	if err != nil {
		t.Fatal(err)
	}
	for _, controller := range []string{"memory", "cpu", "cpuacct", "io", "pids", ""} {
		if g, err := groups.LookupOwn(controller); !errors.Is(err, kind) {
			t.Errorf("%q: got %+v, %v, want %v", controller, g, err, kind)
		}
	}
}

// checkLeaf: an ordinary group, one level below another one, without limits.
func checkLeaf(t *testing.T) {
	dir := unified + "/leaf/leaf"
	wantGroup(t, "/leaf/leaf", dir, proc.ScopeLeaf)
	r := watch(t, cgroup.Options{}).Close()
	near(t, "usage", one(t, r, groupUsage).Value, number(t, dir+"/memory.current"), room)
	wantAbsent(t, r, "no limit is set", groupLimit, cpuLimit)
	wantAbsent(t, r, "no CPU quota", cpuPeriods, cpuThrottled, cpuStopped)
	anon := one(t, r, groupStat, "anon").Value
	near(t, "anon", anon, table(t, dir+"/memory.stat")["anon"], room)
	if rss := one(t, r, processRSS).Value; !(anon > 0 && anon <= rss+room) {
		t.Errorf("got %.1f MiB of anonymous memory in the group of a process of %.1f MiB", anon/mib, rss/mib)
	}
	for _, kind := range []string{"kernel", "shmem", "file", "sock"} {
		one(t, r, groupStat, kind)
	}
}

// checkRoot: the true root's files count the whole machine.
func checkRoot(t *testing.T) {
	wantRefused(t, proc.ErrHostRoot)
	r := watch(t, cgroup.Options{}).Close()
	wantAbsent(t, r, "whole machine", allGroup...)
	if got := one(t, r, processPeak).Prov.Method; got != markReset {
		t.Errorf("got a process's peak by %q, want %q", got, markReset)
	}
}

// checkNamespace: in a cgroup namespace with a mount of its own, the group is
// "/" and not the true root. What limits it from above is out of sight, which
// is not the same as no limit.
func checkNamespace(t *testing.T) {
	if err := syscall.Unmount(unified, syscall.MNT_DETACH); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("cgroup2", unified, "cgroup2", 0, ""); err != nil {
		t.Fatal(err)
	}
	wantGroup(t, "/", unified, proc.ScopeNamespaceRoot)
	r := watch(t, cgroup.Options{}).Close()
	near(t, "usage", one(t, r, groupUsage).Value, number(t, unified+"/memory.current"), room)
	for _, name := range allGroup {
		one(t, r, name)
	}
	wantAbsent(t, r, "cannot be seen", groupLimit, cpuLimit)
}

// ownMount is where a check mounts a hierarchy beside the one that is there.
const ownMount = "/mnt"

// checkSecondMount: the namespace has a mount of its own, which is not the first
// in the list.
func checkSecondMount(t *testing.T) {
	if err := syscall.Mount("cgroup2", ownMount, "cgroup2", 0, ""); err != nil {
		t.Fatal(err)
	}
	wantGroup(t, "/", ownMount, proc.ScopeNamespaceRoot)
	r := watch(t, cgroup.Options{}).Close()
	near(t, "usage", one(t, r, groupUsage).Value, number(t, ownMount+"/memory.current"), room)
}

// checkInherited: a namespace without a mount of its own. What is mounted there
// is the machine's tree, in which this process's path is somebody else's.
func checkInherited(t *testing.T) {
	wantRefused(t, proc.ErrForeignNamespace)
	wantAbsent(t, watch(t, cgroup.Options{}).Close(), "another cgroup namespace", allGroup...)
}

// checkMovedOut: a process that was moved to a sibling of its namespace's root.
func checkMovedOut(t *testing.T) {
	sibling := unified + "/moved out/sibling"
	if err := os.Mkdir(sibling, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := join(sibling); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("cgroup2", ownMount, "cgroup2", 0, ""); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, proc.ErrForeignNamespace)
	wantAbsent(t, watch(t, cgroup.Options{}).Close(), "another cgroup namespace", allGroup...)
}

// checkNotDelegated: the parent keeps the controllers to itself. CPU time is
// counted all the same.
func checkNotDelegated(t *testing.T) {
	r := watch(t, cgroup.Options{}).Close()
	wantAbsent(t, r, "not enabled", groupUsage, groupPeak, groupStat, groupLimit, cpuLimit, cpuPeriods)
	one(t, r, groupCPU, "user")
}

// checkAncestors: the smallest limit binds, whichever level has it.
func checkAncestors(t *testing.T) {
	r := watch(t, cgroup.Options{}).Close()
	if got := one(t, r, groupLimit).Value; got != 200*mib {
		t.Errorf("got a limit of %v bytes, want the parent's %v", got, 200*mib)
	}
	if got := one(t, r, cpuLimit).Value; got != 0.9 {
		t.Errorf("got a limit of %v CPUs, want the parent's 0.9", got)
	}
	// The kernel counts periods where the quota is, one level up.
	wantAbsent(t, r, "no CPU quota", cpuPeriods)
}

// checkMoved: the process is moved and its group removed while it is watched.
// The probe notices within a tenth of a second. From then on its levels are the
// new group's; a peak would be of two groups, and is absent.
func checkMoved(t *testing.T) {
	w := watch(t, cgroup.Options{})
	dir := ownDir(t)
	other := filepath.Join(filepath.Dir(dir), "other")
	if err := os.Mkdir(other, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := join(other); err != nil {
		t.Fatal(err)
	}
	if err := remove(dir); err != nil {
		t.Fatal(err)
	}
	hold(t, 16*mib)
	var r probe.Reading
	for end := time.Now().Add(time.Minute); len(r.Events) == 0; time.Sleep(10 * time.Millisecond) {
		if w.Read(&r); time.Now().After(end) {
			t.Fatal("no event of it in a minute")
		}
		// Until then there is no number of the group that has gone.
		if len(r.Events) == 0 {
			wantAbsent(t, &r, "cgroup was removed", groupUsage, groupPeak)
		}
	}
	if e := r.Events[0]; e.Name != "tidestaff.cgroup.moved" || !strings.Contains(e.Text, "/moved/leaf") {
		t.Errorf("got event %+v", e)
	}
	near(t, "usage", one(t, &r, groupUsage).Value, number(t, other+"/memory.current"), room)
	near(t, "anonymous memory", one(t, &r, groupStat, "anon").Value, 16*mib, room)
	wantAbsent(t, &r, "moved to another cgroup", groupPeak, groupGrowth)
	wantGroup(t, "/moved/other", other, proc.ScopeLeaf)
}
