package cgroup

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
)

const leaf = "sys/fs/cgroup/pod/leaf/"

// replace puts another file in a file's place: who has the old one open does
// not see it.
func replace(t *testing.T, root, name, data string) {
	t.Helper()
	rewrite(t, root, name+".new", data)
	if err := os.Rename(filepath.Join(root, name+".new"), filepath.Join(root, name)); err != nil {
		t.Skipf("needs to replace an open file: %v", err)
	}
}

// wantAbsent wants metrics to be listed with a reason, and every other one of
// the fixture v2, which has all, to be there.
func wantAbsent(t *testing.T, when string, r *probe.Reading, why string, ds ...*probe.Desc) {
	t.Helper()
	for _, d := range descs {
		got := absent(r, d.Name)
		switch {
		case !slices.Contains(ds, d):
			if got != "" {
				t.Errorf("%s: got %s absent, %q, want it there", when, d.Name, got)
			}
			if len(slices.Collect(r.Find(d.Name))) == 0 {
				t.Errorf("%s: got no series of %s", when, d.Name)
			}
		case !strings.Contains(got, why):
			t.Errorf("%s: got reason %q for %s, want one with %s", when, got, d.Name, why)
		case (len(slices.Collect(r.Find(d.Name))) == 0) == (why == ""):
			t.Errorf("%s: got %s both absent and there, or neither", when, d.Name)
		}
	}
}

// TestSourceComesBack: a file that ceases to make sense takes its own metrics
// away, and nothing else, until it makes sense again: the same file or, as
// after a controller was switched off and on, another one in its place.
func TestSourceComesBack(t *testing.T) {
	for _, tt := range []struct {
		file, data string
		metrics    []*probe.Desc
	}{
		{"memory.stat", "anon 1\nfile 2\nshmem 1\ninactive_file 1\npgfault 2\npgmajfault 1\n",
			[]*probe.Desc{descGroupStat, descInactive, descWorkingSet, descWorkingSetCourse, descUncached, descUncachedCourse, descGroupFaults}},
		{"memory.events", "high 1\nmax 0\noom 0\noom_kill 0\n", []*probe.Desc{descEvents}},
		{"io.stat", "8:0 rbytes=1 wbytes=1 rios=1 wios=1\n", []*probe.Desc{descGroupIO, descGroupIOOps}},
		{"cpu.pressure", "some avg10=0.00 total=1\n", []*probe.Desc{descPressure}},
		{"memory.max", "4096\n", []*probe.Desc{descGroupLimit}},
		{"cpu.max", "50000 100000\n", []*probe.Desc{descGroupCPULimit}},
		{"cpu.stat", "usage_usec 7500000\nuser_usec 6500000\nsystem_usec 1000000\nnr_periods 130\nnr_throttled 12\nthrottled_usec 750000\n",
			[]*probe.Desc{descGroupCPUUsage, descGroupCPU, descPeriods, descThrottled, descThrottledTime}},
	} {
		for how, back := range map[string]func(*testing.T, string, string, string){
			"rewritten": func(t *testing.T, root, name, data string) { rewrite(t, root, name, data) },
			"replaced":  replace,
		} {
			t.Run(tt.file+" "+how, func(t *testing.T) {
				root := fixture(t, "v2")
				w := watch(t, fresh(Options{Root: root, Interval: time.Hour}))
				var r probe.Reading
				w.Read(&r)
				wantAbsent(t, "at first", &r, "")
				rewrite(t, root, leaf+tt.file, "anon lots\nuser_usec lots\nnr_periods lots\nhigh lots\nsome lots\nx rbytes=lots\n")
				for range 2 {
					w.Read(&r)
					wantAbsent(t, "while it fails", &r, filepath.Join(root, leaf+tt.file), tt.metrics...)
					wantAbsent(t, "while it fails", &r, `lots`, tt.metrics...)
				}
				back(t, root, leaf+tt.file, tt.data)
				w.Read(&r)
				wantAbsent(t, "afterwards", &r, "")
			})
		}
	}
}

