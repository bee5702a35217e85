// Package cgroup is a probe of the memory and the CPU time of this process and
// of its control group, on cgroup version 1, version 2 and hybrid hosts, from
// inside the process.
//
// # What is measured
//
//   - tidestaff.process.memory.usage, .peak, .swap and .stat: the resident set
//     (VmRSS), its highest value within the window (VmHWM), what is in swap,
//     and the resident set's split into anonymous memory, mapped files and
//     shared memory, all from one read of /proc/self/status.
//   - tidestaff.go.memory.stat: what the Go runtime holds of it: live objects,
//     free and not returned, released to the system, stacks.
//   - tidestaff.cgroup.memory.usage, .peak, .limit and .stat: what the control
//     group is charged for, the limit that binds it, and the split that tells
//     page cache that can be dropped from memory that cannot.
//   - tidestaff.process.cpu.time and tidestaff.cgroup.cpu.time: CPU time in user
//     and system mode; tidestaff.cgroup.cpu.periods, .throttled_periods and
//     .throttled.time: what a CPU quota took away; tidestaff.cgroup.cpu.limit.
//
// One number for "memory" does not exist. A process that reads a large file
// fills its group's page cache and not its resident set; a Go heap that was
// freed stays resident until the runtime returns it. So the parts are always
// beside the sum.
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
// missed. The metric's provenance says which ("VmHWM reset", "VmHWM rose",
// "sampled" with the number of samples and the longest gap).
//
// The group's peak is exact in the same way where memory.peak can be reset
// through the descriptor that reads it (Linux 6.12, and a cgroup file system
// that is mounted writable), which disturbs nobody else's. Version 1 has one
// mark for everybody, which is therefore never reset.
//
// The kernel counts resident pages per CPU and folds them in batches: a reading
// may be off by 32 pages a CPU, by more from 17 CPUs up.
//
// getrusage's ru_maxrss is not used: it is inherited from the process that
// started this one, so a small test binary shows the peak of cmd/go.
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
// Everything may be used from any goroutine. A goroutine runs only while a
// window is open and some peak has to be sampled; the last Close ends it and
// closes all descriptors.
//
// # Cost
//
// A reading costs about 25 µs and a sample between readings about 3 µs of CPU
// time, three quarters of it in the kernel, and neither allocates. Opening and
// closing a window beside another one costs about 75 µs; the first one finds and
// opens the files, which takes half a millisecond. Writing to clear_refs takes
// the lock of the process's memory map for a moment: it is done at boundaries of
// windows only. (Two-core virtual machine, Linux 6.18.)
//
// # Platforms
//
// Linux. Elsewhere the resident set comes from gopsutil and its peak from
// samples, the process's CPU time from getrusage or, on Windows, from
// GetProcessTimes in steps of 1 to 16 ms; the Go runtime's part is the same, and
// everything else is absent.
package cgroup
