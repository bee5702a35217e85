package cgroup

import (
	"errors"
	"io/fs"
	"math"
	"path/filepath"

	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

// A limit is a gauge that is often absent for a good reason, which may change
// while the probe runs: a container's limits can be raised and dropped.
type limit struct {
	core  *probe.Core
	desc  *probe.Desc
	gauge *probe.Gauge
	known bool // the list of absent metrics agrees with ok
	ok    bool // there is a limit
}

func (p *Probe) newLimit(d *probe.Desc) *limit {
	return &limit{core: &p.core, desc: d, gauge: p.core.Gauge(d)}
}

// set sets the gauge; +Inf is no limit. The list of absent metrics is touched
// only when that changes, since it takes a lock and memory.
func (l *limit) set(v float64) {
	ok := !math.IsInf(v, 1)
	if !ok {
		v = math.NaN()
	}
	l.gauge.Set(v)
	if l.known && l.ok == ok {
		return
	}
	l.known, l.ok = true, ok
	why := ""
	if !ok {
		why = "no limit is set"
	}
	l.core.Absent(l.desc.Name, why)
}

// smallest makes a source of a limit that is the smallest of several levels'.
// at gives that of one level.
func (p *Probe) smallest(d *probe.Desc, levels int, at func(level int) (float64, error)) *source {
	l := p.newLimit(d)
	return &source{
		metrics: []*probe.Desc{d},
		gauges:  []*probe.Gauge{l.gauge},
		sample: func() error {
			least := math.Inf(1)
			for i := range levels {
				v, err := at(i)
				if err != nil {
					return err
				}
				least = min(least, v)
			}
			l.set(least)
			return nil
		},
	}
}

// openLevels opens one file in the group's folder and in those above it that
// have it, since a limit at any level binds. In many containers the leaf's own
// is "max" and the pod's, one level up, is the one that kills. Levels above a
// namespace's root bind as well and cannot be seen.
func openLevels(g proc.Group, name string) ([]*proc.File, error) {
	var files []*proc.File
	for _, dir := range g.Dirs() {
		f, err := proc.Open(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) && dir != g.Dir {
			continue // the true root has no limits
		}
		if err != nil {
			closeAll(files...)()
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// openMemoryLimit2 measures version 2's memory limit. Version 1 has it in
// memory.stat; see openStat1.
func (p *Probe) openMemoryLimit2(g proc.Group) (*source, error) {
	files, err := openLevels(g, "memory.max")
	if err != nil {
		return &source{metrics: []*probe.Desc{descGroupLimit}}, err
	}
	s := p.smallest(descGroupLimit, len(files), func(i int) (float64, error) {
		b, err := files[i].Read()
		if err != nil {
			return 0, err
		}
		v, err := proc.ParseLimit(b)
		if err != nil || !v.OK {
			return math.Inf(1), err
		}
		return float64(v.V), nil
	})
	s.close = closeAll(files...)
	return s, nil
}

// openCPULimit2 measures version 2's CPU quota.
func (p *Probe) openCPULimit2(g proc.Group) (*source, error) {
	files, err := openLevels(g, "cpu.max")
	if err != nil {
		return &source{metrics: []*probe.Desc{descGroupCPULimit}}, err
	}
	s := p.smallest(descGroupCPULimit, len(files), func(i int) (float64, error) {
		b, err := files[i].Read()
		if err != nil {
			return 0, err
		}
		m, err := proc.ParseCPUMax(b)
		if err != nil || !m.Limited {
			return math.Inf(1), err
		}
		return m.CPUs(), nil
	})
	s.close = closeAll(files...)
	return s, nil
}

// openCPULimit1 measures version 1's CPU quota, which is two files a level.
func (p *Probe) openCPULimit1(g proc.Group) (*source, error) {
	quotas, err := openLevels(g, "cpu.cfs_quota_us")
	if err != nil {
		return &source{metrics: []*probe.Desc{descGroupCPULimit}}, err
	}
	periods, err := openLevels(g, "cpu.cfs_period_us")
	if err == nil && len(periods) != len(quotas) {
		err = errors.New("cpu cgroup: quotas without periods")
	}
	shut := closeAll(append(periods, quotas...)...)
	if err != nil {
		shut()
		return &source{metrics: []*probe.Desc{descGroupCPULimit}}, err
	}
	s := p.smallest(descGroupCPULimit, len(quotas), func(i int) (float64, error) {
		return cfs(quotas[i], periods[i])
	})
	s.close = shut
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
