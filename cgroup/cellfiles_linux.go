package cgroup

import (
	"errors"

	"github.com/tidestaff/tidestaff/internal/proc"
)

// The files of a cell by version. Those of version 1 are older than Go.
const (
	peakFile2  = "memory.peak" // Linux 5.19
	peakFile1  = "memory.max_usage_in_bytes"
	cpuFile2   = "cpu.stat"
	cpuFile1   = "cpuacct.usage"
	killsFile2 = "memory.events"
	killsFile1 = "memory.oom_control" // has the count since Linux 4.13
)

// readBytes reads a peak.
func readBytes(b []byte) (float64, error) {
	v, err := proc.ParseUint(b)
	return float64(v), err
}

// readNanoseconds reads version 1's CPU time, in seconds.
func readNanoseconds(b []byte) (float64, error) {
	v, err := proc.ParseUint(b)
	return float64(v) / 1e9, err
}

// readUsage reads version 2's CPU time, in seconds. Every group has it, with or
// without the cpu controller.
func readUsage(b []byte) (float64, error) {
	var v [1]proc.Value
	if err := proc.ParseFlat(b, []string{"usage_usec"}, v[:]); err != nil {
		return 0, err
	}
	if !v[0].OK {
		return 0, errors.New("no usage_usec")
	}
	return float64(v[0].V) / 1e6, nil
}

// readKills reads how many processes of a group were killed for want of memory.
func readKills(b []byte) (float64, error) {
	var v [1]proc.Value
	if err := proc.ParseFlat(b, []string{"oom_kill"}, v[:]); err != nil {
		return 0, err
	}
	if !v[0].OK {
		return 0, errors.New("no oom_kill")
	}
	return float64(v[0].V), nil
}
