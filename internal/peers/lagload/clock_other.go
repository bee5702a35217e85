//go:build !linux

package lagload

import "github.com/tidestaff/tidestaff/probe"

// A clock that all processes share is known on Linux alone.
type clock struct{}

func newClock() (clock, error) { return clock{}, probe.ErrUnsupported }

func (clock) now() int64 { return 0 }
