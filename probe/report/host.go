package report

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

// Host is the noise of the machine during a window. A nil field was not
// measured; its reason is among the reading's absents.
type Host struct {
	// Load1 is the one-minute load average: tasks that run, are ready to or
	// wait for a disk. It has a memory of its own, so that a window of a few
	// seconds mostly sees what went before.
	Load1 *Range `json:"load1,omitempty"`
	// OthersCPU is the share (0 to 1) of the machine's CPU time that went to
	// other processes. The load generator is one of them, if it runs here.
	OthersCPU *float64 `json:"others_cpu_share,omitempty"`
	// Steal is the share that this virtual machine wanted and did not get.
	Steal *float64 `json:"steal_share,omitempty"`
	// Pressure is the share of the window in which at least one task of the
	// machine was ready and waited for a CPU (PSI, cpu some). The process's own
	// tasks count too.
	Pressure *float64 `json:"psi_cpu_some_share,omitempty"`
	// Throttled is how a CPU quota held the process's cgroup up: its own, or that of
	// a group above it that can be seen. It is nil in the root group, and while there
	// has been no quota.
	Throttled *Throttled `json:"throttled,omitempty"`
	// Samples is how often the load average was looked at.
	Samples int `json:"samples"`
}

// A Range is the lowest, mean and highest of some samples.
type Range struct {
	Min  float64 `json:"min"`
	Mean float64 `json:"mean"`
	Max  float64 `json:"max"`
}

// Throttled is from cpu.stat of the process's cgroup, or of one above it, which
// counts all groups below that one.
type Throttled struct {
	// Periods is nr_throttled: scheduler periods in which the quota ran out.
	Periods int64 `json:"periods"`
	// Time is throttled_usec, in nanoseconds: how long runnable tasks were held
	// back, summed over CPUs.
	Time time.Duration `json:"ns"`
}

// The host probe's metrics. They are in a report's metrics like any other, so
// that its curve shows when the machine was busy.
var (
	descLoad = &probe.Desc{Name: "tidestaff.host.load1", Unit: "1", Kind: probe.KindGauge,
		Help: "One-minute load average of the machine."}
	descBusy = &probe.Desc{Name: "tidestaff.host.cpu.busy", Unit: "s", Kind: probe.KindCounter,
		Help: "CPU time that the machine spent on work, all processes and CPUs together."}
	descCapacity = &probe.Desc{Name: "tidestaff.host.cpu.capacity", Unit: "s", Kind: probe.KindCounter,
		Help: "CPU time that the machine had: busy, idle, waiting for IO and stolen."}
	descSteal = &probe.Desc{Name: "tidestaff.host.cpu.steal", Unit: "s", Kind: probe.KindCounter,
		Help: "CPU time that the hypervisor gave to others while this machine had work."}
	descSelf = &probe.Desc{Name: "tidestaff.host.cpu.self", Unit: "s", Kind: probe.KindCounter,
		Help: "CPU time of this process, the part of the busy time that is its own."}
	descPressure = &probe.Desc{Name: "tidestaff.host.pressure.cpu", Unit: "s", Kind: probe.KindCounter,
		Help: "Time in which at least one task of the machine waited for a CPU."}
	descPeriods = &probe.Desc{Name: "tidestaff.host.throttled.periods", Unit: "{period}", Kind: probe.KindCounter,
		Help: "Scheduler periods in which the CPU quota of the process's cgroup, or of one above it, ran out."}
	descThrottled = &probe.Desc{Name: "tidestaff.host.throttled.time", Unit: "s", Kind: probe.KindCounter,
		Help: "Time for which the CPU quota of the process's cgroup, or of one above it, held back tasks, over all CPUs."}
)

var hostDescs = []*probe.Desc{
	descLoad, descBusy, descCapacity, descSteal, descSelf, descPressure, descPeriods, descThrottled,
}

// hostPrefix is common to the names above; tables leave them to the line about
// the host.
const hostPrefix = "tidestaff.host."

// hostProbe reads a handful of small files whenever its window is read: once
// an interval. It keeps open those of the CPU quotas alone, of which only the growth
// of each means anything.
type hostProbe struct {
	probe.Core
	root string

	mu       sync.Mutex // Sample may run concurrently with itself
	load     Range      // Mean is the sum until noise divides it
	samples  int
	quota    *proc.Throttlings // while a window is open
	quotaErr error             // why there is none
}

