package report

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"syscall"

	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

// read opens the file anew each time. Once a second that costs less than the
// descriptors would be worth.
func (h *hostProbe) read(name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(h.root, name))
}

// lookAtLoad reads the first number of /proc/loadavg, which the kernel brings
// up to date every five seconds.
func (h *hostProbe) lookAtLoad() {
	b, err := h.read("proc/loadavg")
	if err == nil {
		var l proc.LoadAvg
		if l, err = proc.ParseLoadAvg(b); err == nil {
			h.setLoad(l.One)
			return
		}
	}
	h.lack(err, descLoad)
}

// lookAtCPU reads the summary line of /proc/stat and this process's CPU time
// right after it, so that the two are of the same instant.
func (h *hostProbe) lookAtCPU() {
	b, err := h.read("proc/stat")
	var c proc.HostCPU
	if err == nil {
		c, err = proc.ParseHostCPU(b)
	}
	if err != nil {
		h.lack(err, descBusy, descCapacity, descSteal, descSelf)
		return
	}
	var ru syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &ru); err != nil {
		h.lack(fmt.Errorf("getrusage: %w", err), descSelf)
	} else {
		h.set(descSelf, ru.Utime.Nano()+ru.Stime.Nano())
	}
	h.set(descBusy, int64(c.Busy()))
	h.set(descSteal, int64(c.Steal))
	h.set(descCapacity, int64(c.Busy()+c.Idle+c.IOWait+c.Steal))
}

// lookAtPressure reads the total of /proc/pressure/cpu, which kernels without
// CONFIG_PSI do not have and those with psi=0 refuse to read.
func (h *hostProbe) lookAtPressure() {
	b, err := h.read("proc/pressure/cpu")
	if err != nil {
		h.lack(err, descPressure)
		return
	}
	p, err := proc.ParsePressure(b)
	if err == nil && !p.Some.Total.OK {
		err = errors.New("proc/pressure/cpu has no some line")
	}
	if err != nil {
		h.lack(err, descPressure)
		return
	}
	h.set(descPressure, micros(p.Some.Total.V))
}

// micros turns a total in microseconds into nanoseconds, and into the largest
// there is where it would overflow (after 292 years).
func micros(v uint64) int64 { return int64(min(v, math.MaxInt64/1000)) * 1000 }

// cpuGroup is the process's group for the cpu controller, whose cpu.stat tells
// of throttling. The error says why it cannot be seen.
func cpuGroup(root string) (proc.Group, error) {
	groups, err := proc.Detect(root)
	if err != nil {
		return proc.Group{}, err
	}
	return groups.Lookup("cpu")
}

// throttleKeys of cpu.stat: version 2 counts microseconds, version 1
// nanoseconds.
var throttleKeys = []string{"nr_throttled", "throttled_usec", "throttled_time"}

// lookAtThrottling reads cpu.stat of the process's own group. The quota of a
// group above it throttles too, and is not counted here.
func (h *hostProbe) lookAtThrottling() {
	err := h.groupErr
	if err == nil {
		err = h.readThrottling()
	}
	if err != nil {
		h.lack(err, descPeriods, descThrottled)
	}
}

// readThrottling refuses a file without the counters (the root group of
// version 2 has only the usage): no throttling seen is not no throttling.
func (h *hostProbe) readThrottling() error {
	name := filepath.Join(h.group.Dir, "cpu.stat")
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	var v [3]proc.Value
	if err := proc.ParseFlat(b, throttleKeys, v[:]); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	held := int64(min(v[2].V, math.MaxInt64))
	if v[1].OK {
		held = micros(v[1].V)
	}
	if !v[0].OK || !v[1].OK && !v[2].OK {
		return fmt.Errorf("%s has no throttling counters", name)
	}
	h.set(descPeriods, int64(min(v[0].V, math.MaxInt64)))
	h.set(descThrottled, held)
	return nil
}

// set hands a total that the kernel keeps to its counter, which exists from
// the first total on: a counter nobody could read would say zero. What an
// earlier look did not find is no longer absent.
func (h *hostProbe) set(d *probe.Desc, total int64) {
	c := h.counters[d]
	if c == nil {
		c = h.Counter(d)
		h.counters[d] = c
	}
	c.Set(total)
	h.Absent(d.Name, "")
}

// setLoad keeps the range of the load average beside its gauge: a window holds
// only a gauge's last value.
func (h *hostProbe) setLoad(v float64) {
	if h.gauge == nil {
		h.gauge = h.Gauge(descLoad)
		h.load.Min, h.load.Max = v, v
	}
	h.gauge.Set(v)
	h.Absent(descLoad.Name, "")
	h.load.Min, h.load.Max = min(h.load.Min, v), max(h.load.Max, v)
	h.load.Mean += v
	h.samples++
}
