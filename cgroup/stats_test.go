package cgroup

import (
	"fmt"
	"math"
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

// TestStatsOf: ten seconds in which everything moves, of a probe beside another.
func TestStatsOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		root := fixture(t, "v2")
		p := New(Options{Root: root, Name: "mine", Interval: time.Second})
		w := watch(t, probe.NewSet(p, New(Options{Root: fixture(t, "v1"), Name: "other", Interval: time.Second})))
		time.Sleep(5500 * time.Millisecond)
		rewrite(t, root, leaf+"memory.current", "262144000\n")
		rewrite(t, root, "proc/self/statm", "225000 30000 2500 300 0 22500 0\n")
		rewrite(t, root, "proc/self/status", "VmHWM:\t122880 kB\nVmRSS:\t122880 kB\n")
		rewrite(t, root, leaf+"cpu.stat", "usage_usec 10000000\nuser_usec 6500000\nsystem_usec 1000000\nnr_periods 180\nnr_throttled 30\nthrottled_usec 750000\n")
		rewrite(t, root, leaf+"io.stat", "259:0 rbytes=4204304 wbytes=1048576 rios=28 wios=2\n")
		rewrite(t, root, leaf+"cpu.pressure", "some avg10=0 total=3500000\nfull avg10=0 total=200000\n")
		rewrite(t, root, "proc/self/io", "read_bytes: 4096\nwrite_bytes: 28192\n")
		time.Sleep(4500 * time.Millisecond)
		synctest.Wait()
		s, ok := StatsOf(w.Close())
		if !ok || s.Duration != 10*time.Second {
			t.Fatalf("got %+v, %t, want a window of 10s", s, ok)
		}
		for _, tt := range []struct {
			what string
			got  Value
			want float64
		}{
			{"RSS", s.RSS.Usage, 120 * mib},
			{"RSS's peak", s.RSS.Peak, 120 * mib},
			{"RSS's growth", s.RSS.Growth, 122880<<10 - 100000<<10},
			{"RSS of the limit", s.RSS.OfLimit, 120.0 / 512},
			{"RSS's uncertainty", s.RSS.Uncertainty, processUncertainty(4)},
			{"charge", s.Charge.Usage, 250 * mib},
			{"charge's peak", s.Charge.Peak, 250 * mib},
			{"charge's growth", s.Charge.Growth, 50 * mib},
			{"charge of the limit", s.Charge.OfLimit, 250.0 / 512},
			{"uncached", s.Uncached.Usage, 250*mib - 103809024},
			{"working set", s.WorkingSet.Usage, 250*mib - 41943040},
			{"swap", s.Swap.Usage, 512000},
			{"swap's peak", s.Swap.Peak, 512000},
			{"tasks", s.Tasks.Usage, 12},
			{"tasks' second half", s.Tasks.Course.Second, 12},
			{"group's CPU time", s.GroupCPU.Time, 5},
			{"group's cores", s.GroupCPU.Cores, 0.5},
			{"group's share", s.GroupCPU.OfLimit, 0.5 / 1.5},
			{"throttled periods", s.GroupCPU.Throttled, 20.0 / 80},
			{"reading", s.GroupDisk.ReadBytes, 1000},
			{"writing", s.GroupDisk.WriteBytes, 0},
			{"reads", s.GroupDisk.ReadOperations, 2},
			{"process's writing", s.Disk.WriteBytes, 2000},
			{"waiting for a CPU", s.CPUPressure.Some, 0.25},
			{"all waiting for a CPU", s.CPUPressure.Full, 0},
			{"first half", s.RSS.Course.First, 100000 << 10},
		} {
			if !tt.got.OK || math.Abs(tt.got.V-tt.want) > 1e-9*tt.want {
				t.Errorf("%s: got %+v, want %v", tt.what, tt.got, tt.want)
			}
		}
		c := s.RSS.Course
		if c.N != 12 || c.Min != 100000<<10 || c.Max != 122880<<10 || c.Last != c.Max || c.Base != c.Min || c.Slope <= 0 || c.MaxGap != time.Second {
			t.Errorf("got a course of %+v", c)
		}
		if s.RSS.Peak.Prov.Method != markRose || s.Charge.Peak.Prov.How != probe.Sampled {
			t.Errorf("got peaks by %+v and %+v", s.RSS.Peak.Prov, s.Charge.Peak.Prov)
		}
	})
}

