package report

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/internal/proc/proctest"
	"github.com/tidestaff/tidestaff/probe"
)

// machineFiles is a machine with two CPUs and a limited version 2 cgroup. The
// verbs are: load, busy and steal ticks, pressure, throttled periods and
// microseconds.
const machineFiles = `
-- proc/loadavg --
%s 1.00 1.00 2/300 4711
-- proc/stat --
cpu %d 0 0 1000 0 0 0 %d 0 0
-- proc/pressure/cpu --
some avg10=0.00 avg60=0.00 avg300=0.00 total=%d
full avg10=0.00 avg60=0.00 avg300=0.00 total=0
-- proc/cpuinfo --
processor	: 0
model name	: Abacus 9000
-- proc/sys/kernel/osrelease --
6.12.9-test
-- proc/self/cgroup --
0::/app/web
-- proc/self/mountinfo --
30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup rw
-- sys/fs/cgroup/cgroup.procs --
-- sys/fs/cgroup/cgroup.controllers --
cpu memory
-- sys/fs/cgroup/cpu.stat --
usage_usec 1
nr_periods 0
nr_throttled 0
throttled_usec 0
-- sys/fs/cgroup/app/cgroup.procs --
-- sys/fs/cgroup/app/memory.max --
536870912
-- sys/fs/cgroup/app/cpu.max --
max 100000
-- sys/fs/cgroup/app/web/cgroup.procs --
-- sys/fs/cgroup/app/web/cgroup.controllers --
cpu memory
-- sys/fs/cgroup/app/web/memory.max --
max
-- sys/fs/cgroup/app/web/cpu.max --
150000 100000
-- sys/fs/cgroup/app/web/cpu.stat --
usage_usec 1
nr_periods 100
nr_throttled %d
throttled_usec %d
`

func writeMachine(t *testing.T, root, load string, busy, steal, pressure, periods, held int) {
	t.Helper()
	files := fmt.Sprintf(machineFiles, load, busy, steal, pressure, periods, held)
	if err := proctest.Write(root, files); err != nil {
		t.Fatal(err)
	}
}

