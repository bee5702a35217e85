package kernel

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/cgroup"
	"github.com/tidestaff/tidestaff/probe"
)

// cpuChecks: what a quota took away, and the time of the group.
var cpuChecks = []check{
	{name: "throttling", leaf: "leaf", run: checkThrottling, files: map[string]string{"leaf/cpu.max": "20000 100000"}},
	{name: "cpu time", run: checkCPUTime},
	{name: "pressure", run: checkPressure},
	{name: "tasks", run: checkTasks, files: map[string]string{"pids.max": "50"}},
}

// A between holds a counter's window against a file of the kernel that is read
// outside and inside of it: what the window counted is at least the growth from
// the inner readings and at most that from the outer ones.
type between struct {
	file                           string
	outer, inner, innerEnd, outEnd map[string]float64
}

// holds wants got, in the unit that scale makes of the file's, in between. slack
// is what rounding may take away.
func (b between) holds(t *testing.T, what string, got, scale, slack float64, keys ...string) {
	t.Helper()
	var least, most float64
	for _, key := range keys {
		least += (b.innerEnd[key] - b.inner[key]) * scale
		most += (b.outEnd[key] - b.outer[key]) * scale
	}
	if !(got >= least-slack && got <= most+slack) {
		t.Errorf("%s: got %v, want %v to %v, as in %s", what, got, least, most, b.file)
	}
	if math.IsNaN(most) {
		t.Errorf("%s: %s has not %v", what, b.file, keys)
	}
}

// burnUntil keeps a processor busy until done, which looks at the kernel's files.
func burnUntil(t *testing.T, done func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !done(); {
		if time.Now().After(end) {
			t.Fatal("the kernel's file did not change in a minute")
		}
		for begin := time.Now(); time.Since(begin) < 5*time.Millisecond; {
		}
	}
}

// throttled takes a reading over four throttled periods, between the kernel's own
// numbers just before and after. Nothing else is in the group, so that the numbers
// grow only while the process runs and each reading of the kernel's file is of
// this moment.
func throttled(t *testing.T, dir string) (between, *probe.Reading) {
	t.Helper()
	b := between{file: filepath.Join(dir, "cpu.stat")}
	burnUntil(t, func() bool { return table(t, b.file)["nr_throttled"] >= 1 }) // a quota that is in use
	b.outer = table(t, b.file)
	w := watch(t, cgroup.Options{})
	b.inner = table(t, b.file)
	burnUntil(t, func() bool { return table(t, b.file)["nr_throttled"] >= b.inner["nr_throttled"]+4 })
	b.innerEnd = table(t, b.file)
	r := w.Close()
	b.outEnd = table(t, b.file)
	return b, r
}

// checkThrottling: a fifth of a processor, and a goroutine that wants a whole
// one.
func checkThrottling(t *testing.T) {
	b, r := throttled(t, ownDir(t))

	if got := one(t, r, cpuLimit).Value; got != 0.2 {
		t.Errorf("got a limit of %v CPUs, want 0.2", got)
	}
	b.holds(t, "periods", one(t, r, cpuPeriods).Value, 1, 0, "nr_periods")
	periods := one(t, r, cpuThrottled).Value
	b.holds(t, "throttled periods", periods, 1, 0, "nr_throttled")
	if periods < 4 {
		t.Errorf("got %v throttled periods, want at least 4", periods)
	}
	stopped := one(t, r, cpuStopped).Value
	b.holds(t, "throttled time", stopped, 1e-6, 1e-6, "throttled_usec")
	if stopped <= 0 {
		t.Errorf("got a throttled time of %v s", stopped)
	}
	user, system := one(t, r, groupCPU, "user").Value, one(t, r, groupCPU, "system").Value
	t.Logf("in %v: %v periods of which %v throttled, %.3f s stopped, %.3f s used",
		r.Duration(), one(t, r, cpuPeriods).Value, periods, stopped, user+system)
}

