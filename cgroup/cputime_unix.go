//go:build unix

package cgroup

import (
	"fmt"
	"syscall"
	"time"
)

// cpuTime is the process's time in user and in system mode, from getrusage. On
// Linux it is the exact sum of the scheduler, split into the two modes in
// proportion to the timer ticks that hit each; other systems are as exact as
// they please.
func cpuTime() (user, system time.Duration, err error) {
	var ru syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &ru); err != nil {
		return 0, 0, fmt.Errorf("getrusage: %w", err)
	}
	return time.Duration(ru.Utime.Nano()), time.Duration(ru.Stime.Nano()), nil
}
