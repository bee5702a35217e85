// Package cputime has the CPU time of this process, which benchmarks of rivals
// report beside the wall time: garbage collection and goroutines that were
// started count in it, and other processes on the machine do not.
package cputime
