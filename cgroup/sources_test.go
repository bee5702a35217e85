package cgroup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
)

// TestSourcesCount: a window has what the kernel's totals grew by in it, in
// seconds where they are times, and not what had been counted before.
func TestSourcesCount(t *testing.T) {
	for _, tt := range []struct {
		fixture string
		files   map[string]string
		want    []string
	}{
		{"v2", map[string]string{
			leaf + "memory.events":   "low 0\nhigh 10\nmax 4\noom 2\noom_kill 2\noom_group_kill 0\nsock_throttled 9\n",
			leaf + "io.stat":         "259:0 rbytes=4194404 wbytes=1048576 rios=9 wios=2\n8:0 rbytes=50 wbytes=7 rios=1 wios=1\n",
			leaf + "memory.stat":     "pgmajfault 50\nanon 1\nfile 2\nshmem 1\nnew_key 3\npgfault 6000\ninactive_file 1\n",
			leaf + "cpu.pressure":    "some avg10=0.00 avg60=0.00 avg300=0.00 total=1500000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=200000\n",
			leaf + "cpu.stat":        "core_sched.force_idle_usec 0\nnr_bursts 1\nthrottled_usec 750000\nnr_throttled 12\nnr_periods 130\nsystem_usec 1000000\nuser_usec 6500000\nusage_usec 7600000\n",
			leaf + "pids.current":    "15\n",
			"proc/self/io":           "read_bytes: 5096\nwrite_bytes: 8192\n",
			leaf + "memory.current":  "219715200\n",
			leaf + "memory.swap.max": "max\n",
		}, []string{
			"cgroup.cpu.periods = 30", "cgroup.cpu.throttled.time = 0.5", "cgroup.cpu.throttled_periods = 2",
			"cgroup.cpu.time system = 0", "cgroup.cpu.time user = 2.5", "cgroup.cpu.usage = 2.6",
			"cgroup.disk.io read = 150", "cgroup.disk.io write = 7",
			"cgroup.disk.operations read = 2", "cgroup.disk.operations write = 1",
			"cgroup.memory.events high = 7", "cgroup.memory.events max = 2", "cgroup.memory.events oom = 1", "cgroup.memory.events oom_kill = 1",
			"cgroup.paging.faults major = 10", "cgroup.paging.faults minor = 990",
			"cgroup.pids.usage = 15",
			"cgroup.pressure.stall.time cpu full = 0", "cgroup.pressure.stall.time cpu some = 0.5",
			"process.disk.io read = 1000", "process.disk.io write = 0",
		}},
		{"v1", map[string]string{
			"sys/fs/cgroup/memory/memory.failcnt":                           "9\n",
			"sys/fs/cgroup/memory/memory.oom_control":                       "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n",
			"sys/fs/cgroup/blkio/blkio.throttle.io_service_bytes_recursive": "8:0 Read 5096\n8:0 Write 512\n8:16 Read 4\nTotal 5612\n",
			"sys/fs/cgroup/blkio/blkio.throttle.io_serviced":                "8:0 Read 3\n8:0 Write 1\nTotal 4\n",
			"sys/fs/cgroup/cpu,cpuacct/cpuacct.usage":                       "5250000001\n",
			"sys/fs/cgroup/cpu,cpuacct/cpuacct.stat":                        "user 420\nsystem 105\n",
			"sys/fs/cgroup/pids/pids.current":                               "13\n",
		}, []string{
			"cgroup.cpu.time system = 0.05", "cgroup.cpu.time user = 0.2", "cgroup.cpu.usage = 0.250000001",
			"cgroup.disk.io read = 1004", "cgroup.disk.io write = 0",
			"cgroup.disk.operations read = 2", "cgroup.disk.operations write = 0",
			"cgroup.memory.events max = 2", "cgroup.memory.events oom_kill = 3",
			"cgroup.pids.usage = 13",
		}},
	} {
		t.Run(tt.fixture, func(t *testing.T) {
			root := fixture(t, tt.fixture)
			w := watch(t, New(Options{Root: root, Interval: -1}))
			for name, data := range tt.files {
				rewrite(t, root, name, data)
			}
			got := map[string]bool{}
			for _, l := range lines(w.Close(), "tidestaff.") {
				got[l] = true
			}
			for _, l := range tt.want {
				if !got[l] {
					t.Errorf("got no line %q", l)
				}
			}
			if t.Failed() {
				t.Logf("got %v", got)
			}
		})
	}
}

// TestIOBegins: while the kernel lists no device there is no number, rather than
// a zero, and what comes then is counted from its first byte.
func TestIOBegins(t *testing.T) {
	for _, tt := range []struct {
		fixture       string
		before, after map[string]string
	}{
		{"v2", map[string]string{leaf + "io.stat": ""}, map[string]string{leaf + "io.stat": "8:0 rbytes=4096 wbytes=0 rios=1 wios=0\n"}},
		{"v1", map[string]string{
			"sys/fs/cgroup/blkio/blkio.throttle.io_service_bytes_recursive": "Total 0\n",
			"sys/fs/cgroup/blkio/blkio.throttle.io_serviced":                "Total 0\n",
		}, map[string]string{
			"sys/fs/cgroup/blkio/blkio.throttle.io_service_bytes_recursive": "8:0 Read 4096\n8:0 Write 0\nTotal 4096\n",
			"sys/fs/cgroup/blkio/blkio.throttle.io_serviced":                "8:0 Read 1\n8:0 Write 0\nTotal 1\n",
		}},
	} {
		root := fixture(t, tt.fixture)
		for name, data := range tt.before {
			rewrite(t, root, name, data)
		}
		w := watch(t, New(Options{Root: root, Interval: -1}))
		var r probe.Reading
		w.Read(&r)
		for _, d := range ioDescs {
			if got := absent(&r, d.Name); !strings.Contains(got, "no device so far") {
				t.Errorf("%s: %s: got reason %q", tt.fixture, d.Name, got)
			}
		}
		for name, data := range tt.after {
			rewrite(t, root, name, data)
		}
		r = *w.Close()
		want := []string{"disk.io read = 4096", "disk.io write = 0", "disk.operations read = 1", "disk.operations write = 0"}
		if diff := cmp.Diff(want, keep(lines(&r, "tidestaff.cgroup."), "disk.")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.fixture, diff)
		}
	}
}

