package kernel

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/cgroup"
	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

// version1Checks: as those of version 2, where version 1 is different.
var version1Checks = []check{
	{name: "groups", leaf: "leaf", run: checkGroups1,
		files: map[string]string{"memory/memory.limit_in_bytes": "300M", "cpu/cpu.cfs_quota_us": "90000"}},
	{name: "namespace", leaf: "leaf", unshare: syscall.CLONE_NEWCGROUP | syscall.CLONE_NEWNS, run: checkNamespace1,
		files: map[string]string{"memory/memory.limit_in_bytes": "300M", "cpu/cpu.cfs_quota_us": "90000"}},
	{name: "marks", run: checkMarks1},
	{name: "marks set back on request", run: checkResetShared1},
	{name: "out of memory", run: checkOutOfMemory1},
	// The largest share, or on a busy machine it would have less than the quota.
	{name: "throttling", run: checkThrottling1,
		files: map[string]string{"cpu/cpu.cfs_quota_us": "20000", "cpu/cpu.shares": "262144"}},
	{name: "cpu time", run: checkCPUTime1},
	{name: "command", run: checkCommand1},
	{name: "io", run: checkIO1},
}

// checkGroups1: each controller has a hierarchy and a group of its own, and the
// version 2 hierarchy has one as well, in which there is pressure. Memory's limit
// is the one of all levels in one file; the quota is looked for level by level.
func checkGroups1(t *testing.T) {
	groups, err := proc.Detect("/")
	if err != nil {
		t.Fatal(err)
	}
	for _, controller := range []string{"memory", "cpu", "cpuacct", "pids", "blkio", ""} {
		got, err := groups.LookupOwn(controller)
		if err != nil {
			t.Error(err)
			continue
		}
		want := proc.Group{Controller: controller, Version: 1, Scope: proc.ScopeLeaf, Path: got.Path, Mount: got.Mount}
		if controller == "" {
			want.Version, want.Dir = 2, ownDir1(t, "unified")
		} else {
			want.Dir = ownDir1(t, controller)
		}
		if diff := cmp.Diff(want, got); diff != "" || !strings.HasSuffix(got.Path, "/groups/leaf") {
			t.Errorf("path %s, (-want +got):\n%s", got.Path, diff)
		}
	}
	if g, err := groups.LookupOwn("io"); !errors.Is(err, proc.ErrNoController) {
		t.Errorf("got %+v, %v for io, want %v: its name is blkio here", g, err, proc.ErrNoController)
	}
	r := watch(t, cgroup.Options{}).Close()
	if got := one(t, r, groupLimit).Value; got != 300*mib {
		t.Errorf("got a limit of %v bytes, want the parent's %v", got, 300*mib)
	}
	if got := one(t, r, cpuLimit).Value; got != 0.9 {
		t.Errorf("got a limit of %v CPUs, want the parent's 0.9", got)
	}
	dir := ownDir1(t, "memory")
	near(t, "usage", one(t, r, groupUsage).Value, number(t, dir+"/memory.usage_in_bytes"), room)
	near(t, "anonymous memory", one(t, r, groupStat, "anon").Value, table(t, dir+"/memory.stat")["total_rss"], room)
	one(t, r, pressure, "cpu", "some")
	one(t, r, tasks)
}

// checkNamespace1: a cgroup namespace, first with the machine's mounts and then
// with its own ones. The memory limit above its root is known all the same.
func checkNamespace1(t *testing.T) {
	groups, err := proc.Detect("/")
	if err != nil {
		t.Fatal(err)
	}
	for _, controller := range []string{"memory", "cpu", "cpuacct", "pids", ""} {
		if g, err := groups.LookupOwn(controller); !errors.Is(err, proc.ErrForeignNamespace) {
			t.Errorf("%q: got %+v, %v, want %v", controller, g, err, proc.ErrForeignNamespace)
		}
	}
	for _, controller := range []string{"memory", "cpu"} {
		point := filepath.Join("/sys/fs/cgroup", controller)
		if err := syscall.Unmount(point, syscall.MNT_DETACH); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mount("cgroup", point, "cgroup", 0, controller); err != nil {
			t.Fatal(err)
		}
		if groups, err = proc.Detect("/"); err != nil {
			t.Fatal(err)
		}
		g, err := groups.LookupOwn(controller)
		if g.Path != "/" || g.Dir != point || g.Scope != proc.ScopeNamespaceRoot {
			t.Errorf("%s: got %+v, %v, want the root of the namespace", controller, g, err)
		}
	}
	r := watch(t, cgroup.Options{}).Close()
	near(t, "usage", one(t, r, groupUsage).Value, number(t, "/sys/fs/cgroup/memory/memory.usage_in_bytes"), room)
	if got := one(t, r, groupLimit).Value; got != 300*mib {
		t.Errorf("got a limit of %v bytes, want %v, that of a level above the root", got, 300*mib)
	}
	wantAbsent(t, r, "cannot be seen", cpuLimit)
}

// checkMarks1: version 1 has one mark for everybody. It is exact where it rose,
// a bound where it did not, and never set back without a request.
func checkMarks1(t *testing.T) {
	mark := ownDir1(t, "memory") + "/memory.max_usage_in_bytes"
	base := number(t, ownDir1(t, "memory")+"/memory.usage_in_bytes")
	w := watch(t, cgroup.Options{})
	spike(t, 80*mib)
	wantPeak(t, "window of a new maximum", w.Close(), base+80*mib, maxRose)
	lifetime := number(t, mark)
	w = watch(t, cgroup.Options{})
	spike(t, 40*mib)
	wantBound(t, "window below it", w.Close(), base, base+40*mib)
	if got := number(t, mark); got != lifetime {
		t.Errorf("the mark was %v and is %v", lifetime, got)
	}
}

