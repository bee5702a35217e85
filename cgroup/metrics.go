package cgroup

import "github.com/tidestaff/tidestaff/probe"

// The attributes that tell the series of one metric apart.
const (
	attrProcessMemory = "tidestaff.process.memory.type"
	attrGoMemory      = "tidestaff.go.memory.type"
	attrCgroupMemory  = "tidestaff.cgroup.memory.type"
	attrCPUMode       = "cpu.mode" // OpenTelemetry's name for it
)

// The process's memory.
var (
	// VmRSS of /proc/self/status: pages of this process that are in memory,
	// shared ones included, so that those of two processes do not add up. Freed
	// Go heap stays in it until the runtime returns it, which it does slowly.
	descRSS = &probe.Desc{
		Name: "tidestaff.process.memory.usage", Unit: "By", Kind: probe.KindGauge,
		Help: "Resident set of the process (VmRSS).",
	}
	// VmHWM of /proc/self/status, read and set back at the boundaries of windows;
	// see type mark. Page cache that the process caused is not in it.
	descPeak = &probe.Desc{
		Name: "tidestaff.process.memory.peak", Unit: "By", Kind: probe.KindPeak,
		Help:  "Highest resident set of the process within the window.",
		Bench: []probe.Bench{{Unit: "peak-RSS-bytes", Stat: "value", Better: "lower"}},
	}
	// RssAnon, RssFile and RssShmem, which add up to VmRSS since all are from
	// one read. Linux 4.5 and newer. File pages can be dropped and read again,
	// so a rise of anon is a different thing from a rise of file.
	descStat = &probe.Desc{
		Name: "tidestaff.process.memory.stat", Unit: "By", Kind: probe.KindGauge,
		Help: "Resident set of the process by type: anon (heap, stacks), file (mapped files), shmem (shared memory).",
	}
	// VmSwap. A resident set that falls while this rises has not shrunk.
	descSwap = &probe.Desc{
		Name: "tidestaff.process.memory.swap", Unit: "By", Kind: probe.KindGauge,
		Help: "Anonymous memory of the process that is in swap, which is not part of the resident set.",
	}
	// runtime/metrics, /memory/classes. What the resident set has beyond these is
	// the program's text, the runtime's own tables, C and mapped files.
	descGo = &probe.Desc{
		Name: "tidestaff.go.memory.stat", Unit: "By", Kind: probe.KindGauge,
		Help: "Memory of the Go runtime by type: live (objects not yet swept), free (kept for reuse), " +
			"released (returned to the system), stack.",
	}
)

// The control group's memory.
var (
	// memory.current, or memory.usage_in_bytes in version 1. It is what is
	// compared with the limit, but page cache is dropped before anything is
	// killed: close to the limit is not yet close to the end.
	descGroupUsage = &probe.Desc{
		Name: "tidestaff.cgroup.memory.usage", Unit: "By", Kind: probe.KindGauge,
		Help: "Memory that the process's control group is charged for, page cache included.",
	}
	// memory.peak (Linux 5.19), or memory.max_usage_in_bytes in version 1; see
	// type groupPeak. Reading a large file moves it as much as allocating does.
	descGroupPeak = &probe.Desc{
		Name: "tidestaff.cgroup.memory.peak", Unit: "By", Kind: probe.KindPeak,
		Help:  "Highest memory charge of the control group within the window.",
		Bench: []probe.Bench{{Unit: "peak-cgroup-bytes", Stat: "value", Better: "lower"}},
	}
	// memory.max, or version 1's hierarchical_memory_limit. Absent if there is
	// none: the machine's memory is not a limit of the group.
	descGroupLimit = &probe.Desc{
		Name: "tidestaff.cgroup.memory.limit", Unit: "By", Kind: probe.KindGauge,
		Help: "Smallest memory limit of the control group and of those above it that can be seen.",
	}
	// memory.stat. These do not add up to the usage: the kernel has some smaller
	// types, and version 1 leaves out its own memory.
	descGroupStat = &probe.Desc{
		Name: "tidestaff.cgroup.memory.stat", Unit: "By", Kind: probe.KindGauge,
		Help: "Memory charge of the control group by type: anon, file (page cache without shmem), " +
			"shmem (tmpfs and shared memory, which cannot be dropped), kernel, sock.",
	}
)

// CPU time and quota.
var (
	// getrusage of the process, ended threads included; GetProcessTimes on
	// Windows.
	descCPU = &probe.Desc{
		Name: "tidestaff.process.cpu.time", Unit: "s", Kind: probe.KindCounter,
		Help:  "CPU time of the process by mode: user, system.",
		Bench: []probe.Bench{{Unit: "cpu-ns/op", Stat: "value", PerOp: true, Better: "lower"}},
	}
	// cpu.stat, or version 1's cpuacct.stat. It has the other processes of the
	// group, children among them, and keeps the time of those that have ended.
	descGroupCPU = &probe.Desc{
		Name: "tidestaff.cgroup.cpu.time", Unit: "s", Kind: probe.KindCounter,
		Help: "CPU time of all processes of the control group by mode: user, system.",
	}
	// cpu.max, or version 1's cfs_quota_us by cfs_period_us. A quota of 1.5 is
	// used up by three busy threads after half of each period.
	descGroupCPULimit = &probe.Desc{
		Name: "tidestaff.cgroup.cpu.limit", Unit: "{cpu}", Kind: probe.KindGauge,
		Help: "Smallest CPU quota of the control group and of those above it that can be seen, in CPUs.",
	}
	// nr_periods of cpu.stat. Periods in which nothing ran are not counted, so
	// throttled periods by periods is the share of busy periods.
	descPeriods = &probe.Desc{
		Name: "tidestaff.cgroup.cpu.periods", Unit: "{period}", Kind: probe.KindCounter,
		Help: "Periods of the CPU quota in which the control group ran.",
	}
	// nr_throttled of cpu.stat. One of them is a stop of up to a period, 100 ms
	// by default, of everything in the group.
	descThrottled = &probe.Desc{
		Name: "tidestaff.cgroup.cpu.throttled_periods", Unit: "{period}", Kind: probe.KindCounter,
		Help: "Periods in which the control group used up its CPU quota and had to wait.",
	}
	// throttled_usec of cpu.stat (version 1: throttled_time), counted per CPU: on
	// two CPUs it may reach twice the window's length.
	descThrottledTime = &probe.Desc{
		Name: "tidestaff.cgroup.cpu.throttled.time", Unit: "s", Kind: probe.KindCounter,
		Help: "Time for which the control group had to wait for its next CPU quota, summed over CPUs.",
	}
)

// descs are all descriptions, in the order in which a person reads them.
var descs = []*probe.Desc{
	descRSS, descPeak, descStat, descSwap, descGo,
	descGroupUsage, descGroupPeak, descGroupLimit, descGroupStat,
	descCPU, descGroupCPU, descGroupCPULimit, descPeriods, descThrottled, descThrottledTime,
}
