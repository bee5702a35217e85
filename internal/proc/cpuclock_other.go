//go:build !linux

package proc

import (
	"errors"
	"fmt"
	"runtime"
	"time"
)

// ReadCPUClock says that the process's CPU clock is read on Linux only; ReadUsage
// has the CPU time elsewhere, in coarser steps.
func ReadCPUClock() (time.Duration, error) {
	return 0, fmt.Errorf("CPU clock of the process: %w on %s", errors.ErrUnsupported, runtime.GOOS)
}
