//go:build !linux

package cgroup

import "github.com/tidestaff/tidestaff/internal/proc"

// A wake notifies of nothing on this system.
type wake struct{}

func newWake(proc.Group, bool, func(method string)) *wake { return nil }

func (*wake) stop() {}
