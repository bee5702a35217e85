package cgroup

import (
	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

// The metrics of the control group by the controller that they come from.
var (
	memoryDescs = []*probe.Desc{descGroupUsage, descGroupPeak, descGroupLimit, descGroupStat}
	cpuDescs    = []*probe.Desc{descGroupCPU}
	quotaDescs  = []*probe.Desc{descGroupCPULimit, descPeriods, descThrottled, descThrottledTime}
)

// openGroup finds the control group of each controller. They may differ: on a
// hybrid host memory may be version 1 and the rest version 2.
func (p *Probe) openGroup() {
	groups, err := proc.Detect(p.opts.Root)
	if err != nil {
		p.list(memoryDescs, err)
		p.list(cpuDescs, err)
		p.list(quotaDescs, err)
		return
	}
	if g, err := groups.LookupOwn("memory"); err != nil {
		p.list(memoryDescs, err)
	} else {
		p.openMemory(g)
	}
	if g, err := groups.LookupOwn("cpuacct"); err != nil {
		p.list(cpuDescs, err)
	} else {
		p.add(p.openGroupCPU(g))
	}
	if g, err := groups.LookupOwn("cpu"); err != nil {
		p.list(quotaDescs, err)
	} else {
		p.add(p.openLimit(descGroupCPULimit, g, proc.OpenCPULimit))
		p.add(p.openThrottling(g))
	}
}
