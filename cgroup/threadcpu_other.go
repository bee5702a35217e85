//go:build !linux

package cgroup

import "time"

// threadCPU says that the CPU time of a thread is not known.
func threadCPU() (time.Duration, bool) { return 0, false }
