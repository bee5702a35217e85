// Package drive is the load driver of the examples: users who do several
// things periodically, sequences with think time, constant and Poisson
// arrivals, all against a schedule that the server's slowness cannot change.
//
// # What is measured
//
// Every operation has an intended time, which comes from the schedule alone.
// Its response time runs from there to its end: a client that would have
// called during a stall has waited, whether or not the driver was free to
// call. Its service time runs from the real call to its end, which is what a
// closed loop sees. Lateness is the driver's own fault: from the moment at
// which it could have called to the call. Failures are classified
// ([Classify]) and their times stay in the distributions: a time-out counts
// as its timeout at least, what the end of the run cut off as long as it had
// waited.
//
// A [Driver] is a probe, so its metrics go into a report like any other's;
// [ResultsOf] is the typed view of a reading, also of one read back from disk.
//
// # Accuracy and limits
//
// A percentile needs samples: no p95 below 20, no p99 below 100; the maximum
// is exact and always there, with n. Timers of the Go runtime fire about a
// millisecond late on an idle machine, and the response time holds that; see
// lateness for how much it was. Distributions have two significant digits.
//
// # Determinism
//
// The seed decides every intended time of every activity and every number
// that a script draws from its Session.Rand. Each user's activity has a stream
// of its own (PCG), so that how a run goes does not change its schedule. The
// seed is in the results.
//
// # Concurrency
//
// A Driver's methods may be called from any goroutine, but Add not beside Run.
// A Session belongs to its script.
//
// # Cost
//
// A goroutine, a context and three records an operation: several thousand
// operations a second on one core.
//
// # Platforms
//
// All; the process's CPU time is absent where neither getrusage nor
// GetProcessTimes exists.
package drive
