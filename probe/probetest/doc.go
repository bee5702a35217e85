// Package probetest puts probes to work in `go test`: in benchmarks, as budgets of
// tests, and on probes themselves.
//
//	func BenchmarkList(b *testing.B) {
//		probetest.Loop(b, func() { store.List(ctx) }, sqlp, lagp, mem)
//	}
//
//	BenchmarkList-8   3061   391042 ns/op   402117 cpu-ns/op   8.000 queries/op   16515072 peak-RSS-bytes ...
//
//	func TestListBudget(t *testing.T) {
//		probetest.Within(t, sqlp, 1, func() { get(t, "/api/sandboxes") },
//			probetest.AtMost("queries/op", 8).In("request"), probetest.NoFullScans(), probetest.NoWrites())
//	}
//
//	2 of 3 budgets are broken:
//	  queries/op in role request = 11, want at most 8
//	  full scan of tokens: 5x by (*Store).Tokens (request), want none
//	  statements of 1 operation:
//	    5x  SELECT * FROM tokens                  (*Store).Tokens  request  4 identical, FULL SCAN
//	    6x  SELECT * FROM sandboxes WHERE id = ?  (*Store).Get     request  N+1?
//	  measured: 402,117 cpu-ns/op, 11 queries/op, ...
//
// # What is measured
//
// A benchmark ([Loop], [Parallel], [Start]) has a window over any probes while it
// iterates, and reports each number that their descriptions name a unit for, as
// benchstat reads it: counts, rows, bytes and times per operation, percentiles of
// lag, peaks of memory. By itself it adds
//
//   - cpu-ns/op: CPU time of the process, from CLOCK_PROCESS_CPUTIME_ID. A cgroup
//     probe's own number of that name gives way to it.
//   - p50-, p95- and p99-latency-ns of the single operations, if
//     [Bench].Latency asks for them.
//   - heap-bytes/item and alloc-bytes/item, by [PerItem].
//
// Maxima are reported on request only ([Bench].Units), since they repeat badly. A
// unit that two probes have is reported once: what is divided by the benchmark's
// iterations comes before a mean over the operations of a [probe.Ops].
//
// A budget ([Within]) bounds any of these units in a test, or wants no full scans,
// writes, duplicates, N+1 or file reads. [SameAt] wants counts that do not depend on
// the size of the data, [Snapshot] the same statements as in a file.
//
// [Scaling] tells how an operation's counts and CPU time grow with the size of its
// data, and fails if that is faster than a bound:
//
//	CPU time grows faster than n log n: 35 % of the time at n=10,000 goes with n² log n (99 % interval 34–37 %)
//	       n  CPU time  per item  queries/op
//	     625   33.1 µs     53 ns           3
//	   ...
//	  10,000    965 µs   96.5 ns           3
//	  fitted with c + n + n², 48 % of the time at n=10,000 is super-linear (of n log n alone it would be 30 %)
//
// [Conform] holds a probe of your own to the contract of package probe: it opens
// windows over the probe by hundreds and from several goroutines, and compares
// what they say with each other. A count that one window has and the window
// around it lacks, a goroutine that outlives the last window, a metric that was
// never described: each is a failure, printed with the rule that it breaks and
// why that rule exists.
//
// # Accuracy and limits
//
// In Loop and Parallel the window holds exactly the iterations. With Start it
// holds what lies between Start and Stop; if that is more than the timer ran for,
// the benchmark's log says so. In a benchmark with b.N each run has its own
// window, and the numbers are those of the run whose time is printed. A benchmark
// that only runs sub-benchmarks prints no row, so that a window over it is lost:
// measure in the sub-benchmarks.
//
// With several values of -cpu, the first row of a benchmark with b.Loop runs with
// the last one's GOMAXPROCS, whatever its label says (golang/go#49980). Each row
// then reports gomaxprocs, and the log names the row whose label is wrong.
//
// What was not measured is left out, never zero, and so is a percentile of too
// few values: p95 needs 20 and p99 100. Of lag those are slots: give a benchmark's
// lag probe an interval of 5 to 10 ms. Before a benchmark with a probe of the
// resident set, freed memory is returned to the system; with a peak that the
// kernel sets back at the window's start, peak-RSS-bytes is then that benchmark's
// own. What earlier ones still hold is in it.
//
// A benchmark that fails prints no row at all; that is package testing's rule.
//
// Budgets of counts are judged always. Times (units with "ns") that are within their
// bound pass; those that are over it fail if the machine was quiet: other processes
// used less than 15 % of its CPUs, less than 2 % was stolen, and no quota of the
// process's own control group ran out. Otherwise they are not judged, and the log
// says why. Where a window was too short to tell, the machine is watched for up to
// half a second of its CPU time more. A peak is judged by what is known of it.
//
// What has no data fails, with its reason: no statement went through the probe, too
// few values for the percentile, a fake clock. A probe that was at work and counted
// nothing has zero.
//
// Statements are known by text, method, role and line from what a database probe says
// of each: with sqlitetrace, Options.Statements. Whether arguments and literals were
// the same is known by a hash of them; they are in no text themselves. With
// Options.Slow of 1 ns alone they are not known, so that [NoDuplicates] has no data
// on a statement with parameters that is executed more than once.
//
// A check of scaling measures in rounds, each with all sizes in an order of chance,
// always on fresh data and after a garbage collection. A sample handles as many
// items at each size, so that none has more collections, interrupts or cache misses
// to its name. The fastest tenth of the rounds counts, since what else the machine does
// only ever adds. How often the verdict is wrong is measured
// by the command internal/peers/cmd/scaling, for bench/.
// Data that leaves a cache of the processor makes an item dearer, as work of a
// higher order does: only counts tell the two apart. A count that moves in steps,
// such as the blocks of a file, wants sizes at which the steps are equally full.
// Time that is spent waiting is in no CPU time.
//
// The kit knows nothing of what a probe measures, so it cannot tell whether a
// number is right, only whether all windows agree about it. It works by
// inclusion: a window that was opened after another and closed before it must
// not hold more. That is exact for probes that count only what exercise does and
// for those whose numbers move by themselves, such as CPU time. A probe that
// cannot work on the machine is held to a shorter list: it must say so always,
// and be absent from a set with its reason. The log says that the rest was left
// out.
//
// # Concurrency
//
// Benchmarks of a package run one after another, and so do their windows. What a
// probe counts is mostly the whole process's: other goroutines' work is in it.
//
// A window of Within sees the whole process, too: a budget for one role ([Budget.In])
// leaves others' work out, and a failure says if another Within was under way.
//
// A check of scaling has the process's CPU clock, and what runs beside it in the
// process is in its times: do not call it from a parallel test. Two of them wait
// for each other.
//
// Conform watches the goroutines, the descriptors and the heap of the whole
// process, so it must not run beside other tests: do not call it from a parallel
// one. What the caller gives it is called from several goroutines at once.
//
// # Cost
//
// Nothing per operation but the call of a function, and no allocation; with
// Latency a reading of the clock and a record. Opening and closing a window takes
// what its probes need, outside the timer; returning freed memory takes 4 to 30 ms
// each time. A check of scaling takes 7 rounds if they hardly differ, each about
// five times as long as the operation and its set-up at the largest size; else 56, and up
// to 448 while the verdict is not clear and the limit allows. Conform takes about a second a probe on a quiet machine, a few under
// the race detector.
//
// # Platforms
//
// All. cpu-ns/op is from the process's own clock on Linux; elsewhere a cgroup
// probe has it, and a check of scaling judges counts only. The noise of the machine is known on Linux; elsewhere times over
// their bound are not judged. Descriptors are counted on Linux only.
package probetest
