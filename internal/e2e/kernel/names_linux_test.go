package kernel

// The metrics of package cgroup, by the names under which reports have them.
const (
	processPeak  = "tidestaff.process.memory.peak"
	processRSS   = "tidestaff.process.memory.usage"
	groupUsage   = "tidestaff.cgroup.memory.usage"
	groupPeak    = "tidestaff.cgroup.memory.peak"
	groupGrowth  = "tidestaff.cgroup.memory.growth"
	groupEvents  = "tidestaff.cgroup.memory.events"
	groupIO      = "tidestaff.cgroup.disk.io"
	groupIOOps   = "tidestaff.cgroup.disk.operations"
	processIO    = "tidestaff.process.disk.io"
	pressure     = "tidestaff.cgroup.pressure.stall.time"
	tasks        = "tidestaff.cgroup.pids.usage"
	tasksPeak    = "tidestaff.cgroup.pids.peak"
	tasksLimit   = "tidestaff.cgroup.pids.limit"
	groupLimit   = "tidestaff.cgroup.memory.limit"
	groupStat    = "tidestaff.cgroup.memory.stat"
	groupCPU     = "tidestaff.cgroup.cpu.time"
	cpuUsage     = "tidestaff.cgroup.cpu.usage"
	cpuLimit     = "tidestaff.cgroup.cpu.limit"
	cpuPeriods   = "tidestaff.cgroup.cpu.periods"
	cpuThrottled = "tidestaff.cgroup.cpu.throttled_periods"
	cpuStopped   = "tidestaff.cgroup.cpu.throttled.time"
)

// The methods of peaks, by the names under which provenances have them.
const (
	markReset = "VmHWM reset"
	peakReset = "memory.peak reset"
	peakRose  = "memory.peak rose"
	maxRose   = "memory.max_usage_in_bytes rose"
)
