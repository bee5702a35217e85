package cgroup

import (
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// A spent is what a process has used since it started.
type spent struct {
	user, system time.Duration
	faults       bool // the two numbers of page faults are known
	minor, major uint64
}

// openSpent measures the process's CPU time and its page faults, of all threads
// that are or were, as read has them. The counters are made when the first
// numbers are there: one that is never fed reads zero.
func (p *Probe) openSpent(read func() (spent, error)) (*source, error) {
	var user, system, minor, major *tally
	s := &source{metrics: []*probe.Desc{descCPU}, decides: []*probe.Desc{descFaults}}
	s.sample = func() error {
		v, err := read()
		if err != nil {
			return err
		}
		if user == nil {
			user = p.tally(descCPU, uint64(time.Nanosecond), probe.Attr{Key: attrCPUMode, Value: "user"})
			system = p.tally(descCPU, uint64(time.Nanosecond), probe.Attr{Key: attrCPUMode, Value: "system"})
		}
		user.set(uint64(v.user))
		system.set(uint64(v.system))
		p.offer(descFaults, v.faults, "only Unix systems provide it")
		if !v.faults {
			return nil
		}
		if minor == nil {
			minor = p.tally(descFaults, 1, probe.Attr{Key: attrFault, Value: "minor"})
			major = p.tally(descFaults, 1, probe.Attr{Key: attrFault, Value: "major"})
		}
		minor.set(v.minor)
		major.set(v.major)
		return nil
	}
	return s, nil
}
