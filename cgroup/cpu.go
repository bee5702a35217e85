package cgroup

import (
	"errors"
	"path/filepath"
	"time"

	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

// openGroupCPU measures the group's CPU time. Every version 2 group has it in
// cpu.stat, with or without the cpu controller, in microseconds. Version 1 has
// it in cpuacct.stat, in steps of 10 ms.
//
// Note: version 1's cpuacct.usage is finer and does not tell the modes apart,
// and the files that do are not there before Linux 4.7. A window in which 10 ms
// matter is a benchmark's, which has the process's own time.
func (p *Probe) openGroupCPU(g proc.Group) (*source, error) {
	if g.Version == 2 {
		return p.openModes(filepath.Join(g.Dir, "cpu.stat"), []string{"user_usec", "system_usec"}, time.Microsecond)
	}
	return p.openModes(filepath.Join(g.Dir, "cpuacct.stat"), []string{"user", "system"}, 10*time.Millisecond)
}

// openModes opens a file of time in user and in system mode. The counters are
// made when the first numbers are there: one that is never fed reads zero.
func (p *Probe) openModes(name string, keys []string, unit time.Duration) (*source, error) {
	var modes []*tally
	s, err := flat(name, keys, func(v []proc.Value) error {
		if !v[0].OK || !v[1].OK {
			return errors.New(name + " has no time in user and system mode")
		}
		if modes == nil {
			for _, mode := range []string{"user", "system"} {
				c := p.core.Counter(descGroupCPU, probe.Attr{Key: attrCPUMode, Value: mode})
				modes = append(modes, &tally{counter: c, unit: uint64(unit)})
			}
		}
		modes[0].set(v[0].V)
		modes[1].set(v[1].V)
		return nil
	})
	s.metrics = cpuDescs
	return s, err
}

// openQuota opens what there is to know of the group's CPU quota: the limit,
// and what it took away.
func (p *Probe) openQuota(g proc.Group) {
	if g.Version == 2 {
		p.add(p.openCPULimit2(g))
		p.add(p.openThrottling(g, "throttled_usec", time.Microsecond))
	} else {
		p.add(p.openCPULimit1(g))
		p.add(p.openThrottling(g, "throttled_time", time.Nanosecond))
	}
}

// openThrottling measures periods and throttling from cpu.stat. The kernel
// counts periods only while the group itself has a quota; until it has counted
// one, the three metrics are absent rather than a zero that looks like "not
// throttled": the quota may be a level higher, which has its own count.
//
// The time is the sum over CPUs, so it may exceed the window, and it is added
// when a throttled period ends, up to a period late.
func (p *Probe) openThrottling(g proc.Group, timeKey string, unit time.Duration) (*source, error) {
	ds := []*probe.Desc{descPeriods, descThrottled, descThrottledTime}
	var tallies []*tally
	refused := false
	s, err := flat(filepath.Join(g.Dir, "cpu.stat"), []string{"nr_periods", "nr_throttled", timeKey}, func(v []proc.Value) error {
		switch {
		case !v[0].OK || !v[1].OK || !v[2].OK:
			return errors.New("cpu.stat counts no periods")
		case v[0].V == 0 && !refused:
			p.refuse(ds, errors.New("the group has had no CPU quota so far"))
			refused = true
			return nil
		case v[0].V == 0:
			return nil
		case tallies == nil:
			tallies = p.newThrottling(ds, unit)
		}
		for i, t := range tallies {
			t.set(v[i].V)
		}
		return nil
	})
	s.metrics = ds
	return s, err
}

// newThrottling makes the counters when there is something to count.
func (p *Probe) newThrottling(ds []*probe.Desc, unit time.Duration) []*tally {
	tallies := make([]*tally, 0, len(ds))
	for _, d := range ds {
		p.core.Absent(d.Name, "")
		tallies = append(tallies, &tally{counter: p.core.Counter(d), unit: 1})
	}
	tallies[2].unit = uint64(unit)
	return tallies
}
