// Package probetest tests probes: [Conform] holds a probe of your own to the
// contract of package probe.
//
// # What is measured
//
// Nothing by itself. Conform opens windows over the probe that it is given, by
// hundreds and from several goroutines, and compares what they say with each
// other. A count that one window has and the window around it lacks, a goroutine
// that outlives the last window, a metric that was never described: each is a
// failure, printed with the rule that it breaks and why that rule exists.
//
// # Accuracy and limits
//
// The kit knows nothing of what a probe measures, so it cannot tell whether a
// number is right, only whether all windows agree about it. It works by
// inclusion: a window that was opened after another and closed before it must
// not hold more. That is exact for probes that count only what exercise does and
// for those whose numbers move by themselves, such as CPU time.
//
// A probe that cannot work on the machine is held to a shorter list: it must
// say so always, and be absent from a set with its reason. The log says that the
// rest was left out.
//
// # Concurrency
//
// Conform watches the goroutines, the descriptors and the heap of the whole
// process, so it must not run beside other tests: do not call it from a parallel
// one. What the caller gives it is called from several goroutines at once.
//
// # Cost
//
// About a second a probe on a quiet machine, a few under the race detector.
//
// # Platforms
//
// All. Descriptors are counted on Linux only.
package probetest
