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

	"github.com/tidestaff/tidestaff/internal/proc/proctest"
	"github.com/tidestaff/tidestaff/probe"
)

// fixture unpacks an archive of testdata and returns its root.
func fixture(t testing.TB, name string) string {
	t.Helper()
	archive, err := os.ReadFile(filepath.Join("testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	if err := proctest.Write(root, string(archive)); err != nil {
		t.Fatal(err)
	}
	return root
}

func rewrite(t testing.TB, root, name, data string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(root, name), []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
}

func watch(t testing.TB, p probe.Probe) *probe.Window {
	t.Helper()
	w, err := p.Watch()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// fresh makes a probe that looks at limits and at its place whenever it is read.
func fresh(o Options) *Probe {
	p := New(o)
	p.limitsEvery = 0
	return p
}

// lines puts the metrics of a reading whose names begin with prefix into lines
// of name, attribute values, value and provenance.
func lines(r *probe.Reading, prefix string) []string {
	var out []string
	for _, m := range r.Metrics {
		rest, ok := strings.CutPrefix(m.Name, prefix)
		if !ok {
			continue
		}
		for _, a := range m.Attrs {
			rest += " " + a.Value
		}
		rest += fmt.Sprintf(" = %v", m.Value)
		if m.Prov.Method != "" {
			rest += fmt.Sprintf(", %v, %s", m.Prov.How, m.Prov.Method)
		}
		out = append(out, rest)
	}
	slices.Sort(out)
	return out
}

// absent returns the reason for which a metric is absent, "" if it is not.
func absent(r *probe.Reading, name string) string {
	for _, a := range r.Absent {
		if a.Name == name {
			return a.Reason
		}
	}
	return ""
}

// one returns the value and provenance of the one series of a metric.
func one(t testing.TB, r *probe.Reading, d *probe.Desc) (float64, probe.Provenance) {
	t.Helper()
	for m := range r.Find(d.Name) {
		return m.Value, m.Prov
	}
	t.Fatalf("no %s in the reading; absent: %q", d.Name, absent(r, d.Name))
	return 0, probe.Provenance{}
}

func TestGroupMetrics(t *testing.T) {
	for _, tt := range []struct {
		name string
		want []string
	}{
		{"v2", []string{
			"cpu.limit = 1.5",
			"cpu.periods = 0",
			"cpu.throttled.time = 0",
			"cpu.throttled_periods = 0",
			"cpu.time system = 0",
			"cpu.time user = 0",
			"cpu.usage = 0",
			"disk.io read = 0",
			"disk.io write = 0",
			"disk.operations read = 0",
			"disk.operations write = 0",
			"memory.events high = 0",
			"memory.events max = 0",
			"memory.events oom = 0",
			"memory.events oom_kill = 0",
			"memory.growth = 0, sampled, sampled",
			"memory.high = 4.02653184e+08",
			"memory.inactive_file = 4.194304e+07",
			"memory.limit = 5.36870912e+08",
			"memory.peak = 2.097152e+08, sampled, sampled",
			"memory.stat anon = 9.216e+07",
			"memory.stat file = 1.03809024e+08",
			"memory.stat kernel = 4.194304e+06",
			"memory.stat shmem = 1.048576e+06",
			"memory.stat sock = 4096",
			"memory.swap = 512000",
			"memory.swap.peak = 512000, sampled, sampled",
			"memory.uncached = 1.05906176e+08",
			"memory.uncertainty = 1.048576e+06",
			"memory.usage = 2.097152e+08",
			"memory.working_set = 1.6777216e+08",
			"paging.faults major = 0",
			"paging.faults minor = 0",
			"pids.limit = 512",
			"pids.peak = 12, sampled, sampled",
			"pids.usage = 12",
			"pressure.stall.time cpu full = 0",
			"pressure.stall.time cpu some = 0",
			"pressure.stall.time io full = 0",
			"pressure.stall.time io some = 0",
			"pressure.stall.time memory full = 0",
			"pressure.stall.time memory some = 0",
		}},
		{"v1", []string{
			"cpu.time system = 0",
			"cpu.time user = 0",
			"cpu.usage = 0",
			"disk.io read = 0",
			"disk.io write = 0",
			"disk.operations read = 0",
			"disk.operations write = 0",
			"memory.events max = 0",
			"memory.events oom_kill = 0",
			"memory.growth = 0, sampled, sampled",
			"memory.inactive_file = 4.194304e+07",
			"memory.limit = 2.68435456e+08",
			"memory.peak = 2.097152e+08, sampled, sampled",
			"memory.stat anon = 9.216e+07",
			"memory.stat file = 1.03809024e+08",
			"memory.stat shmem = 1.048576e+06",
			"memory.swap = 512000",
			"memory.uncached = 1.05906176e+08",
			"memory.uncertainty = 1.048576e+06",
			"memory.usage = 2.097152e+08",
			"memory.working_set = 1.6777216e+08",
			"paging.faults major = 0",
			"paging.faults minor = 0",
			"pids.limit = 64",
			"pids.peak = 12, sampled, sampled",
			"pids.usage = 12",
		}},
		{"hybrid", []string{
			"cpu.time system = 0",
			"cpu.time user = 0",
			"cpu.usage = 0",
			"memory.growth = 0, sampled, sampled",
			"memory.peak = 2.097152e+08, sampled, sampled",
			"memory.stat anon = 9.216e+07",
			"memory.stat file = 1.03809024e+08",
			"memory.stat shmem = 1.048576e+06",
			"memory.uncached = 1.05906176e+08",
			"memory.uncertainty = 1.048576e+06",
			"memory.usage = 2.097152e+08",
		}},
		{"host_root", nil},
		{"bare", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := watch(t, New(Options{Root: fixture(t, tt.name)}))
			got := slices.DeleteFunc(lines(w.Close(), "tidestaff.cgroup."), func(s string) bool {
				return strings.Contains(s, "course ")
			})
			if diff := cmp.Diff(tt.want, slices.Clip(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestAbsent: every described metric is in the reading or listed with a reason,
// never both and never neither.
func TestAbsent(t *testing.T) {
	for _, tt := range []struct {
		fixture string
		reasons map[*probe.Desc]string
	}{
		{"v2", nil},
		{"v1", map[*probe.Desc]string{
			descGroupCPULimit: "no limit is set", descPeriods: "no CPU quota so far",
		}},
		{"hybrid", map[*probe.Desc]string{
			descGroupLimit: "no limit is set", descThrottled: "controller is not enabled",
		}},
		{"host_root", map[*probe.Desc]string{
			descGroupUsage: "whole machine", descGroupCPU: "whole machine", descGroupCPULimit: "whole machine",
		}},
		{"sandbox", map[*probe.Desc]string{
			descStat: "not provided", descSwap: "not provided", descProcessIO: "not provided", descPeak: "",
			descGroupUsage: "no mount shows", descPressure: "no cgroup", descTasks: "no cgroup",
		}},
		{"bare", map[*probe.Desc]string{
			descRSS: "not provided", descPeak: "status", descGroupPeak: "no cgroup", descThrottledTime: "no cgroup",
		}},
	} {
		t.Run(tt.fixture, func(t *testing.T) {
			r := watch(t, New(Options{Root: fixture(t, tt.fixture)})).Close()
			for d, want := range tt.reasons {
				if got := absent(r, d.Name); !strings.Contains(got, want) {
					t.Errorf("%s: got reason %q, want one with %q", d.Name, got, want)
				}
			}
			for _, d := range descs { // of a course, no look is no series
				series := len(slices.Collect(r.Find(d.Name)))
				missing := absent(r, d.Name) != ""
				if missing == (series > 0) {
					t.Errorf("%s: %d series and absent %t", d.Name, series, missing)
				}
			}
		})
	}
}

// TestCounters: a window holds what was added in it, in seconds, and not what
// the kernel had counted before.
func TestCounters(t *testing.T) {
	root := fixture(t, "v2")
	w := watch(t, New(Options{Root: root}))
	rewrite(t, root, "sys/fs/cgroup/pod/leaf/cpu.stat",
		"usage_usec 7500000\nuser_usec 6500000\nsystem_usec 1000000\nnr_periods 130\nnr_throttled 12\nthrottled_usec 750000\n")
	want := []string{
		"limit = 1.5", "periods = 30", "throttled.time = 0.5", "throttled_periods = 2",
		"time system = 0", "time user = 2.5", "usage = 2.5",
	}
	if diff := cmp.Diff(want, lines(w.Close(), "tidestaff.cgroup.cpu.")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestQuotaAppears: a limit that is set while a window is open.
func TestQuotaAppears(t *testing.T) {
	root := fixture(t, "v1")
	w := watch(t, fresh(Options{Root: root}))
	const dir = "sys/fs/cgroup/cpu,cpuacct/"
	rewrite(t, root, dir+"cpu.cfs_quota_us", "50000\n")
	rewrite(t, root, dir+"cpu.stat", "nr_periods 5\nnr_throttled 1\nthrottled_time 1000000\n")
	var r probe.Reading
	w.Read(&r)
	rewrite(t, root, dir+"cpu.stat", "nr_periods 7\nnr_throttled 2\nthrottled_time 501000000\n")
	w.Read(&r)
	want := []string{
		"limit = 0.5", "periods = 2", "throttled.time = 0.5", "throttled_periods = 1",
		"time system = 0", "time user = 0", "usage = 0",
	}
	if diff := cmp.Diff(want, lines(&r, "tidestaff.cgroup.cpu.")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := absent(&r, descGroupCPULimit.Name) + absent(&r, descPeriods.Name); got != "" {
		t.Errorf("got reason %q for a metric that is there", got)
	}
}

// TestNoModes: a CPU file without the two modes has no time of zero.
func TestNoModes(t *testing.T) {
	root := fixture(t, "v2")
	rewrite(t, root, "sys/fs/cgroup/pod/leaf/cpu.stat", "usage_usec 5000000\n")
	r := watch(t, New(Options{Root: root})).Close()
	if got := slices.Collect(r.Find(descGroupCPU.Name)); len(got) != 0 {
		t.Errorf("got %d series, want none", len(got))
	}
	for _, d := range []*probe.Desc{descGroupCPU, descPeriods} {
		if got := absent(r, d.Name); !strings.Contains(got, "cpu.stat") {
			t.Errorf("%s: got reason %q, want one with cpu.stat", d.Name, got)
		}
	}
}

// TestName: two probes in one set are told apart by their names.
func TestName(t *testing.T) {
	root := fixture(t, "v2")
	a, b := New(Options{Root: root, Name: "a"}), New(Options{Root: root, Name: "b"})
	r := watch(t, probe.NewSet(a, b)).Close()
	for _, name := range []string{"a", "b"} {
		got := slices.Collect(r.Find(descRSS.Name, probe.Attr{Key: probe.AttrProbeName, Value: name}))
		if len(got) != 1 || got[0].Value != 100000<<10 {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

// TestFixtureIsNotWritten: nothing behind a root of files can be reset.
func TestFixtureIsNotWritten(t *testing.T) {
	root := fixture(t, "v2")
	rewrite(t, root, "proc/self/clear_refs", "untouched")
	watch(t, New(Options{Root: root})).Close()
	for name, want := range map[string]string{
		"proc/self/clear_refs":               "untouched",
		"sys/fs/cgroup/pod/leaf/memory.peak": "314572800\n",
	} {
		if got, err := os.ReadFile(filepath.Join(root, name)); err != nil || string(got) != want {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, want)
		}
	}
}

// TestSampleAllocs: a sample runs beside the work that is measured, so it must
// not feed the garbage collector.
func TestSampleAllocs(t *testing.T) {
	for _, name := range []string{"v2", "v1", "hybrid", "other", "group", "no reset", ""} {
		var o Options
		switch name {
		case "":
		case "other":
			o = Options{Root: neighbour(t), PID: 77}
		case "group":
			o = Options{Root: neighbour(t), Path: "/pod/leaf"}
		case "no reset":
			o.NoReset = true
		default:
			o.Root = fixture(t, name)
		}
		o.Interval = time.Hour // the ticks are the test's
		p := fresh(o)          // limits and place at each reading
		w := watch(t, p)
		p.sample()
		if got := testing.AllocsPerRun(100, p.sample); got != 0 {
			t.Errorf("%q: got %v allocations a reading, want 0", name, got)
		}
		if got := testing.AllocsPerRun(100, p.tick); got != 0 {
			t.Errorf("%q: got %v allocations a sample, want 0", name, got)
		}
		w.Close()
	}
}
