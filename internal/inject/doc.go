// Package inject stalls a Go process on purpose, in the ways in which processes
// are stalled by accident, so that a probe of stalls can be held to what it says
// was the cause.
//
// # What is measured
//
// Nothing: a [Family] is one kind of stall. Each injection happens in a process
// of its own, a child that runs [Serve]: it opens whatever measures, says that
// it is ready, is stalled, and prints what was measured. [Family.Run] is the
// parent: it starts the child and, where the stall comes from outside, does it.
//
// # Accuracy and limits
//
// The length that is asked for is about how long the stall lasts. How many
// goroutines or passes over memory it takes is tried out by each child, for two processors:
// children run with GOMAXPROCS=2 whatever the machine has.
//
// # Concurrency
//
// One injection at a time, or they become each other's cause.
//
// # Cost
//
// The stalls of the host family occupy every CPU of the machine for their length, at
// normal priority.
//
// # Platforms
//
// All for the stalls from inside; Linux for those from outside. The quota needs
// a cgroup that can be written to. What cannot be done here is an error that
// wraps errors.ErrUnsupported.
package inject
