package cgroup

import (
	"math"
	"path/filepath"
	"slices"
	"sync"

	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

// The methods of a group's peak, as a provenance names them.
const (
	peakReset     = "memory.peak reset"
	peakRose      = "memory.peak rose"
	maxReset      = "memory.max_usage_in_bytes reset"
	maxRose       = "memory.max_usage_in_bytes rose"
	swapPeakReset = "memory.swap.peak reset"
	swapPeakRose  = "memory.swap.peak rose"
)

// A groupMark is the kernel's high-water mark of a group's level.
//
// A mark of version 2 is reset for one descriptor alone and has one user. Version
// 1 has one for everybody, which all probes of this program share, so that what a
// reset takes from one of them it gives to the others.
type groupMark struct {
	mu      sync.Mutex
	users   []*probe.Peak
	file    file   // nil if the kernel keeps none
	reset   bool   // it can be set back
	resetBy string // method of a mark that was set back
	rose    string // method of a lifetime's mark
	last    uint64 // of a lifetime's mark
}

// A levelMark says where the mark of a level is. What the level itself is, for
// when the mark is no help, its peak is told by [Probe.openLevel].
type levelMark struct {
	desc, growth *probe.Desc // growth may be nil
	over         *probe.Gauge
	last         *charge    // the level, as read just before
	mark         *proc.File // nil if the kernel keeps none, or it cannot be read
	reset        string     // method if the mark may be set back, else empty
	rose         string
}

// openMark opens a mark of version 2. Since Linux 6.12 a write sets it back for
// the descriptor that wrote and nobody else, and it is the maximum since then for
// that descriptor alone. Whether it does is tried out and not read off the
// kernel's release, which says nothing of backports.
func (p *Probe) openMark(name string, m levelMark) levelMark {
	if !p.opts.NoReset {
		// Read-only mounts (EROFS) and other users' groups (EACCES), which is
		// what most containers have, refuse at once.
		if f, err := proc.OpenReadWrite(name); err == nil {
			m.mark = f
			return m
		}
	}
	m.reset = ""
	if f, err := proc.Open(name); err == nil {
		m.mark = f
	} // else an older kernel: the level is sampled
	return m
}

// openPeak2 opens memory.peak, which exists since Linux 5.19.
func (p *Probe) openPeak2(g proc.Group, usage *charge) (*source, error) {
	return p.groupPeak(p.openMark(filepath.Join(g.Dir, "memory.peak"), levelMark{
		desc: descGroupPeak, growth: descGroupGrowth, over: p.core.Gauge(descGroupUsage),
		last: usage, reset: peakReset, rose: peakRose,
	}))
}

// openSwapPeak opens memory.swap.peak, which exists since Linux 6.5.
func (p *Probe) openSwapPeak(g proc.Group, swap *charge) (*source, error) {
	return p.groupPeak(p.openMark(filepath.Join(g.Dir, "memory.swap.peak"), levelMark{
		desc: descGroupSwapPeak, last: swap, reset: swapPeakReset, rose: swapPeakRose,
	}))
}

// sharedPeaks are version 1's marks, by their files.
var sharedPeaks shared[*groupMark]

// openPeak1 opens version 1's mark. Anybody who may write can set it back, for
// everybody: we do so only if told to.
func (p *Probe) openPeak1(g proc.Group, usage *charge) (*source, error) {
	name := filepath.Join(g.Dir, "memory.max_usage_in_bytes")
	m := levelMark{
		desc: descGroupPeak, growth: descGroupGrowth, over: p.core.Gauge(descGroupUsage),
		last: usage, rose: maxRose,
	}
	if p.opts.ResetShared && !p.opts.NoReset {
		if f, err := proc.OpenReadWrite(name); err == nil {
			m.mark, m.reset = f, maxReset
		}
	}
	if m.mark == nil {
		if f, err := proc.Open(name); err == nil {
			m.mark = f
		}
	}
	if m.mark == nil {
		return p.groupPeak(m)
	}
	return p.sharedPeak(name, m)
}

// groupPeak makes the source of a peak whose mark no other probe shares.
func (p *Probe) groupPeak(m levelMark) (*source, error) {
	peak, mark := p.core.Peak(m.desc), m.groupMark()
	mark.join(peak)
	s := m.source(p, mark)
	s.close = func() { mark.leave(peak) }
	return s, nil
}

// sharedPeak makes the source of a peak whose mark all probes share.
func (p *Probe) sharedPeak(name string, m levelMark) (s *source, err error) {
	peak := p.core.Peak(m.desc)
	err = sharedPeaks.take(name, m.groupMark, func(mark *groupMark) error {
		mark.merge(m)
		mark.join(peak)
		s = m.source(p, mark)
		return nil
	})
	s.close = func() { sharedPeaks.drop(name, func(mark *groupMark) { mark.leave(peak) }) }
	return s, err
}

// source is the source of the peak. Without a mark, or with one that only has the
// lifetime's maximum, the peak rests on looks at the level, and fails with them. It
// forgets what its mark was good for when windows were open last: it may be
// another mark by now, or none.
func (m levelMark) source(p *Probe, mark *groupMark) *source {
	peak := p.core.Peak(m.desc)
	p.forget(peak)
	s := &source{metrics: []*probe.Desc{m.desc}, marks: m.mark != nil}
	if m.growth != nil {
		s.metrics = append(s.metrics, m.growth)
		peak.Growth(m.growth, m.over)
	}
	s.sample = func() error {
		resets, err := mark.boundary()
		if resets || err != nil {
			return err
		}
		return m.last.err
	}
	return s
}

// forget makes a peak know nothing of an earlier mark. After a move between groups
// there are windows, whose peaks are absent anyway.
func (p *Probe) forget(peak *probe.Peak) {
	if p.place == nil || p.place.moves == 0 { // no window is open
		peak.Lifetime(math.MaxInt64, "")
	}
}

func (m levelMark) groupMark() *groupMark {
	g := &groupMark{reset: m.reset != "", resetBy: m.reset, rose: m.rose}
	if m.mark != nil {
		g.file = m.mark
	}
	return g
}

// merge takes over what a further user opened, if that can do more, and closes
// what is not needed.
func (g *groupMark) merge(m levelMark) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.file == file(m.mark) {
		return // it was made of this
	}
	old := file(m.mark)
	if m.reset != "" && !g.reset {
		old, g.file, g.reset, g.resetBy = g.file, m.mark, true, m.reset
	}
	_ = old.Close() // nothing was written that could be lost
}

