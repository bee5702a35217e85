package cgroup

import (
	"math"

	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

// openLimit measures the limit that binds the group. It is often absent for a
// good reason, which may change while the probe runs: a container's limits can
// be raised and dropped.
func (p *Probe) openLimit(d *probe.Desc, g proc.Group, open func(proc.Group) (*proc.Limit, error)) (*source, error) {
	s := &source{decides: []*probe.Desc{d}}
	l, err := open(g)
	if err != nil {
		return s, err
	}
	gauge := p.core.Gauge(d)
	s.reopen, s.close = l.Reopen, l.Close
	s.sample = func() error {
		v, err := l.Read()
		switch {
		case err != nil:
			return err
		case math.IsInf(v, 1):
			p.core.Absent(d.Name, "no limit is set")
		default:
			gauge.Set(v)
			p.core.Absent(d.Name, "")
		}
		return nil
	}
	return s, nil
}
