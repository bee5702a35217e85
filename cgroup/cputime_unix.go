//go:build unix

package cgroup

import (
	"fmt"
	"syscall"
	"time"
)

// ownSpent is this process's time in user and in system mode and its page
// faults, from getrusage. On Linux the time is the exact sum of the scheduler,
// split into the two modes in proportion to the timer ticks that hit each; other
// systems are as exact as they please.
//
// Its ru_maxrss is not a peak of this process; see the package's documentation.
func ownSpent() (spent, error) {
	var ru syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &ru); err != nil {
		return spent{}, fmt.Errorf("getrusage: %w", err)
	}
	return spent{
		user: time.Duration(ru.Utime.Nano()), system: time.Duration(ru.Stime.Nano()),
		faults: true, minor: uint64(ru.Minflt), major: uint64(ru.Majflt),
	}, nil
}