func TestHostNoise(t *testing.T) {
	root := t.TempDir()
	writeMachine(t, root, "1.50", 100_000, 50, 1000, 5, 1000)
	run, err := Start(nil, Options{Interval: -1, Root: root})
	if err != nil {
		t.Fatal(err)
	}
	// 10,000 s of work, far more than this process can have done since.
	writeMachine(t, root, "4.50", 1_100_000, 250_050, 1000+1, 8, 251_000)
	r := run.Close()
	h := r.Host
	if diff := cmp.Diff(&Range{1.5, 3, 4.5}, h.Load1); diff != "" {
		t.Errorf("load (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(&Throttled{Periods: 3, Time: 250 * time.Millisecond}, h.Throttled); diff != "" {
		t.Errorf("throttled (-want +got):\n%s", diff)
	}
	if h.OthersCPU == nil || *h.OthersCPU < 0.79 || *h.OthersCPU > 0.8 {
		t.Errorf("got others' CPU %v, want 10,000 s of 12,500 less this test's own", h.OthersCPU)
	}
	if h.Steal == nil || *h.Steal != 0.2 {
		t.Errorf("got steal %v, want 0.2", h.Steal)
	}
	if h.Pressure == nil || *h.Pressure <= 0 || *h.Pressure > 1 {
		t.Errorf("got pressure %v, want 1 µs of the window", h.Pressure)
	}
	if len(r.Reading().Absent) != 0 {
		t.Errorf("got absent %v, want none", r.Reading().Absent)
	}
}

// What cannot be read says so and leaves the rest alone.
func TestHostPartlyAbsent(t *testing.T) {
	for _, tt := range []struct {
		file, data string // data "" removes the file
		names      string
		reason     string
	}{
		{"proc/pressure/cpu", "", descPressure.Name, "no such file"},
		{"proc/pressure/cpu", "full total=1\n", descPressure.Name, "no some line"},
		{"proc/stat", "intr 1\n", descBusy.Name, "no cpu line first"},
		{"proc/loadavg", "high\n", descLoad.Name, "loadavg"},
		{"sys/fs/cgroup/app/web/cpu.stat", "usage_usec 1\n", descThrottled.Name, "counts no periods"},
		{"sys/fs/cgroup/app/web/cpu.stat", "nr_periods 0\nnr_throttled 0\nthrottled_usec 0\n", descPeriods.Name, "no CPU quota"},
		{"proc/self/cgroup", "0::/\n", descThrottled.Name, "whole machine"},
		{"proc/self/cgroup", "", descPeriods.Name, "no cgroup"},
	} {
		t.Run(tt.file, func(t *testing.T) {
			root := t.TempDir()
			writeMachine(t, root, "1.00", 100, 0, 1000, 5, 1000)
			name := filepath.Join(root, tt.file)
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
			if tt.data != "" {
				if err := os.WriteFile(name, []byte(tt.data), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			run, err := Start(nil, Options{Interval: -1, Root: root})
			if err != nil {
				t.Fatal(err)
			}
			checkAbsent(t, run.Close().Reading(), tt.names, tt.reason)
		})
	}
}

// What one look does not find is absent until a later look finds it, and a
// counter goes on from where it was.
func TestHostComesBack(t *testing.T) {
	for _, tt := range []struct {
		file    string
		metrics []*probe.Desc
	}{
		{"proc/loadavg", []*probe.Desc{descLoad}},
		{"proc/stat", []*probe.Desc{descBusy, descCapacity, descSteal, descSelf}},
		{"proc/pressure/cpu", []*probe.Desc{descPressure}},
	} {
		t.Run(tt.file, func(t *testing.T) {
			root := t.TempDir()
			writeMachine(t, root, "1.50", 1000, 100, 1000, 5, 1000)
			h := newHostProbe(root)
			w, err := h.Watch()
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			name := filepath.Join(root, tt.file)
			if err := os.Rename(name, name+".away"); err != nil {
				t.Fatal(err)
			}
			var r probe.Reading
			w.Read(&r)
			for _, d := range tt.metrics {
				checkAbsent(t, &r, d.Name, "no such file")
			}
			if err := os.Rename(name+".away", name); err != nil {
				t.Fatal(err)
			}
			writeMachine(t, root, "4.50", 2000, 200, 2000, 6, 2000)
			w.Read(&r)
			if len(r.Absent) != 0 {
				t.Errorf("got absent %v, want none", r.Absent)
			}
			for _, d := range tt.metrics {
				if v, ok := total(&r, d); !ok || v <= 0 {
					t.Errorf("got %v, %t for %s, want what came since the window opened", v, ok, d.Name)
				}
			}
		})
	}
}

func checkAbsent(t *testing.T, r *probe.Reading, name, reason string) {
	t.Helper()
	got := ""
	for _, a := range r.Absent {
		if a.Name == name {
			got = a.Reason
		}
	}
	if !strings.Contains(got, reason) {
		t.Errorf("got reason %q for %s, want %q", got, name, reason)
	}
	for range r.Find(name) {
		t.Errorf("%s is absent and there", name)
	}
	if len(r.Metrics) < 4 {
		t.Errorf("got %d metrics, want the others", len(r.Metrics))
	}
}

// TestHostQuotas: the quota of a group above the process's counts too, and also where
// the process's own group does not have the controller; a reading that fails is
// absent, and what is kept open is closed.
func TestHostQuotas(t *testing.T) {
	root := t.TempDir()
	writeMachine(t, root, "1.50", 1000, 100, 1000, 5, 1000)
	write := func(name, data string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(root, "sys/fs/cgroup", name), []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	above := func(periods int) {
		write("app/cpu.stat", fmt.Sprintf("nr_periods 90\nnr_throttled %d\nthrottled_usec %d000\n", periods, periods))
	}
	write("app/cpu.max", "50000 100000\n")
	above(70)
	write("app/web/cgroup.controllers", "memory\n")
	write("app/web/cpu.stat", "usage_usec 1\n")
	before := openFiles(t)
	h := newHostProbe(root)
	w, err := h.Watch()
	if err != nil {
		t.Fatal(err)
	}
	above(73)
	var r probe.Reading
	w.Read(&r)
	if got := h.noise(&r).Throttled; got == nil || *got != (Throttled{Periods: 3, Time: 3 * time.Millisecond}) {
		t.Errorf("got %+v, want what the group above lost", got)
	}
	write("app/cpu.stat", "nr_periods many\n")
	w.Read(&r)
	checkAbsent(t, &r, descThrottled.Name, "counts no periods")
	above(74)
	w.Read(&r)
	if v, ok := total(&r, descPeriods); !ok || v < 3 || len(r.Absent) != 0 {
		t.Errorf("got %v, %v, absent %v, want it back", v, ok, r.Absent)
	}
	w.Close()
	if got := openFiles(t); got > before {
		t.Errorf("got %d open files, had %d", got, before)
	}
}

// openFiles counts this process's descriptors.
func openFiles(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// A share of less than half a second of CPU time would be noise of the clock.
func TestHostShortWindow(t *testing.T) {
	root := t.TempDir()
	writeMachine(t, root, "1.00", 100, 10, 1000, 5, 1000)
	run, err := Start(nil, Options{Interval: -1, Root: root})
	if err != nil {
		t.Fatal(err)
	}
	writeMachine(t, root, "1.00", 120, 12, 1000, 5, 1000)
	if h := run.Close().Host; h.OthersCPU != nil || h.Steal != nil {
		t.Errorf("got shares %v and %v of 220 ms, want none", h.OthersCPU, h.Steal)
	}
}

func TestMachine(t *testing.T) {
	root := t.TempDir()
	writeMachine(t, root, "1.00", 100, 10, 1000, 5, 1000)
	p := readProvenance(root)
	if p.CPUModel != "Abacus 9000" || p.Kernel != "6.12.9-test" {
		t.Errorf("got %q and %q", p.CPUModel, p.Kernel)
	}
	// The CPU quota is the group's, the memory limit its parent's.
	if diff := cmp.Diff(&Cgroup{Version: 2, CPUs: 1.5, Memory: 512 << 20}, p.Cgroup); diff != "" {
		t.Errorf("cgroup (-want +got):\n%s", diff)
	}
}

func TestMachineVersion1(t *testing.T) {
	root := t.TempDir()
	if err := proctest.Write(root, `
-- proc/self/cgroup --
3:memory:/app
2:cpu,cpuacct:/app
-- proc/self/mountinfo --
30 20 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
31 20 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct
-- sys/fs/cgroup/memory/app/cgroup.procs --
-- sys/fs/cgroup/memory/app/memory.stat --
hierarchical_memory_limit 268435456
-- sys/fs/cgroup/cpu/app/cgroup.procs --
-- sys/fs/cgroup/cpu/app/cpu.cfs_quota_us --
50000
-- sys/fs/cgroup/cpu/app/cpu.cfs_period_us --
100000
-- sys/fs/cgroup/cpu/cpu.cfs_quota_us --
-1
-- sys/fs/cgroup/cpu/cpu.cfs_period_us --
100000
`); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&Cgroup{Version: 1, CPUs: 0.5, Memory: 256 << 20}, readProvenance(root).Cgroup); diff != "" {
		t.Errorf("cgroup (-want +got):\n%s", diff)
	}
}

func TestFileSystem(t *testing.T) {
	var c Conditions
	if err := c.FileSystem("/proc/no/such"); err == nil || !strings.Contains(err.Error(), "/proc/no/such") {
		t.Errorf("got %v, want an error that names the path", err)
	}
	if err := c.FileSystem(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if v := c[0].Value.(string); v == "" {
		t.Error("got no name for the temporary folder's file system")
	}
}
