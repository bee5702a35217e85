package cgroup

import (
	"math"
	"time"

	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

// openLimit measures the limit that binds the group. It is often absent for a
// good reason, which may change while the probe runs: a container's limits can
// be raised and dropped. That is seldom, and each level costs a read.
func (p *Probe) openLimit(d *probe.Desc, g proc.Group, open func(proc.Group) (*proc.Limit, error)) (*source, error) {
	s := &source{decides: []*probe.Desc{d}}
	l, err := open(g)
	if err != nil {
		return s, err
	}
	gauge, none := p.core.Gauge(d), noLimit(g) // said again and again
	s.reopen, s.close, s.every = l.Reopen, l.Close, p.limitsEvery
	s.sample = func() error {
		v, err := l.Read()
		switch {
		case err != nil:
			return err
		case math.IsInf(v, 1):
			p.core.Absent(d.Name, none)
		default:
			gauge.Set(v)
			p.core.Absent(d.Name, "")
		}
		return nil
	}
	return s, nil
}

// noLimit is why a group has no limit. One above the levels that can be seen
// binds all the same.
func noLimit(g proc.Group) string {
	if g.Cut() {
		return "no limit is set at a level that can be seen; those above the mounted one bind as well and cannot be seen"
	}
	return "no limit is set"
}

// limitsEvery is the least time between two looks at limits.
const limitsEvery = 100 * time.Millisecond
