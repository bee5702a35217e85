package container

import (
	"math"
	"net"
	"net/rpc"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/internal/proc"
)

const mib = 1 << 20

// What each container is given, as `docker run -m 64m --cpus 0.5` does.
const (
	memoryLimit = 64 * mib
	cpuLimit    = 0.5
)

// image is the name of the image that the daemon is given.
const image = "tidestaff-e2e"

// TestContainer: what a process sees of its container is what the daemon and the
// machine see of it, in the machine's cgroup namespace and in one of its own.
func TestContainer(t *testing.T) {
	if _, err := os.Stat("/sys/fs/cgroup/memory/cgroup.procs"); err != nil {
		t.Skip("needs a machine with cgroup version 1; package kernel has version 2")
	}
	d := startDaemon(t)
	d.importImage(t, image, buildImage(t))
	for _, namespace := range []string{"host", "private"} {
		t.Run(namespace, func(t *testing.T) {
			r := run(t, d, namespace)
			t.Run("group", r.group)
			t.Run("limits", r.limits)
			t.Run("tasks", r.tasks)
			t.Run("memory", r.memory)
			t.Run("throttling", r.throttling)
			t.Run("out of memory", r.outOfMemory)
		})
	}
}

// A resident is a process in a container, and the other places where its numbers
// are.
type resident struct {
	*instance
	namespace string
	host      hostFiles
	client    *rpc.Client
}

