package probetest

import (
	"errors"

	"github.com/tidestaff/tidestaff/internal/proc"
)

// lookAtHost reads the summary line of /proc/stat, this process's CPU time right
// after it, and cpu.stat of the process's group.
func lookAtHost() look {
	b, err := proc.ReadFile("/proc/stat")
	if err != nil {
		return look{err: err}
	}
	c, err := proc.ParseHostCPU(b)
	if err != nil {
		return look{err: err}
	}
	own, err := proc.ReadCPUClock()
	l := look{busy: c.Busy(), steal: c.Steal, capacity: c.Busy() + c.Idle + c.IOWait + c.Steal, own: own, err: err}
	if l.err == nil {
		l.throttled, l.err = throttledPeriods()
	}
	return l
}

// throttledPeriods is how often the process's own group ran out of its quota; 0 in
// a group that has none, and where there are no groups. The quota of a group above
// it is not seen.
func throttledPeriods() (uint64, error) {
	groups, err := proc.Detect("/")
	if err != nil {
		return 0, nil // no control groups, no quota
	}
	g, err := groups.LookupOwn("cpu")
	if err != nil {
		return 0, nil // the root group, or a controller that is off
	}
	f, err := proc.OpenThrottling(g)
	if err != nil {
		return 0, nil // a kernel without quotas
	}
	defer f.Close()
	t, err := f.Read()
	if errors.Is(err, proc.ErrNoQuota) {
		return 0, nil
	}
	return t.Throttled, err
}
