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
	descRSS = &probe.Desc{
		Name: "tidestaff.process.memory.usage", Unit: "By", Kind: probe.KindGauge,
		Help: "Resident set of the process (VmRSS).",
	}
	descPeak = &probe.Desc{
		Name: "tidestaff.process.memory.peak", Unit: "By", Kind: probe.KindPeak,
		Help:  "Highest resident set of the process within the window.",
		Bench: []probe.Bench{{Unit: "peak-RSS-bytes", Stat: "value", Better: "lower"}},
	}
	descStat = &probe.Desc{
		Name: "tidestaff.process.memory.stat", Unit: "By", Kind: probe.KindGauge,
		Help: "Resident set of the process by type: anon (heap, stacks), file (mapped files), shmem (shared memory).",
	}
	descSwap = &probe.Desc{
		Name: "tidestaff.process.memory.swap", Unit: "By", Kind: probe.KindGauge,
		Help: "Anonymous memory of the process that is in swap, which is not part of the resident set.",
	}
	descGo = &probe.Desc{
		Name: "tidestaff.go.memory.stat", Unit: "By", Kind: probe.KindGauge,
		Help: "Memory of the Go runtime by type: live (objects not yet swept), free (kept for reuse), " +
			"released (returned to the system), stack.",
	}
)

// The control group's memory.
var (
	descGroupUsage = &probe.Desc{
		Name: "tidestaff.cgroup.memory.usage", Unit: "By", Kind: probe.KindGauge,
		Help: "Memory that the process's control group is charged for, page cache included.",
	}
	descGroupPeak = &probe.Desc{
		Name: "tidestaff.cgroup.memory.peak", Unit: "By", Kind: probe.KindPeak,
		Help:  "Highest memory charge of the control group within the window.",
		Bench: []probe.Bench{{Unit: "peak-cgroup-bytes", Stat: "value", Better: "lower"}},
	}
	descGroupLimit = &probe.Desc{
		Name: "tidestaff.cgroup.memory.limit", Unit: "By", Kind: probe.KindGauge,
		Help: "Smallest memory limit of the control group and of those above it that can be seen.",
	}
	descGroupStat = &probe.Desc{
		Name: "tidestaff.cgroup.memory.stat", Unit: "By", Kind: probe.KindGauge,
		Help: "Memory charge of the control group by type: anon, file (page cache without shmem), " +
			"shmem (tmpfs and shared memory, which cannot be dropped), kernel, sock.",
	}
)

// CPU time and quota.
var (
	descCPU = &probe.Desc{
		Name: "tidestaff.process.cpu.time", Unit: "s", Kind: probe.KindCounter,
		Help:  "CPU time of the process by mode: user, system.",
		Bench: []probe.Bench{{Unit: "cpu-ns/op", Stat: "value", PerOp: true, Better: "lower"}},
	}
	descGroupCPU = &probe.Desc{
		Name: "tidestaff.cgroup.cpu.time", Unit: "s", Kind: probe.KindCounter,
		Help: "CPU time of all processes of the control group by mode: user, system.",
	}
	descGroupCPULimit = &probe.Desc{
		Name: "tidestaff.cgroup.cpu.limit", Unit: "{cpu}", Kind: probe.KindGauge,
		Help: "Smallest CPU quota of the control group and of those above it that can be seen, in CPUs.",
	}
	descPeriods = &probe.Desc{
		Name: "tidestaff.cgroup.cpu.periods", Unit: "{period}", Kind: probe.KindCounter,
		Help: "Periods of the CPU quota in which the control group ran.",
	}
	descThrottled = &probe.Desc{
		Name: "tidestaff.cgroup.cpu.throttled_periods", Unit: "{period}", Kind: probe.KindCounter,
		Help: "Periods in which the control group used up its CPU quota and had to wait.",
	}
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
