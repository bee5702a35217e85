//go:build !linux

package probetest

import (
	"fmt"
	"runtime"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// processCPU says that the process's CPU clock is read on Linux only. A cgroup
// probe has the CPU time elsewhere, in coarser steps.
func processCPU() (time.Duration, error) {
	return 0, fmt.Errorf("CPU clock of the process: %w: %s", probe.ErrUnsupported, runtime.GOOS)
}
