package cgroup

import (
	"errors"
	"math"
	"path/filepath"
	"time"

	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

var cpu2Keys = []string{"user_usec", "system_usec"}

func (p *Probe) newModes(unit time.Duration) (user, system *tally) {
	of := func(mode string) *tally {
		return &tally{
			counter: p.core.Counter(descGroupCPU, probe.Attr{Key: attrCPUMode, Value: mode}),
			unit:    uint64(unit),
		}
	}
	return of("user"), of("system")
}

// openGroupCPU2 measures the group's CPU time from cpu.stat, which every
// version 2 group has, with or without the cpu controller.
func (p *Probe) openGroupCPU2(g proc.Group) (*source, error) {
	return p.openModes(filepath.Join(g.Dir, "cpu.stat"), cpu2Keys, time.Microsecond)
}

// openGroupCPU1 does it from version 1's cpuacct.stat, which counts in steps of
// 10 ms. cpuacct.usage is finer and does not tell the modes apart.
func (p *Probe) openGroupCPU1(g proc.Group) (*source, error) {
	return p.openModes(filepath.Join(g.Dir, "cpuacct.stat"), []string{"user", "system"}, 10*time.Millisecond)
}

func (p *Probe) openModes(name string, keys []string, unit time.Duration) (*source, error) {
	s := &source{metrics: cpuDescs}
	f, err := proc.Open(name)
	if err != nil {
		return s, err
	}
	s.close = closeAll(f)
	var v [2]proc.Value
	read := func() error {
		b, err := f.Read()
		if err == nil {
			err = proc.ParseFlat(b, keys, v[:])
		}
		if err == nil && !(v[0].OK && v[1].OK) {
			err = errors.New(name + " has no time in user and system mode")
		}
		return err
	}
	if err := read(); err != nil {
		s.close()
		return s, err // before a counter exists: one that is never fed reads 0
	}
	user, system := p.newModes(unit)
	s.sample = func() error {
		err := read()
		if err == nil {
			user.set(v[0].V)
			system.set(v[1].V)
		}
		return err
	}
	return s, nil
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

// openCPULimit2 measures the smallest quota of the group and of those above it.
func (p *Probe) openCPULimit2(g proc.Group) (*source, error) {
	s := &source{metrics: []*probe.Desc{descGroupCPULimit}}
	files, err := openLevels(g, "cpu.max")
	if err != nil {
		return s, err
	}
	l := p.newLimit(descGroupCPULimit)
	s.gauges = []*probe.Gauge{l.gauge}
	s.close = closeAll(files...)
	s.sample = func() error {
		least := math.Inf(1)
		for _, f := range files {
			b, err := f.Read()
			if err != nil {
				return err
			}
			m, err := proc.ParseCPUMax(b)
			if err != nil {
				return err
			}
			if m.Limited {
				least = min(least, m.CPUs())
			}
		}
		l.set(least, !math.IsInf(least, 1))
		return nil
	}
	return s, nil
}

// openCPULimit1 does it from version 1's two files a level.
func (p *Probe) openCPULimit1(g proc.Group) (*source, error) {
	s := &source{metrics: []*probe.Desc{descGroupCPULimit}}
	quotas, err := openLevels(g, "cpu.cfs_quota_us")
	if err != nil {
		return s, err
	}
	periods, err := openLevels(g, "cpu.cfs_period_us")
	if err == nil && len(periods) != len(quotas) {
		closeAll(periods...)()
		err = errors.New("cpu cgroup: quotas without periods")
	}
	if err != nil {
		closeAll(quotas...)()
		return s, err
	}
	l := p.newLimit(descGroupCPULimit)
	s.gauges = []*probe.Gauge{l.gauge}
	s.close = closeAll(append(periods, quotas...)...)
	s.sample = func() error {
		least := math.Inf(1)
		for i := range quotas {
			cpus, err := cfs(quotas[i], periods[i])
			if err != nil {
				return err
			}
			least = min(least, cpus)
		}
		l.set(least, !math.IsInf(least, 1))
		return nil
	}
	return s, nil
}

// cfs is a version 1 quota in CPUs, +Inf if there is none, which is written -1.
func cfs(quota, period file) (float64, error) {
	b, err := quota.Read()
	if err != nil {
		return 0, err
	}
	q, err := proc.ParseInt(b)
	if err != nil || q < 0 {
		return math.Inf(1), err
	}
	d, err := readUint(period)
	if err != nil || d == 0 {
		return math.Inf(1), err
	}
	return float64(q) / float64(d), nil
}

// openThrottling measures periods and throttling from cpu.stat. The kernel
// counts periods only while the group itself has a quota; until it has counted
// one, the three metrics are absent rather than a zero that looks like "not
// throttled": the quota may be a level higher, which has its own count.
func (p *Probe) openThrottling(g proc.Group, timeKey string, unit time.Duration) (*source, error) {
	s := &source{metrics: []*probe.Desc{descPeriods, descThrottled, descThrottledTime}}
	f, err := proc.Open(filepath.Join(g.Dir, "cpu.stat"))
	if err != nil {
		return s, err
	}
	s.close = closeAll(f)
	keys := []string{"nr_periods", "nr_throttled", timeKey}
	var v [3]proc.Value
	var tallies []*tally
	refused := false
	s.sample = func() error {
		b, err := f.Read()
		if err == nil {
			err = proc.ParseFlat(b, keys, v[:])
		}
		switch {
		case err != nil:
			return err
		case !v[0].OK || !v[1].OK || !v[2].OK:
			return errors.New("cpu.stat counts no periods: the group has no CPU quota")
		case v[0].V == 0:
			if !refused {
				p.refuse(s.metrics, errNoPeriod)
				refused = true
			}
			return nil
		case tallies == nil:
			tallies = p.newThrottling(s.metrics, unit)
		}
		for i, t := range tallies {
			t.set(v[i].V)
		}
		return nil
	}
	return s, nil
}

var errNoPeriod = errors.New("the group has had no CPU quota so far")

func (p *Probe) newThrottling(ds []*probe.Desc, unit time.Duration) []*tally {
	tallies := make([]*tally, 0, len(ds))
	for _, d := range ds {
		p.core.Absent(d.Name, "")
		tallies = append(tallies, &tally{counter: p.core.Counter(d), unit: 1})
	}
	tallies[2].unit = uint64(unit)
	return tallies
}
