package proc

import (
	"os"
	"syscall"
	"time"
	"unsafe"
)

// The clocks of clock_gettime(2): the boot clock is the monotonic one plus the
// time that the machine was suspended.
const (
	clockMonotonic = 1
	clockBoot      = 7
)

// ReadSuspended reads for how long the machine has been suspended since it
// started. It is the difference of two clocks that cannot be read at one
// instant: it may be too small by the time between the two readings, which is
// long if the thread loses its processor there, and is never too large.
func ReadSuspended() (time.Duration, error) {
	boot, err := clock(clockBoot)
	if err != nil {
		return 0, err
	}
	monotonic, err := clock(clockMonotonic)
	if err != nil {
		return 0, err
	}
	return max(boot-monotonic, 0), nil
}

// clock reads a clock. The call returns at once, so the scheduler need not be
// told of it.
func clock(id uintptr) (time.Duration, error) {
	var t syscall.Timespec
	if _, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, id, uintptr(unsafe.Pointer(&t)), 0); errno != 0 {
		return 0, os.NewSyscallError("clock_gettime", errno)
	}
	return time.Duration(t.Nano()), nil
}