// TestCountersGoOn: what was counted while the file could not be read is
// counted as soon as it can.
func TestCountersGoOn(t *testing.T) {
	root := fixture(t, "v2")
	w := watch(t, New(Options{Root: root}))
	rewrite(t, root, leaf+"cpu.stat", "usage_usec 5500000\nuser_usec 4500000\nsystem_usec 1000000\nnr_periods 110\nnr_throttled 10\nthrottled_usec 250000\n")
	var r probe.Reading
	w.Read(&r)
	rewrite(t, root, leaf+"cpu.stat", "soon\n")
	w.Read(&r)
	rewrite(t, root, leaf+"cpu.stat", "usage_usec 7500000\nuser_usec 6500000\nsystem_usec 1000000\nnr_periods 130\nnr_throttled 12\nthrottled_usec 750000\n")
	w.Read(&r)
	want := []string{
		"limit = 1.5", "periods = 30", "throttled.time = 0.5", "throttled_periods = 2",
		"time system = 0", "time user = 2.5", "usage = 2.5",
	}
	if diff := cmp.Diff(want, lines(&r, "tidestaff.cgroup.cpu.")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestLimitGoesMeanwhile: the reason is the present one, not that of a failure
// that is over.
func TestLimitGoesMeanwhile(t *testing.T) {
	root := fixture(t, "v2")
	w := watch(t, fresh(Options{Root: root}))
	var r probe.Reading
	for _, tt := range []struct{ quota, reason string }{
		{"max 100000\n", "no limit is set"},
		{"some\n", `"some\n"`},
		{"max 100000\n", "no limit is set"},
		{"50000 100000\n", ""},
	} {
		rewrite(t, root, leaf+"cpu.max", tt.quota)
		w.Read(&r)
		wantAbsent(t, tt.quota, &r, tt.reason, descGroupCPULimit)
	}
}

// TestQuotaGoes: when the kernel's count begins anew, nothing is lost of it and
// nothing is counted twice.
func TestQuotaGoes(t *testing.T) {
	root := fixture(t, "v2")
	w := watch(t, New(Options{Root: root}))
	var r probe.Reading
	for _, tt := range []struct {
		stat, reason string
		periods      float64
	}{
		{"nr_periods 0\nnr_throttled 0\nthrottled_usec 0\n", "no CPU quota so far", -1},
		{"nr_periods 7\nnr_throttled 1\nthrottled_usec 5\n", "", 7},
	} {
		rewrite(t, root, leaf+"cpu.stat", "usage_usec 5000000\nuser_usec 4000000\nsystem_usec 1000000\n"+tt.stat)
		w.Read(&r)
		wantAbsent(t, tt.stat, &r, tt.reason, descPeriods, descThrottled, descThrottledTime)
		if tt.periods >= 0 {
			if v, _ := one(t, &r, descPeriods); v != tt.periods {
				t.Errorf("%q: got %v periods, want %v", tt.stat, v, tt.periods)
			}
		}
	}
}

// TestMarkFails: the levels of a file come back, but a mark that could not be
// read has a maximum of nobody knows which window. The next first window knows.
func TestMarkFails(t *testing.T) {
	root := fixture(t, "v2")
	const name = "proc/self/status"
	good, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	p := New(Options{Root: root})
	w := watch(t, p)
	var r probe.Reading
	rewrite(t, root, name, "VmRSS: much\n")
	w.Read(&r)
	wantAbsent(t, "while it fails", &r, "much", descRSS, descPeak, descGrowth, descCourse, descUncertainty, descStat, descSwap)
	rewrite(t, root, name, string(good))
	w.Read(&r)
	wantAbsent(t, "afterwards", &r, "much", descPeak, descGrowth)
	w.Close()
	wantAbsent(t, "next window", watch(t, p).Close(), "")
}

// TestTickFails: a sampled peak knows of the gap that a failure made.
func TestTickFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		root := fixture(t, "v2")
		if err := os.Remove(filepath.Join(root, leaf+"memory.peak")); err != nil {
			t.Fatal(err)
		}
		w := watch(t, New(Options{Root: root, Interval: 50 * time.Millisecond}))
		var r probe.Reading
		rewrite(t, root, leaf+"memory.current", "most\n")
		time.Sleep(60 * time.Millisecond) // a sample fails
		w.Read(&r)
		wantAbsent(t, "while it fails", &r, "most", descGroupUsage, descGroupPeak, descGroupGrowth, descGroupCourse, descGroupUncertainty,
			descWorkingSet, descWorkingSetCourse, descUncached, descUncachedCourse)
		time.Sleep(140 * time.Millisecond)
		rewrite(t, root, leaf+"memory.current", "300000000\n")
		w.Read(&r)
		wantAbsent(t, "afterwards", &r, "")
		v, prov := one(t, &r, descGroupPeak)
		if v != 300000000 || prov.How != probe.Sampled || prov.MaxGap != 200*time.Millisecond {
			t.Errorf("got %v, %+v, want 300000000 with a gap of 200ms", v, prov)
		}
	})
}

// TestUnseenLimits: that no limit is set where we can see is not that there is
// none, where a namespace or a mount hides the upper levels.
func TestUnseenLimits(t *testing.T) {
	const all, some = "no limit is set", "cannot be seen"
	for _, tt := range []struct {
		name    string
		fixture string
		files   map[string]string
		memory  string
		cpu     string
	}{
		{"host", "v2", nil, all, all},
		{"namespace", "v2", map[string]string{"sys/fs/cgroup/cgroup.events": "populated 1\n"}, some, some},
		// Version 1's memory.stat has the limit of all levels.
		{"version 1", "v1", nil, all, some},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := fixture(t, tt.fixture)
			for name, text := range map[string]string{
				"sys/fs/cgroup/pod/memory.max":               "max\n",
				leaf + "cpu.max":                             "max 100000\n",
				"sys/fs/cgroup/memory/memory.stat":           "total_rss 1\nhierarchical_memory_limit 9223372036854771712\n",
				"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "-1\n",
			} {
				if _, err := os.Stat(filepath.Join(root, filepath.Dir(name))); err == nil {
					rewrite(t, root, name, text)
				}
			}
			for name, text := range tt.files {
				rewrite(t, root, name, text)
			}
			r := watch(t, New(Options{Root: root})).Close()
			for d, want := range map[*probe.Desc]string{descGroupLimit: tt.memory, descGroupCPULimit: tt.cpu} {
				got := absent(r, d.Name)
				if !strings.Contains(got, want) || want == all && strings.Contains(got, some) {
					t.Errorf("%s: got reason %q, want one with %q", d.Name, got, want)
				}
			}
		})
	}
}
