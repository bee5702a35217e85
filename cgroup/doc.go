// Package cgroup is a probe of the memory, the CPU time and the IO of this process
// and of its control group, on cgroup version 1, version 2 and hybrid hosts, from
// inside the process; or of another process or group of the machine.
//
// # What is measured
//
//   - tidestaff.process.memory.usage, .peak, .growth, .swap and .stat: the
//     resident set (VmRSS), its highest value within the window (VmHWM) and how
//     far that lies above the window's start, what is in swap, and the resident
//     set's split into anonymous memory, mapped files and shared memory, all from
//     one read of /proc/self/status.
//
//   - tidestaff.go.memory.stat: what the Go runtime holds of it: live objects,
//     free and not returned, released to the system, stacks.
//
//   - tidestaff.cgroup.memory.usage, .peak, .growth, .swap, .swap.peak and .stat:
//     what the control group is charged for, and the split that tells page cache
//     that can be dropped from memory that cannot; .inactive_file, .working_set
//     (what Kubernetes evicts by) and .uncached (all but page cache) of it.
//
//   - tidestaff.cgroup.memory.limit and .high, .cpu.limit, .pids.limit: the
//     smallest of those of the group and of the groups above it that can be seen.
//
//   - tidestaff.process.cpu.time, tidestaff.cgroup.cpu.usage and .cpu.time: CPU
//     time, as the scheduler counts it and in user and system mode;
//     tidestaff.cgroup.cpu.periods, .throttled_periods and .throttled.time: what a
//     CPU quota took away.
//
//   - tidestaff.cgroup.pressure.stall.time: how long some or all tasks of the group
//     waited for the CPU, for memory and for IO; tidestaff.cgroup.memory.events:
//     how often it met memory.high and memory.max, and what was killed for it.
//
//   - tidestaff.cgroup.disk.io and .disk.operations, tidestaff.process.disk.io:
//     what devices did; .paging.faults of both; tidestaff.cgroup.pids.usage and
//     .peak: threads.
//
//   - The same names with .course, of the process's memory, the Go heap, and of
//     the group's memory, .uncached, .working_set, .swap and pids: how the level
//     went within the window: least, mean, most, last, slope and the means of both
//     halves, with the number of looks. They, tidestaff.sampler.interval and
//     .sampler.cpu.time (what the sampler did and cost), and .memory.uncertainty
//     are details.
//
//   - tidestaff.command.duration, .cpu.time, .memory.peak and .failures, by
//     tidestaff.command.name: what the commands took that were started through
//     [Probe.RunCommand] or [Probe.StartCommand].
//
// Events tell of out-of-memory kills in the group (of children and siblings;
// the process itself would have to survive to tell), of hits of its memory limit,
// and of commands of which processes were killed. Where the kernel notifies us
// they are there at once (inotify on memory.events, an eventfd for version 1's
// kills), and else at the next sample or reading.
//
// One number for "memory" does not exist. A process that reads a large file
// fills its group's page cache and not its resident set; a Go heap that was
// freed stays resident until the runtime returns it. So the parts are always
// beside the sum.
//
// [StatsOf] gives a reading as rates and shares: cores used and of how many, bytes
// a second, the share of the window in which somebody waited. [Flat] judges
// whether memory grew in it. [PerOp] divides it by the operations in it.
// [Probe.Groups] says which groups the numbers are of. [StartToReady] measures,
// without a probe, how long a service takes until it is ready.
//
// # Accuracy and limits
//
// The peak of the process is exact in every window: at each boundary of any
// window the kernel's high-water mark is read, folded into all open windows, and
// set back to the present level by writing 5 to /proc/self/clear_refs. All
// probes of the process share that, because the mark belongs to the process.
// Where the write is refused, the peak is exact in those windows in which the
// lifetime's mark rose, and otherwise the highest of samples taken every
// Options.Interval, a lower bound: a spike shorter than two intervals may be
// missed, unless one was as high as the mark. The metric's provenance says which
// ("VmHWM reset", "VmHWM rose", "lifetime's peak reached", "sampled" with the
// number of samples and the longest gap). Where we do not set
// the mark back and somebody else does, that is noticed if the mark is lower than
// it was, and the windows that were open are labelled as sampled.
//
// The group's peak is exact in the same way where memory.peak can be reset
// through the descriptor that reads it (Linux 6.12, and a cgroup file system
// that is mounted writable), which disturbs nobody else's. Version 1 has one
// mark for everybody, which is therefore reset on request only
// (Options.ResetShared). pids.peak cannot be reset.
//
// The kernel counts resident pages per CPU and folds them in batches: a reading
// may be off by 32 pages a CPU, by more from 17 CPUs up, and a group's charge is
// up to 64 pages a CPU above what is used. The metrics .memory.uncertainty have
// these bounds for the machine; a measured error is a fraction of them.
//
// getrusage's ru_maxrss is not used: it is inherited from the process that
// started this one, so a small test binary shows the peak of cmd/go.
//
// A command gets a control group of its own where that is permitted, made below
// the process's group and removed at the command's end; its peak and CPU time
// are then exact. Elsewhere its peak is polled, and says so. See
// [Probe.StartCommand].
//
// A process that is moved to another group is followed, at the next reading or
// within ten samples. Counters go on with what is added in the new group, levels
// are the new group's, the windows that span the move have an event
// (tidestaff.cgroup.moved) and no peak of the group. In version 1, memory stays
// charged to the group that it was charged to.
//
// Another process is known by its number and its start time. When it has ended,
// its metrics are absent, in the open windows and in later ones, also if the
// number belongs to another process by then. Setting its mark back needs the right
// to write its clear_refs, and takes the mark away from a process that measures
// itself: see Options.PID.
//
// IO that the kernel accounts to nobody (page cache that answers, some schedulers
// and file systems) is in no number, and until the kernel lists a device there is
// none at all. A pressure file that a kernel has and refuses to read is not asked
// again.
//
// What cannot be measured is absent, with a reason, and never zero. A process
// in the root group has no group numbers: those files count the whole machine.
// Neither has one whose own group no mount shows; a wrong group's numbers would
// look just as plausible.
//
// A file that fails takes its metrics away until a later reading succeeds, and
// its counters then have what came meanwhile, so that the first interval after
// a gap has more than its own. A peak that rests on a mark of the kernel is
// absent from the first failure until the last window is closed, because the
// mark is then older than some window. A file that is not there when the first
// window opens is looked for again by the next first window only.
//
// # Concurrency
//
// Everything may be used from any goroutine. A goroutine takes samples while a
// window is open, unless Options.Interval is negative, and another one waits for
// the kernel to tell of a kill; the last Close ends them and closes all
// descriptors. Under the clock of testing/synctest, which the second one would
// stop, there is only the first.
//
// # Cost
//
// Nearly all of it is the kernel's, which renders a file anew for each read; so
// each file is read once, through a kept descriptor, and none of it allocates. The
// repository's bench/ has the rows that are named here, beside other readers.
//
// Of every ten samples, nine read two numbers, the resident set and the group's
// charge: a quarter more than the bare system calls for the same files (Cheap). The
// tenth also reads the group's split, its events and tasks, and the Go runtime's
// memory: a fifth more than those (Rich). A reading reads everything, limits at
// most every 100 ms: a third more than those of its files, some of which is the
// mark that it sets back (Reading). Most of both are two files, status and
// memory.stat, for each of which the kernel needs five to ten times as long as for
// one with a few numbers (RSSSplit and GroupSplit; RSS and GroupUsage). Others need
// 7 to 15 times as long as a reading, for less (Everything).
//
// That is with warm caches, one after the other. A sampler that wakes a thousand
// times a second finds them cold: five to ten times the two bare reads for a mean
// sample, the tenth one in it (Sample). The metric tidestaff.sampler.cpu.time has
// the true number.
//
// Opening and closing a window beside another one costs as much as three to four
// readings (Window); the first one finds and opens the files, which costs five to
// ten times that (FirstWindow). Writing to clear_refs takes the lock of the
// process's memory map for a moment: it is done at boundaries of windows only.
//
// A group of its own makes a command longer by two folders that are made and
// removed. Where it is polled, its processes are looked at every 10 ms.
//
// # Platforms
//
// Linux. Elsewhere the resident set comes from gopsutil and its peak from
// samples, the process's CPU time and page faults from getrusage or, on Windows,
// the time from GetProcessTimes in steps of 1 to 16 ms; the Go runtime's part is
// the same, and everything else is absent, another process included.
package cgroup
