//go:build !linux

package cgroup

import (
	"errors"
	"os"

	"github.com/shirou/gopsutil/v4/process"

	"github.com/tidestaff/tidestaff/probe"
)

// errNotLinux is why the split and the swap are absent here.
var errNotLinux = errors.New("only Linux provides it")

// openProcess measures the resident set through gopsutil. Its peak is that of
// samples; no system but Linux has one that a window could use. A copy of a
// Linux machine's files is read as it is on Linux.
func (p *Probe) openProcess() (*source, error) {
	if p.opts.Root != "/" {
		return p.openStatus()
	}
	s := &source{metrics: []*probe.Desc{descRSS, descPeak, descGrowth, descCourse}}
	p.list([]*probe.Desc{descStat, descSwap, descUncertainty}, errNotLinux)
	self, err := process.NewProcess(int32(os.Getpid()))
	if err != nil {
		return s, err
	}
	level, peak := p.core.Gauge(descRSS), p.core.Peak(descPeak)
	level.Course(descCourse)
	peak.Growth(descGrowth, level)
	s.tick = func() error {
		m, err := self.MemoryInfo()
		if err != nil {
			return err
		}
		peak.Sample(int64(m.RSS))
		level.Set(float64(m.RSS))
		return nil
	}
	s.sample = s.tick
	return s, nil
}