// checkResetShared1: on request the mark is set back, by all probes together, so
// that overlapping windows have each the spikes that fell into them.
func checkResetShared1(t *testing.T) {
	base := number(t, ownDir1(t, "memory")+"/memory.usage_in_bytes")
	o := cgroup.Options{ResetShared: true}
	a := watch(t, o)
	spike(t, 80*mib)
	b := watch(t, o) // of another probe
	spike(t, 20*mib)
	first := a.Close()
	spike(t, 40*mib)
	second := b.Close()
	wantPeak(t, "first window", first, base+80*mib, "memory.max_usage_in_bytes reset")
	wantPeak(t, "second window", second, base+40*mib, "memory.max_usage_in_bytes reset")
}

// checkOutOfMemory1: another process wants more than the limit of its group and
// is killed. This one looks from outside, by the group's path: root may lack the
// right to take a process off the list of those to kill, see spareMe.
func checkOutOfMemory1(t *testing.T) {
	dir := ownDir1(t, "memory") + "/hog"
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := write(dir+"/memory.limit_in_bytes", "128M"); err != nil {
		t.Fatal(err)
	}
	kills, fails := table(t, dir+"/memory.oom_control")["oom_kill"], number(t, dir+"/memory.failcnt")
	w := watch(t, cgroup.Options{Path: strings.TrimPrefix(dir, "/sys/fs/cgroup/memory")})
	starve(t, newHog(t, 256*mib, dir))
	r := w.Close()
	kills, fails = table(t, dir+"/memory.oom_control")["oom_kill"]-kills, number(t, dir+"/memory.failcnt")-fails
	if got := one(t, r, groupEvents, "oom_kill").Value; got != kills || kills != 1 {
		t.Errorf("got %v kills, the kernel counted %v, want 1", got, kills)
	}
	if got := one(t, r, groupEvents, "max").Value; got != fails {
		t.Errorf("got %v charges that met the limit, the kernel counted %v", got, fails)
	}
	wantPeak(t, "peak", r, 128*mib, maxRose)
	if fails == 0 {
		t.Error("the kernel counted no charge that met the limit")
	}
}

func readIfThere(name string) string {
	b, err := os.ReadFile(name)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// checkThrottling1: as in version 2, with other units.
func checkThrottling1(t *testing.T) {
	b, r := throttled(t, ownDir1(t, "cpu"))
	if got := one(t, r, cpuLimit).Value; got != 0.2 {
		t.Errorf("got a limit of %v CPUs, want 0.2", got)
	}
	b.holds(t, "periods", one(t, r, cpuPeriods).Value, 1, 0, "nr_periods")
	b.holds(t, "throttled periods", one(t, r, cpuThrottled).Value, 1, 0, "nr_throttled")
	b.holds(t, "throttled time", one(t, r, cpuStopped).Value, 1e-9, 1e-9, "throttled_time")
	if got := one(t, r, cpuThrottled).Value; got < 4 {
		t.Errorf("got %v throttled periods, want at least 4", got)
	}
}

// checkCPUTime1: the group's time, from a file in nanoseconds.
func checkCPUTime1(t *testing.T) {
	file := filepath.Join(ownDir1(t, "cpuacct"), "cpuacct.usage")
	outer := number(t, file)
	w := watch(t, cgroup.Options{})
	inner := number(t, file)
	if err := startHog(t, 20*mib).Wait(); err != nil {
		t.Fatal(err)
	}
	innerEnd := number(t, file)
	r := w.Close()
	outerEnd := number(t, file)
	const slack = 1e-9
	if got := one(t, r, cpuUsage).Value; !(got >= (innerEnd-inner)/1e9-slack && got <= (outerEnd-outer)/1e9+slack) {
		t.Errorf("got %v s, want %v to %v", got, (innerEnd-inner)/1e9, (outerEnd-outer)/1e9)
	}
}

// checkCommand1: version 1 lets a command have its own group below any.
func checkCommand1(t *testing.T) {
	defer hold(t, fat)()
	var base float64
	for _, n := range []int{4096, 24 * mib} {
		u, err := cgroup.Run(newHog(t, n))
		if err != nil {
			t.Fatal(err)
		}
		if want := (probe.Provenance{Method: "memory.max_usage_in_bytes"}); !u.Peak.OK || u.Peak.Prov != want {
			t.Errorf("got a peak of %+v, want it by %+v", u.Peak, want)
		}
		if n == 4096 {
			base = u.Peak.V
		} else {
			near(t, "peak", u.Peak.V, float64(n)+base, room)
		}
	}
	for _, controller := range []string{"memory", "cpuacct"} {
		if left, err := filepath.Glob(ownDir1(t, controller) + "/tidestaff-*"); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	}
}

// checkIO1: direct IO on the folder of temporary files. What the kernel lists
// depends on the device; it has to be what the probe has.
func checkIO1(t *testing.T) {
	dir := ownDir1(t, "blkio")
	w := watch(t, cgroup.Options{})
	f, err := os.OpenFile(filepath.Join(t.TempDir(), "file"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(make([]byte, mib)); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	r := w.Close()
	file := dir + "/blkio.throttle.io_service_bytes"
	listed := readIfThere(file)
	t.Logf("%s:\n%s", file, listed)
	if _, total, ok := strings.Cut(listed, "Write "); ok {
		total, _, _ = strings.Cut(total, "\n")
		if got := format(one(t, r, groupIO, "write").Value); got != total {
			t.Errorf("got %s bytes written, the kernel counted %s", got, total)
		}
	} else {
		wantAbsent(t, r, "no device", groupIO)
	}
}