func newHostProbe(root string) *hostProbe {
	h := &hostProbe{root: rootOr(root)}
	h.Descs = hostDescs
	h.Start, h.Stop, h.Sample = h.start, h.stop, h.sample
	return h
}

// start finds the cgroup once: a process that is moved while it is measured is not
// followed.
func (h *hostProbe) start() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.quota, h.quotaErr = proc.OpenOwnThrottlings(h.root)
	return nil
}

// stop closes the files. A sample that still runs finds none.
func (h *hostProbe) stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.quota.Close()
	h.quota, h.quotaErr = nil, errClosed
}

var errClosed = errors.New("the window is closed")

// rootOr is the file system's own root where Options.Root is empty.
func rootOr(root string) string {
	if root == "" {
		return "/"
	}
	return root
}

// sample looks at everything once. It is the Core's hook, called before each
// reading of any of its windows: the totals' and the curve's.
func (h *hostProbe) sample() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lookAtLoad()
	h.lookAtCPU()
	h.lookAtPressure()
	h.lookAtThrottling()
}

// lack says why something was not measured.
func (h *hostProbe) lack(err error, ds ...*probe.Desc) {
	for _, d := range ds {
		h.Absent(d.Name, err.Error())
	}
}

// leastCapacity is the CPU time below which the kernel's steps of 10 ms, one
// on each CPU, would be a large part of the shares.
const leastCapacity = 0.5 // seconds

// noise sums the window up. The host's busy time comes in steps of 10 ms and
// the process's own is exact, so the difference is not let below zero.
func (h *hostProbe) noise(r *probe.Reading) Host {
	h.mu.Lock()
	defer h.mu.Unlock()
	host := Host{Samples: h.samples}
	if _, ok := total(r, descLoad); ok && h.samples > 0 {
		host.Load1 = &Range{h.load.Min, h.load.Mean / float64(h.samples), h.load.Max}
	}
	capacity, ok := total(r, descCapacity)
	if ok && capacity >= leastCapacity {
		host.Steal = share(r, descSteal, capacity)
		if self, ok := total(r, descSelf); ok {
			busy, _ := total(r, descBusy)
			others := max(0, busy-self) / capacity
			host.OthersCPU = &others
		}
	}
	if wall := r.End.Sub(r.Start).Seconds(); wall > 0 {
		host.Pressure = share(r, descPressure, wall)
	}
	if periods, ok := total(r, descPeriods); ok {
		held, _ := total(r, descThrottled)
		host.Throttled = &Throttled{Periods: int64(periods), Time: time.Duration(held * 1e9)}
	}
	return host
}

// total is what a counter gained in the window. ok is false if it is absent.
func total(r *probe.Reading, d *probe.Desc) (float64, bool) {
	for m := range r.Find(d.Name) {
		return m.Value, true
	}
	return 0, false
}

// share divides a counter by what it is a part of, which was read at about, not
// exactly, the same instant: hence the clamp.
func share(r *probe.Reading, d *probe.Desc, whole float64) *float64 {
	v, ok := total(r, d)
	if !ok {
		return nil
	}
	v = min(max(0, v/whole), 1)
	return &v
}

// loadText is the range of the load average, "load –" if there is none.
func (h *Host) loadText() string {
	if h.Load1 == nil {
		return "load " + dash
	}
	low, high := fmt.Sprintf("%.1f", h.Load1.Min), fmt.Sprintf("%.1f", h.Load1.Max)
	if low == high {
		return "load " + low
	}
	return "load " + low + "–" + high
}

// text is the host's noise in one line, "" if none was measured.
func (h *Host) text() string {
	var parts []string
	if h.Load1 != nil {
		parts = append(parts, h.loadText())
	}
	add := func(name string, v *float64) {
		if v != nil {
			parts = append(parts, name+" "+formatValue(*v, "1", "%"))
		}
	}
	add("others' CPU", h.OthersCPU)
	add("stolen", h.Steal)
	add("CPU pressure", h.Pressure)
	if h.Throttled != nil && h.Throttled.Periods > 0 {
		parts = append(parts, fmt.Sprintf("throttled in %s periods for %s",
			formatCount(float64(h.Throttled.Periods)), formatValue(h.Throttled.Time.Seconds(), "s", "")))
	}
	return strings.Join(parts, ", ")
}
