//go:build !linux

package probetest

import (
	"fmt"
	"runtime"

	"github.com/tidestaff/tidestaff/probe"
)

// lookAtHost says that what others do on the machine is not known here: times that
// are over their bound are then not judged.
func lookAtHost() look {
	return look{err: fmt.Errorf("CPU time of the machine: %w: %s", probe.ErrUnsupported, runtime.GOOS)}
}
