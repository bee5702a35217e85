package cgroup

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
)

// procStat is /proc/77/stat of a process in a state, that started so many ticks
// after the machine and has used so many of user time.
func procStat(state string, start, utime int) string {
	return fmt.Sprintf("77 (a (strange) name) %s 1 77 77 0 -1 4194304 500 0 7 0 %d 25 0 0 20 0 9 0 %d 1000 1000 1844\n", state, utime, start)
}

// neighbour is the fixture v2 with a process 77 in the group /pod/leaf, while
// this process is in /pod.
func neighbour(t *testing.T) string {
	t.Helper()
	root := fixture(t, "v2")
	if err := os.Rename(filepath.Join(root, "proc/self"), filepath.Join(root, "proc/77")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(root, "proc/self"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{
		"proc/self/cgroup":    "0::/pod\n",
		"proc/self/mountinfo": "28 24 0:25 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup2 rw\n",
		"proc/self/status":    "VmHWM:\t1 kB\nVmRSS:\t1 kB\n",
		"proc/77/stat":        procStat("S", 4000, 100),

		"sys/fs/cgroup/cgroup.controllers": "cpu io memory pids\n",
	} {
		rewrite(t, root, name, data)
	}
	return root
}

// TestOther: the process of a number is measured, and the groups that it is in.
func TestOther(t *testing.T) {
	root := neighbour(t)
	w := watch(t, New(Options{Root: root, PID: 77, Interval: -1}))
	rewrite(t, root, "proc/77/stat", procStat("R", 4000, 350))
	r := w.Close()
	got := lines(r, "tidestaff.")
	for _, want := range []string{
		"process.memory.usage = 1.024e+08", "process.memory.swap = 512000", "process.cpu.time user = 2.5", "process.cpu.time system = 0",
		"process.paging.faults minor = 0", "process.disk.io read = 0",
		"cgroup.memory.usage = 2.097152e+08", "cgroup.memory.limit = 5.36870912e+08", "cgroup.cpu.limit = 1.5",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("got no line %q", want)
		}
	}
	for _, d := range []*probe.Desc{descGo, descGoCourse} {
		if got := absent(r, d.Name); !strings.Contains(got, "another process") {
			t.Errorf("%s: got reason %q", d.Name, got)
		}
	}
}

// TestOtherPeak: another process's peak says where it is from as one's own does:
// exact once the mark rose, whatever samples saw, and else as high as they saw it.
func TestOtherPeak(t *testing.T) {
	for _, tt := range []struct {
		mark int // kB
		want float64
		prov probe.Provenance
	}{
		{200000, 200000 << 10, probe.Provenance{Method: markRose}},
		{120000, 110000 << 10, probe.Provenance{How: probe.Sampled, Method: "sampled", Samples: 1}},
	} {
		root := neighbour(t)
		w := watch(t, New(Options{Root: root, PID: 77, Interval: -1}))
		rewrite(t, root, "proc/77/status", fmt.Sprintf("VmHWM:\t%d kB\nVmRSS:\t110000 kB\n", tt.mark))
		v, prov := one(t, w.Close(), descPeak)
		if prov.MaxGap = 0; v != tt.want || prov != tt.prov {
			t.Errorf("a mark of %d kB: got %v by %+v, want %v by %+v", tt.mark, v, prov, tt.want, tt.prov)
		}
	}
}

// TestOtherEnds: when the process has ended, or its number belongs to another
// one, there are no numbers of it, and never those of its successor: not in the
// windows that are open, and not in later ones.
func TestOtherEnds(t *testing.T) {
	for _, tt := range []struct {
		name, stat, reason string
	}{
		{"zombie", procStat("Z", 4000, 100), "process 77: the process has ended"},
		{"re-used", procStat("R", 9000, 3), "process 77: the number belongs to another process"},
		{"gone", "", "process 77: the process has ended"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := neighbour(t)
			p := New(Options{Root: root, PID: 77, Interval: -1})
			w := watch(t, p)
			var r probe.Reading
			w.Read(&r)
			wantThere(t, &r, descRSS, descCPU, descPeak)
			rewrite(t, root, "proc/77/status", "VmHWM:\t777777 kB\nVmRSS:\t777777 kB\n") // a successor's
			if tt.stat == "" {
				if err := os.RemoveAll(filepath.Join(root, "proc/77")); err != nil {
					t.Fatal(err)
				}
				w.Close() // a fixture's kept files outlive the folder; a kernel's answer ESRCH
				w = watch(t, p)
			} else {
				rewrite(t, root, "proc/77/stat", tt.stat)
			}
			w.Read(&r)
			wantNoProcess(t, "open window", &r, tt.reason)
			if tt.stat != "" {
				rewrite(t, root, "proc/77/stat", procStat("S", 4000, 100)) // what is gone stays gone
				w.Read(&r)
				wantNoProcess(t, "afterwards", &r, tt.reason)
				rewrite(t, root, "proc/77/stat", tt.stat)
			}
			w.Close()
			wantNoProcess(t, "next window", watch(t, p).Close(), tt.reason)
		})
	}
}

