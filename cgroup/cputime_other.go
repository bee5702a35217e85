//go:build !unix && !windows

package cgroup

import (
	"fmt"
	"runtime"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// cpuTime says that CPU time is not measured on this system.
func cpuTime() (user, system time.Duration, err error) {
	return 0, 0, fmt.Errorf("CPU time: %w: %s", probe.ErrUnsupported, runtime.GOOS)
}
