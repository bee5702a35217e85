// Package lag measures how late a Go process serves what is due.
//
// # What is measured
//
// A schedule of absolute deadlines, one every 50 ms: slot k is due at the start
// plus k intervals, on the monotonic clock. The lag of a slot has two parts.
// The timer part runs from the deadline until the probe's own goroutine runs:
// pre-emption, stop-the-world, throttling, other processes. The queue part runs
// from there until a fresh goroutine, which yields once to the tail of the run
// queue, has its turn: what everything that was runnable at that instant made
// it wait. The total is what work that arrived at the deadline would have
// waited, and is the number to look at first; the queue part is the one to shed
// load by ([Probe.Pending] has its live value).
//
// Every slot is recorded exactly once, also those that a stall swallowed: of a
// stall of 270 ms that begins with a slot, the next five were due 220, 170,
// 120, 70 and 20 ms before its end, and that is what is recorded. A probe that
// records one value for the whole stall hides it from every percentile.
//
// Three metrics count the schedule itself, and they must add up: a window holds
// elapsed/interval ± 1 slots, each of them once in every distribution.
//
// # Accuracy and limits
//
// A stall of length S is seen with the probability min(1, S/interval), and at
// most one interval of it is missed: a stall of 120 ms reads 70 to 120 ms.
//
// On Linux an idle process sleeps with a granularity of a millisecond, so that
// the timer part of an idle process is spread evenly over 0 to 1.1 ms; other
// systems are coarser (Windows up to 15 ms). Nothing is subtracted for it. Look
// twice before alerting on less than 2 ms.
//
// The queue part goes through the global run queue. On a machine with many
// processors one of them can be clogged without it.
//
// A process that does not run at all (a copy of gigabytes that cannot be
// pre-empted while a stop-the-world waits for it) records nothing until it runs
// again; then it records all of it. Time during which the machine is suspended
// is not lag: the monotonic clock stands still.
//
// # Concurrency
//
// All methods may be called from any goroutine. All windows of a Probe share
// one ticker goroutine, which starts with the first and has ended, with all
// that it started, when the Close of the last one returns. Close waits, for at
// most a second, until every slot that was due is in, so that a stall that ends
// just before Close is in its reading.
//
// # Cost
//
// Per slot: one wake-up, two goroutine switches, three records, one small
// allocation; 0.3 to 0.5 % of one core at 50 ms on an idle machine, nearly all
// of it the wake-up. Nothing while no window is open.
//
// # Platforms
//
// All. Only the floor of the timer part differs.
//
// Note: a [time.Ticker] was rejected. It drops what it could not deliver, and
// the time that it sends is the scheduled one, so that a difference of two
// shows nothing. A timer goroutine without the queue part was rejected because
// a goroutine that a timer wakes jumps the run queue: it read 0.06 ms while a
// request waited 50. A clock_nanosleep on a thread of its own was rejected:
// blocked in a raw system call it stops the whole process at the first garbage
// collection, and in an ordinary one it measures the wait for a processor.
// The histogram /sched/latencies of the runtime was rejected: it does not count
// a goroutine whose timer is overdue.
package lag