func wantThere(t *testing.T, r *probe.Reading, ds ...*probe.Desc) {
	t.Helper()
	for _, d := range ds {
		if len(slices.Collect(r.Find(d.Name))) == 0 {
			t.Errorf("got no %s; absent: %q", d.Name, absent(r, d.Name))
		}
	}
}

// wantNoProcess wants no number of a process.
func wantNoProcess(t *testing.T, when string, r *probe.Reading, reason string) {
	t.Helper()
	for _, d := range processDescs {
		for m := range r.Find(d.Name) {
			t.Errorf("%s: got %s %v = %v", when, m.Name, m.Attrs, m.Value)
		}
		if got := absent(r, d.Name); !strings.Contains(got, reason) && d != descGo && d != descGoCourse {
			t.Errorf("%s: %s: got reason %q, want %q", when, d.Name, got, reason)
		}
	}
}

// TestOtherNever: a number that nobody has is absent, with its group.
func TestOtherNever(t *testing.T) {
	r := watch(t, New(Options{Root: neighbour(t), PID: 78, Interval: -1})).Close()
	wantNoProcess(t, "never", r, "process 78: the process has ended, never was, or is hidden")
	if got := absent(r, descGroupUsage.Name); !strings.Contains(got, "process 78") {
		t.Errorf("got reason %q for the group", got)
	}
}

// TestPath: a group by its path, without any process, or beside one.
func TestPath(t *testing.T) {
	for _, tt := range []struct {
		path    string
		pid     int
		reason  string // of the group's usage
		process string // of the process's
	}{
		{"/pod/leaf", 0, "", "a group is measured"},
		{"/pod/leaf", 77, "", ""},
		{"/pod/none", 0, "no mount shows this cgroup", "a group is measured"},
		{"/", 0, "whole machine", "a group is measured"},
		{"pod/leaf", 0, "not absolute and clean", "a group is measured"},
		{"/pod/../pod/leaf", 0, "not absolute and clean", "a group is measured"},
		{"/../other", 0, "not absolute and clean", "a group is measured"},
	} {
		r := watch(t, New(Options{Root: neighbour(t), Path: tt.path, PID: tt.pid, Interval: -1})).Close()
		if got := absent(r, descGroupUsage.Name); !strings.Contains(got, tt.reason) || (got == "") != (tt.reason == "") {
			t.Errorf("%s: got reason %q, want %q", tt.path, got, tt.reason)
		}
		if got := absent(r, descRSS.Name); !strings.Contains(got, tt.process) || (got == "") != (tt.process == "") {
			t.Errorf("%s, process %d: got reason %q, want %q", tt.path, tt.pid, got, tt.process)
		}
	}
}

