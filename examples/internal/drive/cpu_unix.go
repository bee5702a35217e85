//go:build unix

package drive

import (
	"syscall"
	"time"
)

// cpuTime is the user and system time of this process so far (getrusage).
func cpuTime() (time.Duration, bool) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, false
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), true
}
