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
// elapsed/interval ± 1 slots, each of them once in every distribution. A slot counts as
// fallen due, and in the timer part, when the ticker wakes, and in the rest when it is
// served. So a window that is opened in an overload also serves some that fell due
// before it, and one that is read while a loop is stuck has slots that are not served.
//
// Event-loop lag, which in Go is the lag of whatever serves one thing at a time,
// is measured by sending the same slots through it: an actor's channel, a mutex,
// a pool of one connection ([Options.Through]). The scheduler does not know of
// it: while a dispatcher waits for a lock, every other goroutine runs on time. A
// loop has one part more, from the slot's turn in the run queue to its turn in
// the loop, and a peak, the longest time between two beats.
//
// # Stalls
//
// Slots that are late by [Options.Threshold] or more, each within two intervals
// of the one before, are one stall, and a stall is one event: a 10 s overload is
// not 200 of them. The event has its start, its length and the bound of that, the
// slots that it swallowed, the longest of each part, and what overlapped it: the
// statements, file operations and operations of the other members of the Set,
// running or ended meanwhile. [StallsOf] is the typed view. The event's text is a
// sentence: how long, from when, why and what was in flight.
//
// Why is ranked, with a weight for each cause, which is the share of the stall that
// it explains, and the numbers that say so. The causes are tried in the order in
// which [Cause] lists them, and each takes its share of what is left:
//
//	waiting in the application   the loop's part, beyond what the run queue made it wait
//	machine suspended            boot clock minus monotonic clock
//	CPU quota                    throttled time of the cgroup, by CPU
//	other processes on the host  run delay of all threads by CPU, but for the quota's; stolen time
//	GC stop-the-world            sum of the pauses, with the time that it took to stop
//	stop-the-world               the same, of other reasons
//	process stopped              no CPU time used and none waited for
//	GC work                      CPU time of the GC, when a cycle ended
//	run queue                    a long queue whose goroutines held a processor for under 5 ms each
//	CPU-bound goroutines         a long queue of others, or all processors in use
//	non-preemptible work         all in use, and no timer ran for over 40 ms
//	unknown                      what is left, if it is more than any of them
//
// Throttled time, pauses and the GC's CPU time are written after the process runs
// again. So a stall is explained two slots after its end, from what had been
// written one slot after it. Close waits for that, for a second at most. A stall of
// the run queue or of a loop that has not ended then is emitted as ongoing, and so it is
// when it has gone on for 1 s, 10 s, 100 s and so on, always under the number under which
// it is completed. A stall of the whole process is told when it is over; until then
// [Probe.Pending] is what there is, for whoever can still ask.
//
// A machine that was suspended is an event of its own and no stall.
//
// In a study each kind was injected for real 20 times, for 150 to 600 ms. Of the 240
// injections 238 stalled the process for half of their length or more, and of each of
// these the injected cause was named first; where a loop was stalled, the cause is
// waiting in the application. The columns are the causes:
//
//	A = CPU quota
//	B = CPU-bound goroutines
//	C = GC stop-the-world
//	D = GC work
//	E = non-preemptible work
//	F = other processes on the host
//	G = process stopped
//	H = run queue
//	I = stop-the-world
//	J = waiting in the application
//
//	   injected     A     B     C     D     E     F     G     H     I     J  no stall  right
//	   gc pause     ·     ·  [19]     ·     ·     ·     ·     ·     ·     ·         1  100 %
//	other pause     ·     ·     ·     ·     ·     ·     ·     ·  [20]     ·         ·  100 %
//	    gc work     ·     ·     ·  [20]     ·     ·     ·     ·     ·     ·         ·  100 %
//	  run queue     ·     ·     ·     ·     ·     ·     ·  [20]     ·     ·         ·  100 %
//	        cpu     ·  [20]     ·     ·     ·     ·     ·     ·     ·     ·         ·  100 %
//	     memory     ·     ·     ·     ·  [20]     ·     ·     ·     ·     ·         ·  100 %
//	       lock     ·     ·     ·     ·     ·     ·     ·     ·     ·  [20]         ·  100 %
//	 dispatcher     ·     ·     ·     ·     ·     ·     ·     ·     ·  [20]         ·  100 %
//	    sigstop     ·     ·     ·     ·     ·     ·  [20]     ·     ·     ·         ·  100 %
//	       host     ·     ·     ·     ·     ·  [19]     ·     ·     ·     ·         1  100 %
//	      quota  [20]     ·     ·     ·     ·     ·     ·     ·     ·     ·         ·  100 %
//	quota above  [20]     ·     ·     ·     ·     ·     ·     ·     ·     ·         ·  100 %
//
// Each stall's sentence is in bench/2026-12-01-causes.txt; it is made by
// go run ./internal/peers/cmd/causes, which fails if of one kind less than 95 % are right.
// What "host" has is other processes on every CPU, to which the stalled one is made to
// give way (SCHED_IDLE): a hog of equal priority hardly delays a process that mostly
// sleeps. A suspended machine was not injected; its tests have a clock of their own.
//
// On a machine whose CPUs others want too, these are a cause of every stall, and may be
// the first; the injected one is then the second.
//
// # Captures
//
// With [Options.Capture] a stall leaves files as well, which are named in its event:
// a goroutine profile with the goroutines' labels, taken when the stall is first seen,
// and when it is over what a flight recorder holds, the service's own or one that the
// probe keeps. They are bounded in number, in bytes and in rate, and are off unless
// asked for.
//
// A stall of the run queue or of a loop is seen while it is going on, because the
// probe's timer is still served: its profile shows who holds everybody up. One of
// the whole process is seen when it is over; then the trace has it.
//
// A profile stops the world. Slots that waited mostly for that are in distributions
// of their own, with the attribute [AttrCaptured], and [Stats.Captured] counts them; a
// part is judged when it ends. Less than that stays where it is: a stall overlaps its own
// capture. The probes that share the ticker know of the profile too; those that do not,
// since their intervals differ, have it in their lag. A stall that happens mostly while a
// capture is being taken is not captured, so that none leads to the next, and every event
// says for how long captures went on meanwhile (tidestaff.stall.capture.overlap). Writing
// a trace delays nothing that could be measured.
//
// # Accuracy and limits
//
// A stall of length S is seen with the probability min(1, S/interval), and at
// most one interval of it is missed: a stall of 120 ms reads 70 to 120 ms.
//
// On Linux an idle process sleeps with a granularity of a millisecond, so that
// the timer part of an idle process is spread evenly over 0 to 1.1 ms; other
// systems are coarser (Windows up to 15 ms). Nothing is subtracted for it; the
// gauge tidestaff.scheduler.floor says what it is here, from the slots before
// which the process was idle. Look twice before alerting on less than 2 ms.
//
// The queue part goes through the global run queue. On a machine with many
// processors one of them can be clogged without it.
//
// A process that does not run at all (a copy of gigabytes that cannot be
// pre-empted while a stop-the-world waits for it) records nothing until it runs
// again; then it records all of it. Time during which the machine is suspended
// is not lag: the monotonic clock stands still.
//
// What cannot be read is not held against anybody: without run delays (no Linux, or a
// kernel without CONFIG_SCHED_INFO) a stopped process and other processes on the host are
// not found. A quota throttles all groups below it and is counted where it is set: that
// of a group above, a pod's for instance, is found where that group can be seen, on the
// host or in a container that shares its cgroup namespace. In a namespace of its own, a
// container sees its own quota alone, and what the pod's takes away reads as other
// processes on the host. The attribute tidestaff.stall.missing says what was not there.
// What a GC cycle takes is known at its end: the event of a stall that ends in the
// middle of one waits for that, for a second at most, and takes its part by time;
// after that its evidence says that a cycle was going on. Of more than 64 threads, the
// run delay of 64 is read.
//
// A loop has at most eight slots under way, which take up that much room in the
// application's own queue. Later slots share the wait of the last of them, which
// is what they would have seen unless the loop prefers some of its work. A slot
// that the loop drops (a pool whose queue is full, an actor that is started anew) is
// pending until eight later ones have been served, and is counted then
// (tidestaff.loop.lost).
//
// A slot that waits for more than an hour counts as one hour; [Part.Clamped] says
// how many did.
//
// # Concurrency
//
// All methods may be called from any goroutine. All windows of a Probe share
// one ticker goroutine, and so do the lag probes of one [probe.Set] whose
// intervals are equal, but for those that were watched when they met. It starts
// with the first window and has ended, with all that it started, when the Close of
// the last one returns. What others do not let return is left behind: a call of
// Options.Through, and a question to a member of the Set about what overlapped a
// stall. Close waits, for at most a second, until every slot that was due is in, so
// that a stall that ends just before Close is in its reading. It waits for the
// goroutine of the captures too, for no longer than five seconds.
//
// # Cost
//
// A slot is one wake-up, two goroutine switches and three records. It allocates nothing,
// and through a loop the beat alone, which the loop may keep (TestTickAllocs); beside that
// a distribution takes a kilobyte when it first meets a value in a new range. Idle, the
// wake-up is nearly all of it: on the virtual machine of bench/2026-12-01-lag.txt 216 µs, or 237
// with the evidence of stalls, which is 0.43 and 0.47 % of one core at 50 ms, 1.6 and 1.8 %
// at 10 ms; a bare timer takes 0.3 and 0.8 to 1.0 % there. In a busy process, which does
// not sleep, it was 2 to 19 µs a slot without evidence and 7 to 36 with. Nothing is spent
// while no window is open. [Probe.Pending] takes no lock and costs a clock read.
//
// While the process is idle, evidence is taken once in five slots. It allocates
// nothing, and keeps a descriptor for each thread, one for each group with a quota, and
// at most four more. A negative Options.Threshold turns it and the events off.
//
// Captures cost when they are taken, a profile by the number of goroutines
// (BenchmarkProfile), for a part of which the world stands still, and a trace by what the
// recorder holds; a flight recorder costs all the time ([Capture.StartTrace]).
//
// # Platforms
//
// All. The timer part's floor differs, and where the system does not tell the
// process's CPU time (Windows), the floor is absent.
//
// Under testing/synctest time is fake and nothing can be late: all metrics are
// absent, with that as the reason, where the system tells its own time (not on
// Windows).
//
// Note: these are ways to measure lag in Go that do not. The numbers are medians and 99th
// percentiles of bench/2026-12-01-lag.txt, in milliseconds, where they run side by side on
// two processors, at the same 20 ms, with this package and the truth: how long a byte
// waits that another process sends by TCP.
//
//   - The difference of two times that a [time.Ticker] sent, less the interval: 0.0005 and
//     80 beside eight goroutines that compute, whose ticks were taken 54 and 101 late; 0 and
//     0.001 in an HTTP server where a byte waits for 25 and 68. The time that is sent is
//     the scheduled one, and what could not be delivered is dropped.
//   - The difference of two arrivals, less the interval: 0.14 beside those goroutines, and
//     0.006 in that server. Every late tick makes the next one early.
//   - A sleep and a look at the clock by turns: beside a GC that works hard, 747 values where
//     1,000 slots were due, the fewer the worse it is. Those in between are the latest.
//   - Any timer alone: a goroutine that a timer wakes jumps the run queue. With 1,000
//     runnable goroutines the timer part was 0.05, where a byte waits for 35 and 64. The
//     queue part was 51 and 58.
//   - The runtime's /sched/latencies:seconds: its percentiles are those of all goroutines,
//     most of which another one has just woken: 0.66 in that HTTP server, 0.0002 beside
//     that GC, where a byte waits for 7.3 and 28. A goroutine whose timer is overdue is
//     not in it at all.
//   - The distance of two callbacks of a timer, as Node.js's monitorEventLoopDelay has it:
//     it contains its own period of 10, so that an idle process reads 10.5 and one with
//     1,000 runnable goroutines 10.1. A stall is one value however long it is: in a
//     minute of 50 ms slots, one of 5 s is one value of 1,101, which the 99th percentile
//     does not know of. Here that is 4.4 s (TestStallInPercentiles).
//   - A thread of its own in clock_nanosleep: in a raw system call it stops the whole
//     process at the first stop-the-world, for good; in an ordinary one it measures the
//     wait for a processor.
//
// Note: correcting for the slots that were missed, as HdrHistogram can, was rejected: on
// top of a schedule it counts them twice. The schedule itself tells what was merged.
package lag
