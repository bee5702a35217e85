package cgroup

import (
	"errors"
	"fmt"

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
		p.refuse(memoryDescs, err)
		p.refuse(cpuDescs, err)
		p.refuse(quotaDescs, err)
		return
	}
	if g, err := lookup(groups, "memory"); err != nil {
		p.refuse(memoryDescs, err)
	} else {
		p.openMemory(g)
	}
	if g, err := lookup(groups, "cpuacct"); err != nil {
		p.refuse(cpuDescs, err)
	} else {
		p.add(p.openGroupCPU(g))
	}
	if g, err := lookup(groups, "cpu"); err != nil {
		p.refuse(quotaDescs, err)
	} else {
		p.openQuota(g)
	}
}

// errHostRoot is why a process in the root group has no group metrics.
var errHostRoot = errors.New("the process is in the root cgroup, whose numbers are the whole machine's")

func lookup(groups *proc.Cgroups, controller string) (proc.Group, error) {
	g, err := groups.Lookup(controller)
	if err == nil && g.Scope == proc.ScopeHostRoot {
		err = fmt.Errorf("%s cgroup: %w", controller, errHostRoot)
	}
	return g, err
}
