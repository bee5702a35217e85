package cgroup

import "github.com/tidestaff/tidestaff/probe"

// The control group's memory.
var (
	// memory.current, or memory.usage_in_bytes in version 1. It is what is
	// compared with the limit, but page cache is dropped before anything is
	// killed: close to the limit is not yet close to the end.
	descGroupUsage = &probe.Desc{
		Name: "tidestaff.cgroup.memory.usage", Unit: "By", Kind: probe.KindGauge,
		Help: "Memory that the process's control group is charged for, page cache included (memory.current, memory.usage_in_bytes).",
	}
	// memory.peak (Linux 5.19), or memory.max_usage_in_bytes in version 1; see
	// type groupPeak. Reading a large file moves it as much as allocating does.
	descGroupPeak = &probe.Desc{
		Name: "tidestaff.cgroup.memory.peak", Unit: "By", Kind: probe.KindPeak,
		Help:  "Highest memory charge of the control group within the window (memory.peak, memory.max_usage_in_bytes).",
		Bench: []probe.Bench{{Unit: "peak-cgroup-bytes", Stat: "value", Better: "lower"}},
	}
	descGroupGrowth = &probe.Desc{
		Name: "tidestaff.cgroup.memory.growth", Unit: "By", Kind: probe.KindPeak,
		Help: "Peak of the control group's charge over its charge at the start of the window (memory.peak, memory.max_usage_in_bytes).",
	}
	// memory.swap.current, or version 1's total_swap, which is what it means
	// there too: memsw counts memory and swap together.
	descGroupSwap = &probe.Desc{
		Name: "tidestaff.cgroup.memory.swap", Unit: "By", Kind: probe.KindGauge,
		Help: "Memory of the control group that is in swap (memory.swap.current, total_swap of memory.stat).",
	}
	descGroupSwapPeak = &probe.Desc{
		Name: "tidestaff.cgroup.memory.swap.peak", Unit: "By", Kind: probe.KindPeak,
		Help: "Highest use of swap by the control group within the window (memory.swap.peak).",
	}
	// memory.max, or version 1's hierarchical_memory_limit. Absent if there is
	// none: the machine's memory is not a limit of the group.
	descGroupLimit = &probe.Desc{
		Name: "tidestaff.cgroup.memory.limit", Unit: "By", Kind: probe.KindGauge,
		Help: "Smallest memory limit of the control group and of those above it that can be seen " +
			"(memory.max, hierarchical_memory_limit of memory.stat).",
	}
	// Above it the group's processes are slowed down and made to reclaim.
	descGroupHigh = &probe.Desc{
		Name: "tidestaff.cgroup.memory.high", Unit: "By", Kind: probe.KindGauge,
		Help: "Smallest memory.high, above which processes are slowed down, of the control group and of those above it that can be seen.",
	}
	// memory.stat. These do not add up to the usage: the kernel has some smaller
	// types, and version 1 leaves out its own memory.
	descGroupStat = &probe.Desc{
		Name: "tidestaff.cgroup.memory.stat", Unit: "By", Kind: probe.KindGauge,
		Help: "Memory charge of the control group by type, from memory.stat: anon, file (page cache without shmem), " +
			"shmem (tmpfs and shared memory, which cannot be dropped), kernel, sock.",
	}
	// A part of file.
	descInactive = &probe.Desc{
		Name: "tidestaff.cgroup.memory.inactive_file", Unit: "By", Kind: probe.KindGauge,
		Help: "Page cache of the control group that was not used lately (inactive_file or total_inactive_file of memory.stat).",
	}
	// What Kubernetes evicts by. It has the active page cache in it, which can
	// be dropped as well, so it is an upper bound of what is needed.
	descWorkingSet = &probe.Desc{
		Name: "tidestaff.cgroup.memory.working_set", Unit: "By", Kind: probe.KindGauge,
		Help: "Memory charge of the control group without page cache that was not used lately (usage - inactive_file).",
	}
	// What cannot be dropped, and so what may leak.
	descUncached = &probe.Desc{
		Name: "tidestaff.cgroup.memory.uncached", Unit: "By", Kind: probe.KindGauge,
		Help: "Memory charge of the control group apart from page cache (usage - file, shmem kept, from memory.stat).",
	}
	descGroupCourse = &probe.Desc{
		Name: "tidestaff.cgroup.memory.course", Unit: "By", Kind: probe.KindGauge, Detail: true,
		Help: "How the control group's usage went within the window: base, min, mean, max, last, rise, first_half, second_half.",
	}
	descUncachedCourse = &probe.Desc{
		Name: "tidestaff.cgroup.memory.uncached.course", Unit: "By", Kind: probe.KindGauge, Detail: true,
		Help: "How the control group's charge apart from page cache went within the window: base, min, mean, max, last, rise, " +
			"first_half, second_half.",
	}
	descWorkingSetCourse = &probe.Desc{
		Name: "tidestaff.cgroup.memory.working_set.course", Unit: "By", Kind: probe.KindGauge, Detail: true,
		Help: "How the control group's working set went within the window: base, min, mean, max, last, rise, first_half, second_half.",
	}
	descGroupSwapCourse = &probe.Desc{
		Name: "tidestaff.cgroup.memory.swap.course", Unit: "By", Kind: probe.KindGauge, Detail: true,
		Help: "How the control group's swap went within the window: base, min, mean, max, last, rise, first_half, second_half.",
	}
	descGroupUncertainty = &probe.Desc{
		Name: "tidestaff.cgroup.memory.uncertainty", Unit: "By", Kind: probe.KindGauge, Detail: true,
		Help: "How far the control group's charge may be above what is used, since each CPU charges in batches.",
	}
	// memory.events, groups below included. Version 1 has max as memory.failcnt
	// and oom_kill in memory.oom_control (Linux 4.13).
	descEvents = &probe.Desc{
		Name: "tidestaff.cgroup.memory.events", Unit: "{event}", Kind: probe.KindCounter,
		Help: "Times that the control group met its memory limits, by event: high, max, oom, oom_kill " +
			"(memory.events, memory.failcnt, memory.oom_control).",
	}
	descGroupFaults = &probe.Desc{
		Name: "tidestaff.cgroup.paging.faults", Unit: "{fault}", Kind: probe.KindCounter,
		Help: "Page faults of the control group: minor, major (pgfault and pgmajfault of memory.stat).",
	}
)

