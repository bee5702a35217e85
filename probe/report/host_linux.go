package report

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"syscall"

	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

// read opens the file anew each time. Once a second that costs less than the
// descriptors would be worth.
func (h *hostProbe) read(name string) ([]byte, error) {
	return proc.ReadFile(filepath.Join(h.root, name))
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

// lookAtThrottling reads what the CPU quotas took: the process's own group's and
// those of the groups above it.
func (h *hostProbe) lookAtThrottling() {
	err := h.quotaErr
	var t proc.Taken
	if err == nil {
		t, err = h.quota.Read()
	}
	if err != nil {
		h.lack(err, descPeriods, descThrottled)
		return
	}
	h.set(descPeriods, int64(min(t.Throttled, math.MaxInt64)))
	h.set(descThrottled, int64(t.Time))
}

// set hands a total that the kernel keeps to its counter, which exists from
// the first total on: a counter nobody could read would say zero. What an
// earlier look did not find is no longer absent.
func (h *hostProbe) set(d *probe.Desc, total int64) {
	h.Counter(d).Set(total)
	h.Absent(d.Name, "")
}

// setLoad keeps the range of the load average beside its gauge: a window holds
// only a gauge's last value.
func (h *hostProbe) setLoad(v float64) {
	h.Gauge(descLoad).Set(v)
	h.Absent(descLoad.Name, "")
	if h.samples == 0 {
		h.load.Min, h.load.Max = v, v
	}
	h.load.Min, h.load.Max = min(h.load.Min, v), max(h.load.Max, v)
	h.load.Mean += v
	h.samples++
}
