package cgroup

import "github.com/tidestaff/tidestaff/probe"

// The attributes that tell the series of one metric apart. Those of
// OpenTelemetry have its names.
const (
	attrProcessMemory = "tidestaff.process.memory.type"
	attrGoMemory      = "tidestaff.go.memory.type"
	attrCgroupMemory  = "tidestaff.cgroup.memory.type"
	attrEvent         = "tidestaff.cgroup.memory.event"
	attrResource      = "tidestaff.pressure.resource"
	attrStall         = "tidestaff.pressure.stall_type"
	attrStat          = "tidestaff.stat" // of a course; see probe.Gauge
	attrCPUMode       = "cpu.mode"
	attrDirection     = "disk.io.direction"
	attrFault         = "system.paging.fault.type"
)

// The process's memory.
var (
	// VmRSS of /proc/self/status: pages of this process that are in memory,
	// shared ones included, so that those of two processes do not add up. Freed
	// Go heap stays in it until the runtime returns it, which it does slowly.
	descRSS = &probe.Desc{
		Name: "tidestaff.process.memory.usage", Unit: "By", Kind: probe.KindGauge,
		Help: "Resident set of the process (VmRSS of /proc/PID/status).",
	}
	// VmHWM of /proc/self/status, read and set back at the boundaries of windows;
	// see type mark. Page cache that the process caused is not in it.
	descPeak = &probe.Desc{
		Name: "tidestaff.process.memory.peak", Unit: "By", Kind: probe.KindPeak,
		Help:  "Highest resident set of the process within the window (VmHWM of /proc/PID/status).",
		Bench: []probe.Bench{{Unit: "peak-RSS-bytes", Stat: "value", Better: "lower"}},
	}
	// What the window itself needed: the level at its start depends on what ran
	// before it.
	descGrowth = &probe.Desc{
		Name: "tidestaff.process.memory.growth", Unit: "By", Kind: probe.KindPeak,
		Help:  "Peak of the resident set over the resident set at the start of the window (VmHWM and VmRSS of /proc/PID/status).",
		Bench: []probe.Bench{{Unit: "peak-RSS-growth-bytes", Stat: "value", Better: "lower"}},
	}
	// Samples of VmRSS, from /proc/self/statm between boundaries.
	descCourse = &probe.Desc{
		Name: "tidestaff.process.memory.course", Unit: "By", Kind: probe.KindGauge, Detail: true,
		Help: "How the resident set went within the window (/proc/PID/statm): base, min, mean, max, last, rise, first_half, second_half.",
	}
	// See uncertainty.
	descUncertainty = &probe.Desc{
		Name: "tidestaff.process.memory.uncertainty", Unit: "By", Kind: probe.KindGauge, Detail: true,
		Help: "How far the kernel's counts of the process's pages may be off, since it folds them per CPU in batches.",
	}
	// RssAnon, RssFile and RssShmem, which add up to VmRSS since all are from
	// one read. Linux 4.5 and newer. File pages can be dropped and read again,
	// so a rise of anon is a different thing from a rise of file.
	descStat = &probe.Desc{
		Name: "tidestaff.process.memory.stat", Unit: "By", Kind: probe.KindGauge,
		Help: "Resident set of the process by type, from /proc/PID/status: anon (heap, stacks), file (mapped files), " +
			"shmem (shared memory).",
	}
	// VmSwap. A resident set that falls while this rises has not shrunk.
	descSwap = &probe.Desc{
		Name: "tidestaff.process.memory.swap", Unit: "By", Kind: probe.KindGauge,
		Help: "Anonymous memory of the process that is in swap, not part of the resident set (VmSwap of /proc/PID/status).",
	}
	// ru_minflt and ru_majflt. A fault costs a microsecond, a major one as much
	// as a read from the disk.
	descFaults = &probe.Desc{
		Name: "tidestaff.process.paging.faults", Unit: "{fault}", Kind: probe.KindCounter,
		Help: "Page faults of the process, from getrusage or /proc/PID/stat: minor (served from memory), " +
			"major (waited for a device).",
	}
	// read_bytes and write_bytes. What the page cache answered is not in them,
	// and a written page counts when it is made dirty.
	descProcessIO = &probe.Desc{
		Name: "tidestaff.process.disk.io", Unit: "By", Kind: probe.KindCounter,
		Help: "Bytes that the process made devices read and write (read_bytes and write_bytes of /proc/PID/io).",
	}
	// runtime/metrics, /memory/classes. What the resident set has beyond these is
	// the program's text, the runtime's own tables, C and mapped files.
	descGo = &probe.Desc{
		Name: "tidestaff.go.memory.stat", Unit: "By", Kind: probe.KindGauge,
		Help: "Memory of the Go runtime by type, from runtime/metrics: live (objects not yet swept), free (kept for reuse), " +
			"released (returned to the system), stack.",
	}
	// Samples of the live bytes. They swing with each cycle of the collector, so
	// the means are what is worth a comparison.
	descGoCourse = &probe.Desc{
		Name: "tidestaff.go.memory.course", Unit: "By", Kind: probe.KindGauge, Detail: true,
		Help: "How the Go heap's live bytes went within the window: base, min, mean, max, last, rise, first_half, second_half.",
	}
)

