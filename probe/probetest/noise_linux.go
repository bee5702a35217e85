package probetest

import "github.com/tidestaff/tidestaff/internal/proc"

// lookAtHost reads the summary line of /proc/stat, and this process's CPU time right
// after it.
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
	return look{busy: c.Busy(), steal: c.Steal, capacity: c.Busy() + c.Idle + c.IOWait + c.Steal, own: own, err: err}
}