// Waiting, IO and tasks of the control group.
var (
	// The total of each line, which grows while somebody waits, so that a window
	// has its own; the kernel's averages are of time that no window chose.
	descPressure = &probe.Desc{
		Name: "tidestaff.cgroup.pressure.stall.time", Unit: "s", Kind: probe.KindCounter,
		Help: "Time in which some or all (full) tasks of the control group waited for a resource: cpu, memory, io " +
			"(total of cpu.pressure, memory.pressure, io.pressure).",
	}
	descGroupIO = &probe.Desc{
		Name: "tidestaff.cgroup.disk.io", Unit: "By", Kind: probe.KindCounter,
		Help: "Bytes that devices read and wrote for the control group (io.stat, blkio.throttle.io_service_bytes).",
	}
	descGroupIOOps = &probe.Desc{
		Name: "tidestaff.cgroup.disk.operations", Unit: "{operation}", Kind: probe.KindCounter,
		Help: "Reads and writes that devices did for the control group (io.stat, blkio.throttle.io_serviced).",
	}
	descTasks = &probe.Desc{
		Name: "tidestaff.cgroup.pids.usage", Unit: "{thread}", Kind: probe.KindGauge,
		Help: "Tasks, which are threads, in the control group (pids.current).",
	}
	descTasksCourse = &probe.Desc{
		Name: "tidestaff.cgroup.pids.course", Unit: "{thread}", Kind: probe.KindGauge, Detail: true,
		Help: "How the number of tasks went within the window: base, min, mean, max, last, rise, first_half, second_half.",
	}
	descTasksPeak = &probe.Desc{
		Name: "tidestaff.cgroup.pids.peak", Unit: "{thread}", Kind: probe.KindPeak,
		Help: "Most tasks in the control group within the window (pids.peak, which nobody can set back).",
	}
	descTasksLimit = &probe.Desc{
		Name: "tidestaff.cgroup.pids.limit", Unit: "{thread}", Kind: probe.KindGauge,
		Help: "Smallest limit of tasks of the control group and of those above it that can be seen (pids.max).",
	}
)
