package cgroup

import (
	"path/filepath"

	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

// The methods of a group's peak, as a provenance names them.
const (
	peakReset = "memory.peak reset"
	peakRose  = "memory.peak rose"
	maxRose   = "memory.max_usage_in_bytes rose"
)

// A groupPeak is the kernel's high-water mark of a group's charge, and the
// charge itself for when the mark is no help.
type groupPeak struct {
	peak  *probe.Peak
	usage file
	mark  file   // nil if the kernel keeps none
	reset bool   // the mark can be set back through this descriptor
	rose  string // method of a lifetime's mark
}

// openPeak2 opens memory.peak, which exists since Linux 5.19. Since 6.12 a
// write sets it back for the descriptor that wrote and nobody else, and it is
// the maximum since then for that descriptor alone. Whether it does is tried
// out and not read off the kernel's release, which says nothing of backports.
func (p *Probe) openPeak2(g proc.Group) (*source, error) {
	name := filepath.Join(g.Dir, "memory.peak")
	if !p.opts.NoReset {
		// Read-only mounts (EROFS) and other users' groups (EACCES), which is
		// what most containers have, refuse at once.
		if f, err := proc.OpenReadWrite(name); err == nil {
			return p.groupPeak(g, f, peakRose)
		}
	}
	f, err := proc.Open(name)
	if err != nil {
		f = nil // an older kernel: the charge is sampled
	}
	return p.groupPeak(g, f, peakRose)
}

// openPeak1 opens version 1's mark. Anybody who may write can set it back, for
// everybody: we do not.
func (p *Probe) openPeak1(g proc.Group) (*source, error) {
	f, err := proc.Open(filepath.Join(g.Dir, "memory.max_usage_in_bytes"))
	if err != nil {
		f = nil
	}
	return p.groupPeak(g, f, maxRose)
}

// groupPeak makes the source. Without a mark, or with one that only has the
// lifetime's maximum, the charge is sampled.
func (p *Probe) groupPeak(g proc.Group, mark *proc.File, rose string) (*source, error) {
	s := &source{metrics: []*probe.Desc{descGroupPeak}}
	usage, err := proc.Open(usageFile(g))
	if err != nil {
		_ = mark.Close()
		return s, err
	}
	gp := &groupPeak{peak: p.core.Peak(descGroupPeak), usage: usage, rose: rose}
	s.reopen = usage.Reopen
	if mark != nil {
		s.marks, s.reopen = true, nil
		gp.mark = mark
		gp.reset = !p.opts.NoReset && rose == peakRose
	}
	s.close = closeAll(usage, mark)
	tick := gp.tick
	s.sample = func() error {
		err := gp.boundary()
		if !gp.reset {
			s.tick = tick
		}
		return err
	}
	return s, nil
}

// boundary takes the mark and sets it back if possible. The mark and the charge
// are two files and two instants; a charge above the mark is the later one.
func (g *groupPeak) boundary() error {
	if g.mark == nil {
		return g.tick()
	}
	v, err := readUint(g.mark)
	if err != nil {
		return err
	}
	if g.reset {
		if g.mark.Write(resetPeak) == nil {
			g.peak.Reset(int64(v), peakReset)
			return nil
		}
		g.reset = false // EINVAL before 6.12; from here on the mark is a lifetime's
	}
	g.peak.Lifetime(int64(v), g.rose)
	return g.tick()
}

// resetPeak is what is written: anything will do, but for an empty write, which
// succeeds and does nothing.
var resetPeak = []byte("reset\n")

// tick samples the charge.
func (g *groupPeak) tick() error {
	v, err := readUint(g.usage)
	if err == nil {
		g.peak.Sample(int64(v))
	}
	return err
}
