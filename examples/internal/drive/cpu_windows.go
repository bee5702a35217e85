package drive

import (
	"syscall"
	"time"
)

// cpuTime is the user and kernel time of this process so far
// (GetProcessTimes), in steps of the scheduler's tick.
func cpuTime() (time.Duration, bool) {
	self, err := syscall.GetCurrentProcess()
	if err != nil {
		return 0, false
	}
	var creation, exit, kernel, user syscall.Filetime
	if err := syscall.GetProcessTimes(self, &creation, &exit, &kernel, &user); err != nil {
		return 0, false
	}
	return ticks(kernel) + ticks(user), true
}

// ticks reads a Filetime as a duration: units of 100 ns. Filetime's own
// Nanoseconds counts from 1970 and is of no use here.
func ticks(t syscall.Filetime) time.Duration {
	return time.Duration(int64(t.HighDateTime)<<32|int64(t.LowDateTime)) * 100
}