// CPU time and quota.
var (
	// getrusage of the process, ended threads included; GetProcessTimes on
	// Windows; /proc/PID/stat in steps of 10 ms for another process.
	descCPU = &probe.Desc{
		Name: "tidestaff.process.cpu.time", Unit: "s", Kind: probe.KindCounter,
		Help:  "CPU time of the process by mode, from getrusage or /proc/PID/stat: user, system.",
		Bench: []probe.Bench{{Unit: "cpu-ns/op", Stat: "value", PerOp: true, Better: "lower"}},
	}
	// usage_usec of cpu.stat, or version 1's cpuacct.usage in nanoseconds: the
	// scheduler's own sum. The modes are estimated from the timer's ticks, in
	// version 1 in steps of 10 ms.
	descGroupCPUUsage = &probe.Desc{
		Name: "tidestaff.cgroup.cpu.usage", Unit: "s", Kind: probe.KindCounter,
		Help: "CPU time of all processes of the control group (usage_usec of cpu.stat, cpuacct.usage).",
	}
	// cpu.stat, or version 1's cpuacct.stat. It has the other processes of the
	// group, children among them, and keeps the time of those that have ended.
	descGroupCPU = &probe.Desc{
		Name: "tidestaff.cgroup.cpu.time", Unit: "s", Kind: probe.KindCounter,
		Help: "CPU time of all processes of the control group by mode, from cpu.stat or cpuacct.stat: user, system.",
	}
	// cpu.max, or version 1's cfs_quota_us by cfs_period_us. A quota of 1.5 is
	// used up by three busy threads after half of each period.
	descGroupCPULimit = &probe.Desc{
		Name: "tidestaff.cgroup.cpu.limit", Unit: "{cpu}", Kind: probe.KindGauge,
		Help: "Smallest CPU quota of the control group and of those above it that can be seen, in CPUs (cpu.max, cpu.cfs_quota_us).",
	}
	// nr_periods of cpu.stat. Periods in which nothing ran are not counted, so
	// throttled periods by periods is the share of busy periods.
	descPeriods = &probe.Desc{
		Name: "tidestaff.cgroup.cpu.periods", Unit: "{period}", Kind: probe.KindCounter,
		Help: "Periods of the CPU quota in which the control group ran (nr_periods of cpu.stat).",
	}
	// nr_throttled of cpu.stat. One of them is a stop of up to a period, 100 ms
	// by default, of everything in the group.
	descThrottled = &probe.Desc{
		Name: "tidestaff.cgroup.cpu.throttled_periods", Unit: "{period}", Kind: probe.KindCounter,
		Help: "Periods in which the control group used up its CPU quota and had to wait (nr_throttled of cpu.stat).",
	}
	// throttled_usec of cpu.stat (version 1: throttled_time), counted per CPU: on
	// two CPUs it may reach twice the window's length.
	descThrottledTime = &probe.Desc{
		Name: "tidestaff.cgroup.cpu.throttled.time", Unit: "s", Kind: probe.KindCounter,
		Help: "Time for which the control group had to wait for its next CPU quota, summed over CPUs (throttled_usec of cpu.stat).",
	}
)

// The sampler's own.
var (
	descInterval = &probe.Desc{
		Name: "tidestaff.sampler.interval", Unit: "s", Kind: probe.KindDistribution, Detail: true,
		Help: "Time between a sample and the one before it: their number and the largest gap say what sampled values may have missed.",
	}
	// The CPU time of the sampler's thread while it samples, on Linux.
	descSamplerCPU = &probe.Desc{
		Name: "tidestaff.sampler.cpu.time", Unit: "s", Kind: probe.KindCounter, Detail: true,
		Help: "CPU time that the samples took (CLOCK_THREAD_CPUTIME_ID).",
	}
)

// descs are all descriptions, in the order in which a person reads them.
var descs = []*probe.Desc{
	descRSS, descPeak, descStat, descGrowth, descSwap, descCourse, descUncertainty, descFaults, descProcessIO, descGo, descGoCourse,
	descGroupUsage, descGroupPeak, descGroupGrowth, descGroupSwap, descGroupSwapPeak, descGroupLimit, descGroupHigh,
	descGroupStat, descInactive, descWorkingSet, descUncached, descGroupCourse, descUncachedCourse, descWorkingSetCourse,
	descGroupSwapCourse, descGroupUncertainty,
	descEvents, descGroupFaults,
	descCPU, descGroupCPUUsage, descGroupCPU, descGroupCPULimit, descPeriods, descThrottled, descThrottledTime,
	descPressure, descGroupIO, descGroupIOOps, descTasks, descTasksPeak, descTasksCourse, descTasksLimit,
	descInterval, descSamplerCPU,
}
