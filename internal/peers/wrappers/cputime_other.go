//go:build !unix

package wrappers

import "time"

// cpuTime is not measured here: Windows counts it in steps of its clock
// interrupt, too coarse for a run of some hundred milliseconds. The benchmarks
// then have no cpu-ns/op.
func cpuTime() (time.Duration, bool) { return 0, false }
