package proc

import (
	"bytes"
	"fmt"
	"time"
)

// CPUMax is a CPU quota: the group may use Quota of CPU time, summed over
// CPUs, in each Period. Limited is false, and Quota 0, when there is none.
type CPUMax struct {
	Quota   time.Duration
	Period  time.Duration
	Limited bool
}

// CPUs returns the quota in CPUs, 0 if there is none.
func (m CPUMax) CPUs() float64 {
	if !m.Limited || m.Period <= 0 {
		return 0
	}
	return float64(m.Quota) / float64(m.Period)
}

// ParseCPUMax parses the version 2 file cpu.max, "max 100000" or
// "50000 100000" in microseconds. Version 1 has the two numbers in
// cpu.cfs_quota_us (-1 for none) and cpu.cfs_period_us; see [ParseInt].
func ParseCPUMax(b []byte) (CPUMax, error) {
	quota, rest := nextField(b)
	period, rest := nextField(rest)
	extra, _ := nextField(rest)
	var m CPUMax
	n, ok := digits(period)
	if ok {
		m.Period, ok = duration(n, time.Microsecond)
	}
	if ok && string(quota) != "max" {
		if n, ok = digits(quota); ok {
			m.Limited = true
			m.Quota, ok = duration(n, time.Microsecond)
		}
	}
	if !ok || len(extra) > 0 {
		return CPUMax{}, fmt.Errorf("cpu.max: not a quota and a period: %q", clip(b))
	}
	return m, nil
}

// Stall is one line of a pressure file: how long tasks have waited for the
// resource since boot or since the group was made, in microseconds as the
// kernel counts it. The ready-made averages are not kept: a difference of
// totals is exact for any window.
type Stall struct {
	Total Value
}

// Pressure is a pressure stall information file. Some is the time in which at
// least one task waited, Full that in which all non-idle ones did. Kernels
// before 5.13 print no full line for the machine's CPU pressure.
type Pressure struct {
	Some, Full Stall
}

// ParsePressure parses /proc/pressure/* and a cgroup's *.pressure files.
func ParsePressure(b []byte) (Pressure, error) {
	var p Pressure
	for len(b) > 0 {
		var line []byte
		line, b = nextLine(b)
		kind, rest := nextField(line)
		var dst *Stall
		switch string(kind) {
		case "some":
			dst = &p.Some
		case "full":
			dst = &p.Full
		default:
			continue
		}
		v, ok := stallTotal(rest)
		if !ok {
			return Pressure{}, fmt.Errorf("pressure: no total in %q", clip(line))
		}
		dst.Total = Value{V: v, OK: true}
	}
	return p, nil
}

func stallTotal(b []byte) (uint64, bool) {
	for {
		f, rest := nextField(b)
		if len(f) == 0 {
			return 0, false
		}
		if v, ok := bytes.CutPrefix(f, totalKey); ok {
			return digits(v)
		}
		b = rest
	}
}

var totalKey = []byte("total=")

// HostCPU is what all CPUs of the machine have done since boot, from the first
// line of /proc/stat, in steps of 10 ms. User contains the time of guests.
type HostCPU struct {
	User, Nice, System, Idle, IOWait, IRQ, SoftIRQ time.Duration

	// Steal is the time in which this virtual machine wanted a CPU and the
	// host ran something else.
	Steal time.Duration
}

// Busy returns the time spent on work of this machine, which excludes idle
// time, waiting for IO and stolen time.
func (c HostCPU) Busy() time.Duration {
	return c.User + c.Nice + c.System + c.IRQ + c.SoftIRQ
}

// ParseHostCPU parses the summary line of /proc/stat.
func ParseHostCPU(b []byte) (HostCPU, error) {
	line, _ := nextLine(b)
	name, rest := nextField(line)
	if string(name) != "cpu" {
		return HostCPU{}, fmt.Errorf("stat: no cpu line first: %q", clip(line))
	}
	var c HostCPU
	for _, dst := range [...]*time.Duration{
		&c.User, &c.Nice, &c.System, &c.Idle, &c.IOWait, &c.IRQ, &c.SoftIRQ, &c.Steal,
	} {
		var f []byte
		f, rest = nextField(rest)
		n, ok := digits(f)
		if ok {
			// A hundred-year-old machine with a thousand CPUs still fits.
			*dst, ok = duration(n, tick)
		}
		if !ok {
			return HostCPU{}, fmt.Errorf("stat: not eight times: %q", clip(line))
		}
	}
	return c, nil
}
