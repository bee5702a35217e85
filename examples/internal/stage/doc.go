// Package stage starts the processes of an example, opens and closes what they
// measure at each phase, collects one report per process and stops them.
//
// A load test needs the server and its load in different processes: otherwise
// the server's lag, memory and CPU are those of the load generator too. The
// parent re-executes its own binary ([Stage.Start]); the child finds out which
// part it plays ([Role]) and serves the parent's commands ([Child]).
//
// # What is measured
//
// Nothing by this package itself, but for the time from start to ready
// ([Process.Startup]). It decides when others measure: a child opens its
// windows when the parent opens a phase, so that start-up, seeding and warm-up
// are outside, and answers the end of the phase with its report. The report is
// bytes here: whatever the child's Close callback returns, unchanged.
//
// # Protocol
//
// JSON lines over the child's standard input and output, which exist on each
// operating system. The child's first line is its address, once it listens;
// after that each command has one reply. The child's [os.Stdout] becomes its
// standard error as soon as [Child] runs, so that a stray print cannot break
// the protocol.
//
// # Lives
//
// A child ends when it is told to stop, and when its standard input closes,
// which the kernel does for a parent that was killed: nothing survives its
// parent by more than [Handler.Grace]. An interrupt from the terminal reaches
// children too; they ignore it, because the parent still wants their reports.
// [Process.Stop] returns in bounded time: it asks, waits for Spec.StopTimeout,
// then kills that one process.
//
// # Concurrency
//
// The methods of Stage and Process may be called from any goroutine. Phases do
// not overlap: a second Open is refused, it does not wait.
//
// # Platforms
//
// All that have processes and pipes; tested on Linux.
package stage
