//go:build unix

package proc

import (
	"os"
	"syscall"
	"time"
)

// ReadWallClock reads the system's wall clock, which within a bubble of
// testing/synctest is not the one that package time has.
func ReadWallClock() (time.Time, error) {
	var tv syscall.Timeval
	if err := syscall.Gettimeofday(&tv); err != nil {
		return time.Time{}, os.NewSyscallError("gettimeofday", err)
	}
	return time.Unix(tv.Unix()), nil
}
