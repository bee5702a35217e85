//go:build !unix && !windows

package cgroup

import (
	"fmt"
	"runtime"

	"github.com/tidestaff/tidestaff/probe"
)

// ownSpent says that CPU time is not measured on this system.
func ownSpent() (spent, error) {
	return spent{}, fmt.Errorf("CPU time: %w: %s", probe.ErrUnsupported, runtime.GOOS)
}
