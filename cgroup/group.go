package cgroup

import (
	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

// The metrics of the control group by the controller that they come from.
var (
	memoryDescs = []*probe.Desc{
		descGroupUsage, descGroupPeak, descGroupGrowth, descGroupSwap, descGroupSwapPeak, descGroupLimit, descGroupHigh,
		descGroupStat, descInactive, descWorkingSet, descUncached, descGroupCourse, descUncachedCourse, descWorkingSetCourse, descGroupSwapCourse,
		descGroupUncertainty, descEvents, descGroupFaults,
	}
	cpuDescs        = []*probe.Desc{descGroupCPUUsage, descGroupCPU}
	throttlingDescs = []*probe.Desc{descPeriods, descThrottled, descThrottledTime}
	quotaDescs      = []*probe.Desc{descGroupCPULimit, descPeriods, descThrottled, descThrottledTime}
	ioDescs         = []*probe.Desc{descGroupIO, descGroupIOOps}
	taskDescs       = []*probe.Desc{descTasks, descTasksPeak, descTasksCourse, descTasksLimit}
	pressureDescs   = []*probe.Desc{descPressure}
)

// openGroup opens the control group of each controller. They may differ: on a
// hybrid host memory may be version 1 and the rest version 2.
func (p *Probe) openGroup(groups *proc.Cgroups, err error) {
	if p.place != nil {
		p.place.groups = listGroups(groups, err)
	}
	find := func(controller string, ds []*probe.Desc) (proc.Group, bool) {
		if err != nil {
			p.list(ds, err)
			return proc.Group{}, false
		}
		g, err := groups.LookupOwn(controller)
		if err != nil {
			p.list(ds, err)
		}
		return g, err == nil
	}
	if g, ok := find("memory", memoryDescs); ok {
		p.openMemory(g)
	}
	p.openGroupCPU(find)
	io := "io"
	if err == nil && groups.InVersion1("blkio") { // its name there
		io = "blkio"
	}
	if g, ok := find(io, ioDescs); ok {
		p.add(p.openIO(g))
	}
	if g, ok := find("pids", taskDescs); ok {
		p.openTasks(g)
	}
	if g, ok := find("", pressureDescs); ok {
		p.add(p.openPressure(g))
	}
}

// openGroupCPU opens CPU time and quota. In version 2 one file has both, whose
// second part is there only with the cpu controller.
func (p *Probe) openGroupCPU(find func(string, []*probe.Desc) (proc.Group, bool)) {
	quota, limited := find("cpu", quotaDescs)
	if limited {
		p.add(p.openLimit(descGroupCPULimit, quota, proc.OpenCPULimit))
	}
	usage, ok := find("cpuacct", cpuDescs)
	both := ok && limited && usage.Version == 2 && quota.Version == 2
	switch {
	case ok && usage.Version == 2:
		p.add(p.openCPU2(usage, both))
	case ok:
		p.openCPU1(usage)
	}
	if limited && !both {
		p.add(p.openThrottling(quota))
	}
}
