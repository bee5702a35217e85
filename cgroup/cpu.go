package cgroup

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

// openCPU2 counts CPU time from cpu.stat, which every version 2 group has, with
// or without the cpu controller, in microseconds. With the controller it has the
// throttling too.
func (p *Probe) openCPU2(g proc.Group, throttling bool) (*source, error) {
	c, name := newGroupCPU(p, time.Microsecond), filepath.Join(g.Dir, "cpu.stat")
	v := make([]proc.Value, 3)
	s, err := text(name, func(b []byte) error {
		if err := proc.ParseFlat(b, cpuKeys2, v); err != nil {
			return err
		}
		p.list(cpuDescs[:1], c.usage.set(v[:1]))
		p.list(cpuDescs[1:], c.modes.set(v[1:]))
		if throttling {
			t, err := proc.ParseThrottling(b, 2)
			c.throttling(name, t, err)
		}
		return nil
	})
	s.decides = cpuDescs
	if throttling {
		s.decides = slices.Concat(cpuDescs, throttlingDescs)
	}
	return s, err
}

var (
	cpuKeys2 = []string{"usage_usec", "user_usec", "system_usec"}
	cpuKeys1 = []string{"user", "system"}
	cpuModes = []string{"user", "system"}
)

// openCPU1 counts CPU time from version 1's cpuacct.usage, in nanoseconds, and
// cpuacct.stat, which tells the modes apart in steps of 10 ms.
func (p *Probe) openCPU1(g proc.Group) {
	c := newGroupCPU(p, 10*time.Millisecond)
	v := make([]proc.Value, 1)
	usage, err := text(filepath.Join(g.Dir, "cpuacct.usage"), func(b []byte) error {
		n, err := proc.ParseUint(b)
		if err != nil {
			return err
		}
		v[0] = proc.Value{V: n, OK: true}
		return c.usage.set(v)
	})
	c.usage.unit = 1
	usage.metrics = []*probe.Desc{descGroupCPUUsage}
	p.add(usage, err)
	modes, err := flat(filepath.Join(g.Dir, "cpuacct.stat"), cpuKeys1, c.modes.set)
	modes.metrics = []*probe.Desc{descGroupCPU}
	p.add(modes, err)
}

// openThrottling counts throttling from a cpu.stat of which nothing else is
// wanted: version 1's has nothing else.
func (p *Probe) openThrottling(g proc.Group) (*source, error) {
	c, name := newGroupCPU(p, 0), filepath.Join(g.Dir, "cpu.stat")
	s, err := text(name, func(b []byte) error {
		t, err := proc.ParseThrottling(b, g.Version)
		c.throttling(name, t, err)
		return nil
	})
	s.decides = throttlingDescs
	return s, err
}

// groupCPU is what becomes of the group's CPU time.
type groupCPU struct {
	p                        *Probe
	usage, modes             *tallies
	periods, throttled, lost *tally
}

func newGroupCPU(p *Probe, unit time.Duration) *groupCPU {
	return &groupCPU{
		p:     p,
		usage: &tallies{p: p, desc: descGroupCPUUsage, values: []string{""}, unit: uint64(unit), each: make([]*tally, 1)},
		modes: &tallies{p: p, desc: descGroupCPU, key: attrCPUMode, values: cpuModes, unit: uint64(unit), each: make([]*tally, 2)},
	}
}

// throttling takes what the quota took away. The kernel counts periods only
// while the group itself has a quota; until it has counted one, the three
// metrics are absent rather than a zero that looks like "not throttled": the
// quota may be a level higher, which has its own count.
//
// The time is the sum over CPUs, so it may exceed the window, and it is added
// when a throttled period ends, up to a period late.
func (c *groupCPU) throttling(name string, t proc.Throttling, err error) {
	if err != nil && !errors.Is(err, proc.ErrNoQuota) {
		c.p.list(throttlingDescs, fmt.Errorf("%s: %w", name, err))
		return
	}
	if err == nil && c.periods == nil { // there is something to count
		c.periods, c.throttled = c.p.tally(descPeriods, 1), c.p.tally(descThrottled, 1)
		c.lost = c.p.tally(descThrottledTime, uint64(time.Nanosecond))
	}
	if c.periods != nil {
		// Where there was a quota and is none, the count began anew from zero.
		c.periods.set(t.Periods)
		c.throttled.set(t.Throttled)
		c.lost.set(uint64(t.Time))
	}
	c.p.list(throttlingDescs, err)
}
