package cgroup

import (
	"errors"
	"fmt"
	"path/filepath"

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
	} else if g.Version == 2 {
		p.add(p.openGroupCPU2(g))
	} else {
		p.add(p.openGroupCPU1(g))
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

// openMemory opens the memory controller's files, each of which may be missing
// without the others.
func (p *Probe) openMemory(g proc.Group) {
	p.add(p.openUsage(g))
	if g.Version == 2 {
		p.add(p.openPeak2(g))
		p.add(p.openLimit2(g))
		p.add(p.openStat2(g))
	} else {
		p.add(p.openPeak1(g))
		p.add(p.openStat1(g))
	}
}

// usageFile is the group's present charge.
func usageFile(g proc.Group) string {
	if g.Version == 2 {
		return filepath.Join(g.Dir, "memory.current")
	}
	return filepath.Join(g.Dir, "memory.usage_in_bytes")
}

// openUsage measures the group's charge. Version 1 counts it per CPU and may
// be off by a batch of 32 pages for each.
func (p *Probe) openUsage(g proc.Group) (*source, error) {
	s := &source{metrics: []*probe.Desc{descGroupUsage}}
	f, err := proc.Open(usageFile(g))
	if err != nil {
		return s, err
	}
	level := p.core.Gauge(descGroupUsage)
	s.gauges = []*probe.Gauge{level}
	s.close = closeAll(f)
	s.sample = func() error {
		v, err := readUint(f)
		if err == nil {
			level.Set(float64(v))
		}
		return err
	}
	return s, nil
}

func readUint(f file) (uint64, error) {
	b, err := f.Read()
	if err != nil {
		return 0, err
	}
	return proc.ParseUint(b)
}