// TestStatsOfProcessor: the cores that a process used, and what share that is of
// its group's quota of one and a half.
func TestStatsOfProcessor(t *testing.T) {
	root := neighbour(t)
	synctest.Test(t, func(t *testing.T) {
		w := watch(t, New(Options{Root: root, PID: 77, Interval: -1}))
		time.Sleep(10 * time.Second)
		rewrite(t, root, "proc/77/stat", procStat("R", 4000, 100+600)) // six seconds
		s, ok := StatsOf(w.Close())
		if !ok {
			t.Fatal("got no stats")
		}
		for what, v := range map[string][2]float64{
			"time": {s.CPU.Time.V, 6}, "cores": {s.CPU.Cores.V, 0.6}, "share": {s.CPU.OfLimit.V, 0.6 / 1.5},
		} {
			if math.Abs(v[0]-v[1]) > 1e-9 {
				t.Errorf("%s: got %v, want %v", what, v[0], v[1])
			}
		}
	})
}

// TestStatsOfFile: a reading that was written and read back has descriptions of
// its own, with the same names.
func TestStatsOfFile(t *testing.T) {
	r := watch(t, New(Options{Root: fixture(t, "v2"), Interval: -1})).Close()
	want, ok := StatsOf(r)
	if !ok {
		t.Fatal("got no stats")
	}
	back := &probe.Reading{Start: r.Start, End: r.End, Absent: r.Absent}
	back.Metrics = append(back.Metrics, probe.Metric{}, // one that could not be read
		probe.Metric{Desc: &probe.Desc{Name: "other.usage", Unit: "By", Kind: probe.KindGauge}, Value: 1})
	for _, m := range r.Metrics {
		m.Desc = &probe.Desc{Name: m.Name, Unit: m.Unit, Kind: m.Kind}
		m.Attrs = slices.Clone(m.Attrs)
		back.Metrics = append(back.Metrics, m)
	}
	got, ok := StatsOf(back)
	if diff := cmp.Diff(want, got); !ok || diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestStatsAbsent: what is not there has its reason, through every quotient.
func TestStatsAbsent(t *testing.T) {
	if s, ok := StatsOf(new(probe.Reading)); ok {
		t.Errorf("got %+v of an empty reading", s)
	}
	s, ok := StatsOf(watch(t, New(Options{Root: fixture(t, "v1"), Interval: -1})).Close())
	if !ok {
		t.Fatal("got no stats of a reading")
	}
	for _, tt := range []struct {
		what   string
		got    Value
		reason string
	}{
		{"share of no quota", s.CPU.OfLimit, "no limit is set"},
		{"throttled without a quota", s.GroupCPU.Throttled, "no CPU quota"},
		{"pressure in version 1", s.IOPressure.Full, "no cgroup"},
		{"operations of a process", s.Disk.ReadOperations, "does not count them"},
	} {
		if tt.got.OK || !strings.Contains(tt.got.Reason, tt.reason) {
			t.Errorf("%s: got %+v, want %q", tt.what, tt.got, tt.reason)
		}
	}
}

// TestFlat: a level that rises is told from one that swings, and from page cache
// that fills.
func TestFlat(t *testing.T) {
	const cache = 103809024 // of the fixture
	for _, tt := range []struct {
		name       string
		rss, usage func(second int) int // MiB
		more       func(second int) int // MiB of page cache beside the fixture's; none if nil
		limit      float64
		err        string
		verdict    string
	}{
		{"flat", func(int) int { return 100 }, func(int) int { return 200 }, nil, 0.01, "",
			"RSS: mean 100.00 MiB of 297 looks in the first half, 100.00 MiB of 294 in the second, +0.0 %; cgroup without page cache: mean 101.00 MiB"},
		{"swings", func(s int) int { return 100 + 20*(s%2) }, func(s int) int { return 200 + 20*(s%2) }, nil, 0.01, "", "allowed +1.0 %"},
		{"the process leaks", func(s int) int { return 100 + s }, func(int) int { return 200 }, nil, 0.2, "memory grew: RSS: mean 114.26 MiB of 297 looks in the first half, 144.89 MiB", "+26.8 %"},
		{"within the limit", func(s int) int { return 100 + s }, func(int) int { return 200 }, nil, 0.3, "", "+26.8 %"},
		{"the group leaks", func(int) int { return 100 }, func(s int) int { return 200 + s }, nil, 0.2, "memory grew", "+27.4 %"},
		{"page cache fills", func(int) int { return 100 }, func(s int) int { return 200 + s }, func(s int) int { return s }, 0.01, "",
			"cgroup without page cache: mean 101.00 MiB of 30 looks in the first half, 101.00 MiB of 31 in the second, +0.0 %"},
		{"page cache makes room for a leak", func(int) int { return 100 }, func(int) int { return 200 }, func(s int) int { return -s }, 0.2, "memory grew", "+27.4 %"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				root := fixture(t, "v2")
				split, err := os.ReadFile(filepath.Join(root, leaf+"memory.stat"))
				if err != nil {
					t.Fatal(err)
				}
				at := func(s int) {
					if tt.more != nil {
						file := fmt.Sprintf("\nfile %d\n", 104857600+tt.more(s)<<20)
						rewrite(t, root, leaf+"memory.stat", strings.Replace(string(split), "\nfile 104857600\n", file, 1))
					}
					pages := tt.rss(s) << 20 / 4096
					rewrite(t, root, "proc/self/statm", fmt.Sprintf("225000 %d 2500 300 0 22500 0\n", pages))
					rewrite(t, root, "proc/self/status", fmt.Sprintf("VmHWM:\t%d kB\nVmRSS:\t%[1]d kB\n", tt.rss(s)<<10))
					rewrite(t, root, leaf+"memory.current", fmt.Sprintf("%d\n", tt.usage(s)<<20-cache%mib))
				}
				at(0)
				// The group's split is looked at in every tenth tick.
				w := watch(t, New(Options{Root: root, Interval: 100 * time.Millisecond}))
				time.Sleep(50 * time.Millisecond) // so that no tick meets half a file
				for s := range 60 {
					at(s)
					time.Sleep(time.Second)
				}
				verdict, err := Flat(w.Close(), tt.limit)
				if !strings.Contains(verdict, tt.verdict) {
					t.Errorf("got verdict %q, want one with %q", verdict, tt.verdict)
				}
				if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
					t.Errorf("got error %v, want one with %q", err, tt.err)
				}
			})
		})
	}
}