// run starts a container and waits until the process in it calls.
func run(t *testing.T, d *daemon, namespace string) *resident {
	t.Helper()
	share, err := os.MkdirTemp(d.dir, "share-")
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(share, "socket")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c := d.start(t, image, settings{
		memory: memoryLimit, cpus: cpuLimit, namespace: namespace, share: share, env: []string{envInside + "=" + socket},
	})
	if err := l.(*net.UnixListener).SetDeadline(time.Now().Add(3 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	r := &resident{instance: c, namespace: namespace, client: rpc.NewClient(conn)}
	t.Cleanup(func() { r.client.Close() })
	r.host.pid = c.pid(t)
	r.call(t, "Watch", None{}, nil)
	return r
}

// call calls a method of Inside in the container.
func (r *resident) call(t *testing.T, method string, arg, answer any) {
	t.Helper()
	if answer == nil {
		answer = new(None)
	}
	if err := r.client.Call("Inside."+method, arg, answer); err != nil {
		t.Fatalf("%s in the container: %v", method, err)
	}
}

// reading reads the window that was opened when the container started.
func (r *resident) reading(t *testing.T) Reading {
	t.Helper()
	var reading Reading
	r.call(t, "Read", None{}, &reading)
	return reading
}

// number is one of a reading's.
func (r Reading) number(t *testing.T, name string) float64 {
	t.Helper()
	n, ok := r.Numbers[name]
	if !ok {
		t.Errorf("no %s in the reading; it is absent because %q", name, r.Absent[name])
		return math.NaN()
	}
	return n.Value
}

// same wants two views of one thing to differ by no more than room.
func same(t *testing.T, what string, inside, outside, room float64) {
	t.Helper()
	if !(math.Abs(inside-outside) <= room) {
		t.Errorf("%s: got %v inside, want %v as outside", what, inside, outside)
	}
}

// group: in the machine's namespace the path is that of the machine, of which
// only the container's part is mounted; in one of its own it is "/".
func (r *resident) group(t *testing.T) {
	for _, controller := range []string{"memory", "cpu", "cpuacct", "pids"} {
		var got proc.Group
		r.call(t, "Group", controller, &got)
		want := proc.Group{
			Controller: controller, Version: 1, Path: r.daemon.parent + "/" + r.id, Scope: proc.ScopeLeaf,
			Dir: "/sys/fs/cgroup/" + controller, Mount: "/sys/fs/cgroup/" + controller,
		}
		if r.namespace == "private" {
			want.Path, want.Scope = "/", proc.ScopeNamespaceRoot
		}
		if got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

// limits are numbers that somebody wrote: there is nothing to round.
func (r *resident) limits(t *testing.T) {
	in, daemon := r.reading(t), r.stats(t)
	memory := in.number(t, "tidestaff.cgroup.memory.limit")
	same(t, "memory limit, as set", memory, memoryLimit, 0)
	same(t, "memory limit, daemon's", memory, daemon.Memory.Limit, 0)
	same(t, "memory limit, machine's", memory, r.host.number(t, "memory", "memory.limit_in_bytes"), 0)
	cpus := in.number(t, "tidestaff.cgroup.cpu.limit")
	same(t, "CPU limit, as set", cpus, cpuLimit, 0)
	same(t, "CPU limit, machine's", cpus,
		r.host.number(t, "cpu", "cpu.cfs_quota_us")/r.host.number(t, "cpu", "cpu.cfs_period_us"), 0)
}

// tasks are threads, which Go's runtime starts now and then and keeps.
func (r *resident) tasks(t *testing.T) {
	before := r.host.number(t, "pids", "pids.current")
	in, daemon := r.reading(t).number(t, "tidestaff.cgroup.pids.usage"), r.stats(t).Pids.Current
	after := r.host.number(t, "pids", "pids.current")
	if !(before <= in && in <= daemon && daemon <= after) {
		t.Errorf("got %v tasks inside, %v from the daemon, want %v to %v as on the machine", in, daemon, before, after)
	}
}

// memory: the usage is read at three instants, between which the process
// answers calls, so that it may differ by what that allocates and by the
// kernel's batches. The peak is a moment in the past, the same for all.
func (r *resident) memory(t *testing.T) {
	const room = 2 * mib
	for _, held := range []int{32 * mib, 0} {
		if held > 0 {
			r.call(t, "Hold", held, nil)
		} else {
			r.call(t, "Release", None{}, nil)
		}
		in, daemon := r.reading(t), r.stats(t)
		usage := in.number(t, "tidestaff.cgroup.memory.usage")
		same(t, "usage, daemon's", usage, daemon.Memory.Usage, room)
		same(t, "usage, machine's", usage, r.host.number(t, "memory", "memory.usage_in_bytes"), room)
		stat := r.host.table(t, "memory", "memory.stat")
		anon := in.number(t, "tidestaff.cgroup.memory.stat/anon")
		same(t, "anonymous memory, machine's", anon, stat["total_rss"], room)
		// What `docker stats` shows as the usage.
		same(t, "working set, daemon's", in.number(t, "tidestaff.cgroup.memory.working_set"),
			daemon.Memory.Usage-stat["total_inactive_file"], room)
		if usage < float64(held) {
			t.Errorf("got a usage of %v with %v held", usage, held)
		}
	}
	in, daemon := r.reading(t), r.stats(t)
	const name = "tidestaff.cgroup.memory.peak"
	peak := in.number(t, name)
	same(t, "peak, daemon's", peak, daemon.Memory.MaxUsage, 0)
	same(t, "peak, machine's", peak, r.host.number(t, "memory", "memory.max_usage_in_bytes"), 0)
	want := Number{Value: peak, How: "exact", Method: "memory.max_usage_in_bytes rose"}
	if got := in.Numbers[name]; got != want {
		t.Errorf("got a peak of %+v, want %+v", got, want)
	}
}

// throttling: two processors are wanted and a half is had. Before and after, the
// process rests, so that the kernel's counts stand still but for the calls.
func (r *resident) throttling(t *testing.T) {
	names := map[string]string{
		"nr_periods":     "tidestaff.cgroup.cpu.periods",
		"nr_throttled":   "tidestaff.cgroup.cpu.throttled_periods",
		"throttled_time": "tidestaff.cgroup.cpu.throttled.time",
	}
	r.host.prefer(t)
	outer, before := r.host.table(t, "cpu", "cpu.stat"), r.reading(t)
	inner := r.host.table(t, "cpu", "cpu.stat")
	r.call(t, "Burn", 4, nil)
	innerEnd, after := r.host.table(t, "cpu", "cpu.stat"), r.reading(t)
	outerEnd, daemon := r.host.table(t, "cpu", "cpu.stat"), r.stats(t)
	for key, name := range names {
		scale := 1.0
		if key == "throttled_time" {
			scale = 1e-9
		}
		got := after.number(t, name) - before.number(t, name)
		least, most := (innerEnd[key]-inner[key])*scale, (outerEnd[key]-outer[key])*scale
		const slack = 1e-9 // of the sums in floating point
		if !(got >= least-slack && got <= most+slack) || least <= 0 {
			t.Errorf("%s: got %v inside, want %v to %v as outside", name, got, least, most)
		}
	}
	// CPU time, from the same readings; the daemon's and the file's are in
	// nanoseconds from the container's start.
	const used = "tidestaff.cgroup.cpu.usage"
	if got := after.number(t, used) - before.number(t, used); !(got > 0.1 && got*1e9 <= daemon.CPU.Usage.Total) {
		t.Errorf("got %v s used inside, want at least 0.1 and at most the daemon's %v ns", got, daemon.CPU.Usage.Total)
	}
	// The daemon counts from the container's start, as the file does, and was
	// asked between two readings of that: the probe's own samples go on meanwhile.
	end := r.host.table(t, "cpu", "cpu.stat")
	for key, got := range map[string]float64{
		"nr_periods": daemon.CPU.Throttling.Periods, "nr_throttled": daemon.CPU.Throttling.Throttled,
		"throttled_time": daemon.CPU.Throttling.Time,
	} {
		if got < outerEnd[key] || got > end[key] {
			t.Errorf("%s: the daemon has %v, want %v to %v", key, got, outerEnd[key], end[key])
		}
	}
}

// outOfMemory: a child in the container wants more than the limit.
func (r *resident) outOfMemory(t *testing.T) {
	var killed bool
	r.call(t, "Starve", 2*memoryLimit, &killed)
	if !killed {
		t.Fatal("the child was not killed")
	}
	in, daemon := r.reading(t), r.stats(t)
	peak := in.number(t, "tidestaff.cgroup.memory.peak")
	// The kernel may go over the limit by what it cannot do without.
	same(t, "peak, the limit", peak, memoryLimit, 64<<10)
	same(t, "peak, daemon's", peak, daemon.Memory.MaxUsage, 0)
	same(t, "kills, machine's", r.host.table(t, "memory", "memory.oom_control")["oom_kill"], 1, 0)
	r.awaitOutOfMemory(t)
	// Memory and swap have one limit here, so that the kernel's count of charges
	// that met memory's stays at zero. An honest reader has no number.
	const events = "tidestaff.cgroup.memory.events/"
	same(t, "charges that met the limit, daemon's and machine's",
		daemon.Memory.Failcnt, r.host.number(t, "memory", "memory.failcnt"), 0)
	if n, ok := in.Numbers[events+"max"]; ok {
		t.Errorf("got %v charges that met the limit", n.Value)
	}
	same(t, "kills, inside and machine's", in.number(t, events+"oom_kill"), r.host.table(t, "memory", "memory.oom_control")["oom_kill"], 0)
}