func (g *groupMark) join(p *probe.Peak) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.users = append(g.users, p)
}

// leave undoes join. The last user closes the file.
func (g *groupMark) leave(p *probe.Peak) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.users = slices.DeleteFunc(g.users, func(q *probe.Peak) bool { return q == p })
	if len(g.users) == 0 && g.file != nil {
		_ = g.file.Close() // nothing was written that could be lost
	}
}

// boundary takes the mark, sets it back if possible, and tells whether it did.
func (g *groupMark) boundary() (resets bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.file == nil {
		return false, nil
	}
	v, err := readUint(g.file)
	if err != nil {
		return false, err
	}
	if g.reset {
		if g.file.Write(resetPeak) == nil {
			for _, p := range g.users {
				p.Reset(level(v), g.resetBy)
			}
			g.last = 0 // it is the present level by now
			return true, nil
		}
		g.reset = false // EINVAL before 6.12; from here on the mark is a lifetime's
	}
	for _, p := range g.users {
		if v < g.last {
			p.Lost() // somebody else has set it back
		}
		p.Lifetime(level(v), g.rose)
	}
	g.last = v
	return false, nil
}

// resetPeak is what is written: anything will do, but for an empty write, which
// succeeds and does nothing. Version 1 takes a number as well as any text.
var resetPeak = []byte("0\n")