// TestFlatCannotTell: without a probe, without looks, or with too few of them
// there is no verdict, and what is not measured is named.
func TestFlatCannotTell(t *testing.T) {
	if _, err := Flat(new(probe.Reading), 1); err == nil || !strings.Contains(err.Error(), "no cgroup probe") {
		t.Errorf("got %v of an empty reading", err)
	}
	r := watch(t, New(Options{Root: fixture(t, "v2"), Interval: -1})).Close()
	if _, err := Flat(r, 1); err == nil || !strings.Contains(err.Error(), "a longer window or a shorter Options.Interval") {
		t.Errorf("got %v of two looks", err)
	}
	r = watch(t, New(Options{Root: fixture(t, "bare"), Interval: -1})).Close()
	if verdict, err := Flat(r, 1); err == nil || !strings.Contains(verdict, "RSS: not judged: not provided") {
		t.Errorf("got %q, %v where nothing is measured", verdict, err)
	}
	synctest.Test(t, func(t *testing.T) {
		w := watch(t, New(Options{Root: fixture(t, "host_root"), Interval: 100 * time.Millisecond}))
		time.Sleep(10 * time.Second)
		verdict, err := Flat(w.Close(), 0.01)
		if err != nil || !strings.Contains(verdict, "cgroup without page cache: not judged") || !strings.Contains(verdict, "whole machine") {
			t.Errorf("got %q, %v without a group", verdict, err)
		}
	})
}
