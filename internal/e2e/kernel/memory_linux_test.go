package kernel

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/tidestaff/tidestaff/cgroup"
	"github.com/tidestaff/tidestaff/probe"
)

// memoryChecks: what the group is charged for, and what happens at its limit.
var memoryChecks = []check{
	{name: "shared memory", run: checkSharedMemory},
	{name: "page cache", run: checkPageCache},
	{name: "out of memory", run: checkOutOfMemory, files: map[string]string{"memory.max": "96M"}},
}

// disk is the virtual machine's.
const disk = "/dev/nvme0n1"

// checkSharedMemory: a file in memory is charged as shared memory, which cannot
// be dropped, and not as page cache, which can.
func checkSharedMemory(t *testing.T) {
	w := watch(t, cgroup.Options{})
	var before, after probe.Reading
	w.Read(&before)
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, make([]byte, 24*mib), 0o600); err != nil {
		t.Fatal(err)
	}
	w.Read(&after)
	for kind, want := range map[string]float64{"shmem": 24 * mib, "file": 0} {
		near(t, kind, one(t, &after, groupStat, kind).Value-one(t, &before, groupStat, kind).Value, want, 1*mib)
	}
	near(t, "usage", one(t, &after, groupUsage).Value-one(t, &before, groupUsage).Value, 24*mib+heap(t, &before, &after), room)
}

// heap is by how much anonymous memory grew between two readings.
func heap(t *testing.T, before, after *probe.Reading) float64 {
	t.Helper()
	return one(t, after, groupStat, "anon").Value - one(t, before, groupStat, "anon").Value
}

// checkPageCache: what is read from a disk fills the group and not the process.
func checkPageCache(t *testing.T) {
	w := watch(t, cgroup.Options{})
	var before probe.Reading
	w.Read(&before)
	f, err := os.Open(disk)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for b, done := make([]byte, mib), 0; done < 24*mib; {
		n, err := f.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		done += n
	}
	after := w.Close()
	for kind, want := range map[string]float64{"shmem": 0, "file": 24 * mib} {
		near(t, kind, one(t, after, groupStat, kind).Value-one(t, &before, groupStat, kind).Value, want, 1*mib)
	}
	rose := one(t, after, groupPeak).Value - one(t, &before, groupUsage).Value
	if rose < 24*mib {
		t.Errorf("the group's peak rose by %.1f MiB, want at least 24", rose/mib)
	}
	rose = one(t, after, processPeak).Value - one(t, &before, processRSS).Value
	if !(rose < 10*mib) {
		t.Errorf("the process's peak rose by %.1f MiB for page cache", rose/mib)
	}
}

// checkOutOfMemory: a child wants more than the limit and is killed. The peak is
// the limit, to the page or nearly, and the file says that somebody was killed.
func checkOutOfMemory(t *testing.T) {
	events := filepath.Join(ownDir(t), "memory.events")
	before := table(t, events)
	spareMe(t)
	w := watch(t, cgroup.Options{})
	starve(t, newHog(t, 200*mib))
	r := w.Close()
	after := table(t, events)
	if got := one(t, r, groupLimit).Value; got != 96*mib {
		t.Errorf("got a limit of %v bytes, want %v", got, 96*mib)
	}
	// The kernel itself may go over the limit, by what it cannot do without.
	m := one(t, r, groupPeak)
	if math.Abs(m.Value-96*mib) > mib/4 || m.Prov.How != probe.Exact {
		t.Errorf("got a peak of %v bytes, %+v, want %v, exact", m.Value, m.Prov, 96*mib)
	}
	for _, key := range []string{"high", "max", "oom", "oom_kill"} {
		if got, want := one(t, r, groupEvents, key).Value, after[key]-before[key]; got != want {
			t.Errorf("%s: got %v events, the kernel counted %v", key, got, want)
		}
	}
	if got := after["oom_kill"] - before["oom_kill"]; got != 1 {
		t.Errorf("the kernel counted %v kills, want 1", got)
	}
	checkKillEvents(t, r, after["max"]-before["max"])
	t.Logf("a peak of %v bytes; memory.events: %v, was %v", m.Value, after, before)
}

// checkKillEvents: the kill is an event that says whose limit it was, all hits of
// the limit are in events, and the kernel has told of it before the child was dead.
func checkKillEvents(t *testing.T, r *probe.Reading, hits float64) {
	t.Helper()
	noticed := map[string]bool{}
	var kills []string
	for _, e := range r.Events {
		attrs := map[string]string{}
		for _, a := range e.Attrs {
			attrs[a.Key] = a.Value
		}
		noticed[attrs["tidestaff.cgroup.memory.noticed"]] = true
		switch count := attrs["tidestaff.cgroup.memory.event.count"]; e.Name {
		case "tidestaff.cgroup.memory.oom_kill":
			kills = append(kills, fmt.Sprint(count, " by ", e.Cause, " of ", attrs[groupLimit]))
		case "tidestaff.cgroup.memory.limit_hit":
			n, err := strconv.ParseFloat(count, 64)
			if err != nil {
				t.Error(err)
			}
			hits -= n
		}
		t.Logf("event %s: %s, noticed by %s", e.Name, e.Text, attrs["tidestaff.cgroup.memory.noticed"])
	}
	if want := "1 by the group's limit of 100663296"; len(kills) != 1 || kills[0] != want {
		t.Errorf("got kills %q, want %q", kills, want)
	}
	if hits != 0 {
		t.Errorf("got events of all but %v of the limit's hits: %+v", hits, r.Events)
	}
	if !noticed["inotify"] {
		t.Errorf("got events %+v, want one that inotify told of", r.Events)
	}
}
