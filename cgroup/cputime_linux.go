package cgroup

import (
	"syscall"

	"github.com/tidestaff/tidestaff/probe"
)

// openCPU measures the process's CPU time, all threads that are or were, from
// getrusage: exact sums of the scheduler, split into the two modes in proportion
// to the timer ticks that hit each.
func (p *Probe) openCPU() (*source, error) {
	user := tally{counter: p.core.Counter(descCPU, probe.Attr{Key: attrCPUMode, Value: "user"}), unit: 1}
	system := tally{counter: p.core.Counter(descCPU, probe.Attr{Key: attrCPUMode, Value: "system"}), unit: 1}
	var ru syscall.Rusage
	return &source{
		metrics: []*probe.Desc{descCPU},
		sample: func() error {
			if err := syscall.Getrusage(syscall.RUSAGE_SELF, &ru); err != nil {
				return err
			}
			user.set(uint64(ru.Utime.Nano()))
			system.set(uint64(ru.Stime.Nano()))
			return nil
		},
	}, nil
}
