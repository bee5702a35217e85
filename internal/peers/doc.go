// Package peers puts the recorder of package probe beside what a Go service
// would use instead, in one binary, on one machine, at one moment: an
// atomic.Int64 (which keeps nothing but a sum, and so is the floor), a mutex
// around hdrhistogram-go, and the newest OpenTelemetry SDK's histogram. Package
// wrappers, below it, does the same for sqlitetrace, and package memory for
// cgroup, whose peaks package spikes holds to spikes of known size; package lagload
// holds lag to the true wait of a byte from another process.
//
// It is a module of its own so that the library requires none of them at these
// versions. Nanoseconds are the machine's; only ratios are worth quoting.
// `go run ./internal/peers/cmd/bench` measures and prints them.
package peers
