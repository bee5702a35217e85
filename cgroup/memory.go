package cgroup

import (
	"path/filepath"

	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

// openMemory opens the memory controller's files, each of which may be missing
// without the others.
func (p *Probe) openMemory(g proc.Group) {
	usage := new(charge)
	p.add(p.openUsage(g, usage)) // before the split, which needs it
	p.add(p.openHigh(g))
	p.add(p.openOOM(g))
	p.core.Gauge(descGroupUncertainty).Set(groupUncertainty(cpus(p.opts.Root)))
	if g.Version == 2 {
		p.add(p.openLimit(descGroupLimit, g, proc.OpenMemoryLimit))
		p.add(p.openPeak2(g, usage))
		swap := new(charge)
		p.add(p.openSwap(g, swap))
		p.add(p.openSwapPeak(g, swap))
		p.add(p.openStat2(g, usage))
	} else {
		p.list([]*probe.Desc{descGroupSwapPeak}, proc.ErrNotInVersion1)
		p.add(p.openPeak1(g, usage))
		p.add(p.openStat1(g, usage))
	}
}

// usageFile is the group's present charge.
func usageFile(g proc.Group) string {
	if g.Version == 2 {
		return filepath.Join(g.Dir, "memory.current")
	}
	return filepath.Join(g.Dir, "memory.usage_in_bytes")
}

// A charge is a level of a group, as it was last read.
type charge struct {
	bytes uint64 // or tasks
	err   error
}

// openUsage measures the group's charge, also between boundaries. Version 1
// counts it per CPU; see groupUncertainty.
func (p *Probe) openUsage(g proc.Group, last *charge) (*source, error) {
	s, err := p.openLevel(descGroupUsage, descGroupCourse, descGroupPeak, usageFile(g), last)
	s.metrics = append(s.metrics, descGroupUncertainty)
	s.tick, s.rich = s.sample, false
	return s, err
}

// openHigh measures memory.high, which version 1 does not have.
func (p *Probe) openHigh(g proc.Group) (*source, error) {
	return p.openLimit(descGroupHigh, g, proc.OpenMemoryHigh)
}

// openSwap measures version 2's swap. The file is missing where the kernel was
// built without swap, or started with swapaccount=0.
func (p *Probe) openSwap(g proc.Group, last *charge) (*source, error) {
	return p.openLevel(descGroupSwap, descGroupSwapCourse, descGroupSwapPeak, filepath.Join(g.Dir, "memory.swap.current"), last)
}

// openLevel measures a level that is a file's one number, its course, and its
// peak as far as looks at the level tell. What was read is left in last for the
// sources of the same boundary.
func (p *Probe) openLevel(d, course, peak *probe.Desc, name string, last *charge) (*source, error) {
	gauge, highest := p.core.Gauge(d), p.core.Peak(peak)
	gauge.Course(course)
	s, err := text(name, func(b []byte) (err error) {
		if last.bytes, err = proc.ParseUint(b); err == nil {
			// The peak first: a reading at this instant has no level above it.
			highest.Sample(level(last.bytes))
			gauge.Set(float64(last.bytes))
		}
		return err
	})
	s.metrics, s.rich = []*probe.Desc{d, course}, true
	if err != nil {
		last.err = err
		return s, err
	}
	read := s.sample
	s.sample = func() error {
		last.err = read()
		return last.err
	}
	return s, nil
}