// checkCPUTime: the group's time has that of a child which has ended, and the
// process's has not.
func checkCPUTime(t *testing.T) {
	b := between{file: filepath.Join(ownDir(t), "cpu.stat")}
	b.outer = table(t, b.file)
	w := watch(t, cgroup.Options{})
	b.inner = table(t, b.file)
	child := startHog(t, 20<<20)
	if err := child.Wait(); err != nil {
		t.Fatal(err)
	}
	b.innerEnd = table(t, b.file)
	r := w.Close()
	b.outEnd = table(t, b.file)

	// The kernel splits the time into modes anew at each reading of the file.
	const slack = 0.01
	sum := one(t, r, groupCPU, "user").Value + one(t, r, groupCPU, "system").Value
	b.holds(t, "CPU time", sum, 1e-6, slack, "usage_usec")
	own := 0.0
	for m := range r.Find("tidestaff.process.cpu.time") {
		own += m.Value
	}
	ended := child.ProcessState.UserTime() + child.ProcessState.SystemTime()
	// Three clocks, each read at its own moment: a part of a sum that is missing
	// would be more than a fifth.
	if !(sum >= 0.8*(own+ended.Seconds())) {
		t.Errorf("got %v s for the group, want the process's %v and the child's %v", sum, own, ended.Seconds())
	}
}

// stalls reads a file of pressure: the total of each line, in microseconds.
func stalls(t *testing.T, name string) map[string]float64 {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]float64{}
	for line := range strings.Lines(string(b)) {
		kind, rest, _ := strings.Cut(line, " ")
		_, total, _ := strings.Cut(strings.TrimSpace(rest), "total=")
		if rows[kind], err = strconv.ParseFloat(total, 64); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return rows
}

// checkPressure: two threads that want the machine's one processor, so that one
// of them always waits. Nobody waits for the disk meanwhile, which is a zero
// that was measured.
func checkPressure(t *testing.T) {
	b := between{file: filepath.Join(ownDir(t), "cpu.pressure")}
	runtime.GOMAXPROCS(2)
	var stop atomic.Bool
	var other sync.WaitGroup
	other.Go(func() {
		for !stop.Load() {
		}
	})
	from := time.Now()
	b.outer = stalls(t, b.file)
	w := watch(t, cgroup.Options{})
	b.inner = stalls(t, b.file)
	burnUntil(t, func() bool { return stalls(t, b.file)["some"] >= b.inner["some"]+200e3 })
	b.innerEnd = stalls(t, b.file)
	r := w.Close()
	b.outEnd = stalls(t, b.file)
	took := time.Since(from)
	stop.Store(true)
	other.Wait()

	some := one(t, r, pressure, "cpu", "some").Value
	b.holds(t, "some tasks waited for the CPU", some, 1e-6, 1e-6, "some")
	// A window's counters are read one after the other, and on an emulated processor
	// that takes milliseconds: what is between both looks at this one may be longer
	// than the window, but not than all that was done.
	if !(some >= 0.2 && some <= took.Seconds()+0.01) {
		t.Errorf("got %v s of waiting in a window of %v, within %v", some, r.Duration(), took)
	}
	if got := one(t, r, pressure, "io", "full").Value; got != 0 {
		t.Errorf("got %v s of waiting for the disk, want none", got)
	}
	one(t, r, pressure, "memory", "some")
}

// checkTasks: the threads of the group and their limit.
func checkTasks(t *testing.T) {
	file := filepath.Join(ownDir(t), "pids.current")
	before := number(t, file)
	r := watch(t, cgroup.Options{}).Close()
	after := number(t, file)
	if got := one(t, r, tasks).Value; !(got >= before && got <= after) {
		t.Errorf("got %v tasks, want %v to %v", got, before, after)
	}
	if got := one(t, r, tasksLimit).Value; got != 50 {
		t.Errorf("got a limit of %v tasks, want 50", got)
	}
	m := one(t, r, tasksPeak)
	// The file is as new as the reset of memory.peak, or nearly.
	if _, err := os.Stat(filepath.Join(ownDir(t), "pids.peak")); err != nil && m.Prov.How != probe.Sampled {
		t.Errorf("got a peak with %+v, without a pids.peak, want it sampled", m.Prov)
	}
	t.Logf("%v tasks at most, %+v", m.Value, m.Prov)
	if !(m.Value >= before && m.Value <= 50) {
		t.Errorf("got a peak of %v tasks, want %v to 50", m.Value, before)
	}
}