// TestMoved: a process that is moved to another group is followed. Counters go on
// with what is added there, levels are the new group's, windows that span the
// move have no peak and an event, and the next first window has a peak again.
func TestMoved(t *testing.T) {
	root := fixture(t, "v2")
	for name, data := range map[string]string{
		"cgroup.procs": "17\n", "cgroup.controllers": "cpu io memory pids\n",
		"memory.current": "1000\n", "memory.peak": "999999999999\n", "memory.max": "5000\n",
		"cpu.stat": "usage_usec 90000000\nuser_usec 50000000\nsystem_usec 40000000\n",
	} {
		name = filepath.Join("sys/fs/cgroup/pod/new", name)
		if err := os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		rewrite(t, root, name, data)
	}
	p := fresh(Options{Root: root, Interval: time.Hour, Name: "mine"})
	w := watch(t, p)
	rewrite(t, root, leaf+"cpu.stat", "usage_usec 6000000\nuser_usec 5000000\nsystem_usec 1000000\n")
	var r probe.Reading
	w.Read(&r)
	rewrite(t, root, "proc/self/cgroup", "0::/pod/new\n")
	w.Read(&r) // meets the new group's totals
	rewrite(t, root, "sys/fs/cgroup/pod/new/cpu.stat", "usage_usec 92000000\nuser_usec 51000000\nsystem_usec 41000000\n")
	inner := watch(t, p)
	w.Read(&r)
	if v, _ := one(t, &r, descGroupCPUUsage); v != 3 { // one second there, two here
		t.Errorf("got %v s of CPU time, want 3", v)
	}
	if v, _ := one(t, &r, descGroupUsage); v != 1000 {
		t.Errorf("got a usage of %v, want the new group's 1000", v)
	}
	if v, _ := one(t, &r, descGroupLimit); v != 5000 {
		t.Errorf("got a limit of %v, want the new group's 5000", v)
	}
	for _, d := range []*probe.Desc{descGroupPeak, descGroupGrowth} {
		if got := absent(&r, d.Name); !strings.Contains(got, "moved") {
			t.Errorf("%s: got reason %q, want one with moved", d.Name, got)
		}
	}
	if len(r.Events) != 1 || r.Events[0].Name != eventMoved || !strings.Contains(r.Events[0].Text, "from cgroup 0::/pod/leaf to 0::/pod/new") {
		t.Errorf("got events %+v", r.Events)
	} else if diff := cmp.Diff([]probe.Attr{{Key: attrMovedFrom, Value: "0::/pod/leaf"}, {Key: attrMovedTo, Value: "0::/pod/new"},
		{Key: probe.AttrProbeName, Value: "mine"}}, r.Events[0].Attrs); diff != "" {
		t.Errorf("attributes of the event (-want +got):\n%s", diff)
	}
	if r := inner.Close(); len(r.Events) != 0 {
		t.Errorf("got events %+v in a window that began after the move", r.Events)
	}
	w.Close()
	wantThere(t, watch(t, p).Close(), descGroupPeak, descGroupGrowth)
}

// TestMovedElsewhere: a move in a hierarchy of which nothing is measured is none.
func TestMovedElsewhere(t *testing.T) {
	root := fixture(t, "v1")
	list, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		t.Fatal(err)
	}
	rewrite(t, root, "proc/self/cgroup", string(list)+"9:name=systemd:/a\n")
	w := watch(t, fresh(Options{Root: root, Interval: time.Hour}))
	rewrite(t, root, "proc/self/cgroup", string(list)+"9:name=systemd:/b\n")
	r := w.Close()
	if len(r.Events) != 0 {
		t.Errorf("got events %+v", r.Events)
	}
	wantThere(t, r, descGroupPeak)
}

// TestPeakForgets: what a mark was good for in an earlier window says nothing
// when the file is gone.
func TestPeakForgets(t *testing.T) {
	root := fixture(t, "v2")
	rewrite(t, root, leaf+"memory.peak", "9\n")
	p := New(Options{Root: root, Interval: -1})
	p.opts.NoReset = false // the fixture's file can be written, which looks like a reset
	want := func(how probe.How, method string) {
		t.Helper()
		if _, prov := one(t, watch(t, p).Close(), descGroupPeak); prov.How != how || prov.Method != method {
			t.Errorf("got %+v, want %v, %s", prov, how, method)
		}
	}
	want(probe.Exact, peakReset)
	if err := os.Remove(filepath.Join(root, leaf+"memory.peak")); err != nil {
		t.Fatal(err)
	}
	want(probe.Sampled, "sampled")
}

// TestMovedOut: a process that is moved to where nothing can be seen has no group
// any more, and not its old one's numbers.
func TestMovedOut(t *testing.T) {
	root := fixture(t, "v2")
	w := watch(t, fresh(Options{Root: root, Interval: time.Hour}))
	rewrite(t, root, "proc/self/cgroup", "0::/../sib\n")
	r := w.Close()
	for _, d := range slices.Concat(memoryDescs, cpuDescs, quotaDescs, ioDescs, taskDescs, pressureDescs) {
		for m := range r.Find(d.Name) {
			t.Errorf("got %s = %v", m.Name, m.Value)
		}
		if got := absent(r, d.Name); !strings.Contains(got, "another cgroup namespace") {
			t.Errorf("%s: got reason %q", d.Name, got)
		}
	}
}
