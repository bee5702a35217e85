package cgroup

import (
	"os"
	"path/filepath"
	"strconv"

	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

// openStatus measures the process's memory from its files. Boundaries read
// status, which has everything in one instant; samples between them read statm,
// which costs a sixth.
func (p *Probe) openStatus() (*source, error) {
	s := &source{
		metrics: []*probe.Desc{descRSS, descPeak, descGrowth, descCourse, descUncertainty},
		decides: []*probe.Desc{descStat, descSwap},
		marks:   true,
	}
	levels := processGauges(&p.core)
	levels[0].Course(descCourse)
	peak := p.core.Peak(descPeak)
	peak.Growth(descGrowth, levels[0])
	p.forget(peak)
	n := cpus(p.opts.Root)
	p.core.Gauge(descUncertainty).Set(processUncertainty(n))
	reset := !p.opts.NoReset
	dir := p.file("")
	err := sharedMarks.take(dir, func() *mark { return newMark(dir, n) }, func(m *mark) error {
		p.mark = m
		return m.join(peak, reset)
	})
	if err != nil {
		return s, err
	}
	statm, noStatm := proc.Open(p.file("statm"))
	s.close = func() {
		sharedMarks.drop(dir, func(m *mark) { m.leave(peak) })
		_ = statm.Close()
	}
	if noStatm == nil {
		s.tick = func() error { return lookAtRSS(statm, peak, levels[0]) }
	}
	s.sample = func() error {
		st, err := p.mark.boundary(reset)
		if err == nil {
			p.takeStatus(&levels, &st)
		}
		return err
	}
	return s, nil
}

// takeStatus sets the levels, whose peak has been told by the mark.
func (p *Probe) takeStatus(levels *[5]*probe.Gauge, st *proc.Status) {
	for i, v := range [...]proc.Value{st.RSS, st.Swap, st.Anon, st.File, st.Shmem} {
		set(levels[i], v)
	}
	p.offers(descStat, st.Anon)
	p.offers(descSwap, st.Swap)
}

// file is the name of one of the process's files in /proc.
func (p *Probe) file(name string) string {
	self := "self"
	if p.opts.PID != 0 {
		self = strconv.Itoa(p.opts.PID)
	}
	return filepath.Join(p.opts.Root, "proc", self, name)
}

// offer lists a metric as absent, or takes that back if it is there.
func (p *Probe) offer(d *probe.Desc, there bool, why string) {
	if there {
		why = ""
	}
	p.core.Absent(d.Name, why)
}

// offers lists a metric as absent if the kernel's file does not have its value.
func (p *Probe) offers(d *probe.Desc, v proc.Value) {
	p.offer(d, v.OK, "not provided by this kernel: its file does not have it")
}

// processGauges are the levels in the order of openStatus.
func processGauges(c *probe.Core) [5]*probe.Gauge {
	split := func(kind string) *probe.Gauge {
		return c.Gauge(descStat, probe.Attr{Key: attrProcessMemory, Value: kind})
	}
	return [...]*probe.Gauge{c.Gauge(descRSS), c.Gauge(descSwap), split("anon"), split("file"), split("shmem")}
}

// lookAtRSS looks at the resident set between boundaries. The peak is told first:
// a reading at this instant has no level above it.
func lookAtRSS(statm file, peak *probe.Peak, rss *probe.Gauge) error {
	b, err := statm.Read()
	if err != nil {
		return err
	}
	m, err := proc.ParseStatm(b, os.Getpagesize())
	if err != nil {
		return about(statm, err)
	}
	peak.Sample(level(m.RSS))
	rss.Set(float64(m.RSS))
	return nil
}