// keep is the lines that begin with prefix.
func keep(lines []string, prefix string) []string {
	var out []string
	for _, l := range lines {
		if strings.HasPrefix(l, prefix) {
			out = append(out, l)
		}
	}
	return out
}

// TestFilesMissing: each file may be missing without the others, and its metrics
// then say that this kernel does not have it; no zero stands in for them.
func TestFilesMissing(t *testing.T) {
	for _, tt := range []struct {
		fixture, file string
		metrics       []*probe.Desc
		reason        string
	}{
		{"v2", leaf + "cpu.pressure", pressureDescs, "not provided by this kernel"},
		{"v2", leaf + "io.pressure", pressureDescs, "not provided by this kernel"},
		{"v2", leaf + "io.stat", ioDescs, "not provided by this kernel"},
		{"v2", leaf + "memory.events", []*probe.Desc{descEvents}, "not provided by this kernel"},
		{"v2", leaf + "memory.swap.current", []*probe.Desc{descGroupSwap, descGroupSwapPeak}, "not provided by this kernel"},
		{"v2", leaf + "memory.high", []*probe.Desc{descGroupHigh}, "not provided by this kernel"},
		{"v2", leaf + "pids.current", []*probe.Desc{descTasks, descTasksPeak}, "not provided by this kernel"},
		{"v2", leaf + "pids.max", []*probe.Desc{descTasksLimit}, "not provided by this kernel"},
		{"v2", "proc/self/io", []*probe.Desc{descProcessIO}, "not provided by this kernel"},
		{"v1", "sys/fs/cgroup/memory/memory.oom_control", []*probe.Desc{descEvents}, "not provided by this kernel"},
		{"v1", "sys/fs/cgroup/memory/memory.failcnt", []*probe.Desc{descEvents}, "not provided by this kernel"},
		{"v1", "sys/fs/cgroup/blkio/blkio.throttle.io_serviced", ioDescs, "not provided by this kernel"},
		{"v1", "sys/fs/cgroup/cpu,cpuacct/cpuacct.usage", []*probe.Desc{descGroupCPUUsage}, "not provided by this kernel"},
		{"v1", "sys/fs/cgroup/memory/memory.usage_in_bytes",
			[]*probe.Desc{descGroupUsage, descGroupPeak, descGroupGrowth, descGroupCourse, descWorkingSet, descUncached}, "not provided by this kernel"},
		{"v1", "", []*probe.Desc{descGroupHigh, descGroupSwapPeak}, "cgroup version 1 does not have it"},
		{"v1", "", pressureDescs, "no cgroup"},
	} {
		root := fixture(t, tt.fixture)
		if tt.file != "" {
			if err := os.Remove(filepath.Join(root, tt.file)); err != nil {
				t.Fatal(err)
			}
		}
		r := watch(t, New(Options{Root: root, Interval: -1})).Close()
		for _, d := range tt.metrics {
			if got := absent(r, d.Name); !strings.Contains(got, tt.reason) {
				t.Errorf("%s without %s: %s: got reason %q, want one with %q", tt.fixture, tt.file, d.Name, got, tt.reason)
			}
			for range r.Find(d.Name) {
				t.Errorf("%s without %s: got a value of %s", tt.fixture, tt.file, d.Name)
			}
		}
	}
}

// TestFaults: the process's own page faults are counted.
func TestFaults(t *testing.T) {
	if v, err := ownSpent(); err != nil || !v.faults {
		t.Skip("needs page faults from getrusage")
	}
	w := watch(t, New(Options{Root: "testdata/nothing", Interval: -1}))
	b := make([]byte, 64<<20) // larger than what the heap keeps
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
	got := map[string]float64{}
	for m := range w.Close().Find(descFaults.Name) {
		got[m.Attr(attrFault)] = m.Value
	}
	if _, ok := got["major"]; !ok || got["minor"] == 0 {
		t.Errorf("got faults %v, want minor ones and a number of major ones", got)
	}
}

// TestAbsurd: numbers beyond what a machine can have neither wrap nor make
// anything negative.
func TestAbsurd(t *testing.T) {
	const most = "18446744073709551615\n"
	root := fixture(t, "v2")
	w := watch(t, New(Options{Root: root, Interval: -1}))
	for _, name := range []string{"memory.current", "memory.peak", "memory.swap.current", "memory.swap.peak", "memory.max", "pids.current", "pids.max"} {
		rewrite(t, root, leaf+name, most)
	}
	rewrite(t, root, leaf+"memory.events", "high 0\nmax "+most+"oom 1\noom_kill 1\n")
	rewrite(t, root, leaf+"cpu.stat", "usage_usec "+most+"user_usec "+most+"system_usec 0\nnr_periods 200\nnr_throttled 300\nthrottled_usec "+most)
	rewrite(t, root, leaf+"io.stat", "8:0 rbytes="+most)
	for _, m := range w.Close().Metrics {
		if m.Value < 0 && m.Attr(attrStat) != "rise" { // the test's own heap may shrink
			t.Errorf("got %s %v = %v", m.Name, m.Attrs, m.Value)
		}
	}
}
