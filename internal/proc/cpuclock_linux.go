package proc

import (
	"os"
	"syscall"
	"time"
	"unsafe"
)

// clockProcessCPU is CLOCK_PROCESS_CPUTIME_ID.
const clockProcessCPU = 2

// ReadCPUClock is the CPU time of the process, ended threads included, to the
// nanosecond and up to this instant: getrusage has what a thread had run at the
// scheduler's last look, up to a tick ago.
func ReadCPUClock() (time.Duration, error) {
	var ts syscall.Timespec
	_, _, e := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockProcessCPU, uintptr(unsafe.Pointer(&ts)), 0)
	if e != 0 {
		return 0, os.NewSyscallError("clock_gettime", e)
	}
	return time.Duration(ts.Nano()), nil
}
