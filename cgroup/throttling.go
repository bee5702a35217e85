package cgroup

import (
	"errors"
	"time"

	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

// openThrottling measures periods and throttling from cpu.stat. The kernel
// counts periods only while the group itself has a quota; until it has counted
// one, the three metrics are absent rather than a zero that looks like "not
// throttled": the quota may be a level higher, which has its own count.
//
// The time is the sum over CPUs, so it may exceed the window, and it is added
// when a throttled period ends, up to a period late.
func (p *Probe) openThrottling(g proc.Group) (*source, error) {
	s := &source{decides: []*probe.Desc{descPeriods, descThrottled, descThrottledTime}}
	f, err := proc.OpenThrottling(g)
	if err != nil {
		return s, err
	}
	s.reopen, s.close = f.Reopen, f.Close
	var tallies []*tally
	s.sample = func() error {
		t, err := f.Read()
		if err != nil && !errors.Is(err, proc.ErrNoQuota) {
			return err
		}
		if err == nil && tallies == nil {
			tallies = p.newThrottling() // there is something to count
		}
		if tallies != nil {
			// Where there was a quota and is none, the count began anew from zero.
			tallies[0].set(t.Periods)
			tallies[1].set(t.Throttled)
			tallies[2].set(uint64(t.Time))
		}
		p.list(s.decides, err)
		return nil
	}
	return s, nil
}

func (p *Probe) newThrottling() []*tally {
	return []*tally{
		{counter: p.core.Counter(descPeriods), unit: 1},
		{counter: p.core.Counter(descThrottled), unit: 1},
		{counter: p.core.Counter(descThrottledTime), unit: uint64(time.Nanosecond)},
	}
}
