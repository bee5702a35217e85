package cgroup

import (
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// openCPU measures the process's CPU time, all threads that are or were, as
// cpuTime of the system has it.
func (p *Probe) openCPU() (*source, error) {
	s := &source{metrics: []*probe.Desc{descCPU}}
	var user, system *tally
	s.sample = func() error {
		u, k, err := cpuTime()
		if err != nil {
			return err
		}
		if user == nil { // a counter that is never fed reads zero
			user, system = p.modes(descCPU, time.Nanosecond)
		}
		user.set(uint64(u))
		system.set(uint64(k))
		return nil
	}
	return s, nil
}

// modes makes the two counters of a CPU time, which comes in units.
func (p *Probe) modes(d *probe.Desc, unit time.Duration) (user, system *tally) {
	of := func(mode string) *tally {
		return &tally{counter: p.core.Counter(d, probe.Attr{Key: attrCPUMode, Value: mode}), unit: uint64(unit)}
	}
	return of("user"), of("system")
}
