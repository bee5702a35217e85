//go:build !linux

package fsstat

import (
	"fmt"

	"github.com/tidestaff/tidestaff/probe"
)

// A dirWatch is not there: only Linux has inotify.
type dirWatch struct {
	spent   func(n int)
	touched map[string]bool
}

func (*dirWatch) open(func(string)) error {
	return fmt.Errorf("opens around the probe are told by inotify, on Linux only: %w", probe.ErrUnsupported)
}
func (*dirWatch) add(string) error            { return nil }
func (*dirWatch) follow()                     {}
func (*dirWatch) close()                      {}
func (*dirWatch) drain(func(map[string]bool)) {}
