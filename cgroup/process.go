package cgroup

import (
	"os"
	"path/filepath"

	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

// openStatus measures the process's memory from its files. Boundaries read
// status, which has everything in one instant; samples between them, if the peak
// needs any, read statm, which costs a sixth.
func (p *Probe) openStatus() (*source, error) {
	s := &source{
		metrics: []*probe.Desc{descRSS, descPeak},
		decides: []*probe.Desc{descStat, descSwap},
		marks:   true,
	}
	peak := p.core.Peak(descPeak)
	reset := !p.opts.NoReset
	if err := p.mark.join(peak, reset); err != nil {
		return s, err
	}
	levels := processGauges(&p.core)
	statm, err := proc.Open(filepath.Join(p.opts.Root, "proc/self/statm"))
	s.close = func() {
		p.mark.leave(peak)
		if err == nil {
			_ = statm.Close()
		}
	}
	tick := func() error {
		rss, err := readRSS(statm)
		if err == nil {
			peak.Sample(int64(rss))
		}
		return err
	}
	s.sample = func() error {
		st, e := p.mark.boundary(reset)
		if e != nil {
			return e
		}
		for i, v := range [...]proc.Value{st.RSS, st.Swap, st.Anon, st.File, st.Shmem} {
			set(levels[i], v)
		}
		p.offers(descStat, st.Anon)
		p.offers(descSwap, st.Swap)
		if s.tick == nil && err == nil && p.mark.sampling(reset) {
			s.tick = tick
		}
		return nil
	}
	return s, nil
}

// offers lists a metric as absent if the status file does not have its value.
func (p *Probe) offers(d *probe.Desc, v proc.Value) {
	why := ""
	if !v.OK {
		why = "not provided by this kernel: /proc/self/status does not have it"
	}
	p.core.Absent(d.Name, why)
}

// processGauges are the levels in the order of openStatus.
func processGauges(c *probe.Core) [5]*probe.Gauge {
	split := func(kind string) *probe.Gauge {
		return c.Gauge(descStat, probe.Attr{Key: attrProcessMemory, Value: kind})
	}
	return [...]*probe.Gauge{c.Gauge(descRSS), c.Gauge(descSwap), split("anon"), split("file"), split("shmem")}
}

// readRSS is the resident set alone, for samples.
func readRSS(statm file) (uint64, error) {
	b, err := statm.Read()
	if err != nil {
		return 0, err
	}
	s, err := proc.ParseStatm(b, os.Getpagesize())
	return s.RSS, err
}
