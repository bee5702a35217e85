package cgroup

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tidestaff/tidestaff/probe"
)

// TestMarkLevel: a window of a probe that sets the mark back, opened after another
// probe has read the mark and left it. Its peak has what its own boundary saw.
func TestMarkLevel(t *testing.T) {
	m := &fakeMemory{rss: 10 * mib, hwm: 10 * mib}
	k := fakeMark(m)
	p := newMarkProbe(k, true)
	own := p.core.Sample
	p.core.Sample = func() {
		own()
		m.spike(100 * mib)
		k.boundary(false) // the other probe's, before the window is there
	}
	w := p.watch(t)
	p.core.Sample = own
	p.peak.Sample(m.rss)
	m.set(30 * mib)
	wantPeak(t, "opened between", w.Close(), 30*mib, probe.Sampled, "sampled")
}

// TestMarkPlay: whatever the order in which probes that set the mark back and
// others open, read and close windows, also while one of them is between its look
// and its window, no peak is below a level that was read in its window or above
// what there was, and one that passes for exact is.
func TestMarkPlay(t *testing.T) {
	exact := 0
	for seed := range uint64(3000) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		m := &fakeMemory{rss: 10 * mib, hwm: int64(10+rnd.IntN(90)) * mib, refuse: rnd.IntN(4) == 0}
		play := &markPlay{rnd: rnd, mem: m, mark: fakeMark(m)}
		for range 3 {
			play.add(rnd.IntN(2) == 0)
		}
		for range 40 {
			play.step(t)
		}
		exact += play.exact
		if t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, play.log)
		}
	}
	if exact < 10_000 {
		t.Errorf("got %d exact peaks, want more to look at", exact)
	}
}

// A markPlay is what happens to a mark that several probes share.
type markPlay struct {
	rnd    *rand.Rand
	mem    *fakeMemory
	mark   *mark
	probes []*markProbe
	open   []*playedWindow
	exact  int
	log    []byte
}

// A playedWindow knows what its peak must be.
type playedWindow struct {
	*probe.Window
	name string
	// Since the look that belongs to the window's beginning, and since the window
	// was there; a level in between may count as either's.
	most, least int64
	level       int64 // the highest that was read of the window's probe
	probe       *markProbe
}

func (p *markPlay) note(format string, args ...any) { p.log = fmt.Appendf(p.log, format+"\n", args...) }

// add adds a probe, between whose look and what comes then others may act.
func (p *markPlay) add(reset bool) {
	q := newMarkProbe(p.mark, reset)
	i := len(p.probes)
	p.probes = append(p.probes, q)
	q.core.Sample = func() {
		p.boundary(i, reset)
		for p.rnd.IntN(3) == 0 {
			p.aside()
		}
	}
}

// aside is what happens beside the windows: memory, and others' boundaries.
func (p *markPlay) aside() {
	switch v := int64(1+p.rnd.IntN(120)) * mib; p.rnd.IntN(4) {
	case 0:
		p.note("level %d", v/mib)
		p.mem.set(v)
		p.happened(v)
	case 1:
		v = max(v, p.mem.rss)
		p.note("spike %d", v/mib)
		p.mem.spike(v)
		p.happened(v)
	case 2:
		i := p.rnd.IntN(len(p.probes))
		p.note("tick of %d", i)
		p.probes[i].peak.Sample(p.mem.rss)
	case 3:
		p.boundary(p.rnd.IntN(len(p.probes)), p.rnd.IntN(2) == 0)
	}
}

func (p *markPlay) boundary(i int, reset bool) {
	p.note("boundary of %d, reset %v", i, reset)
	s, err := p.mark.boundary(reset)
	if err != nil {
		panic(err)
	}
	for _, w := range p.open {
		if w.probe == p.probes[i] {
			w.level = max(w.level, int64(s.RSS.V))
		}
	}
}

// happened tells all windows of a level.
func (p *markPlay) happened(v int64) {
	for _, w := range p.open {
		w.most, w.least = max(w.most, v), max(w.least, v)
	}
}

func (p *markPlay) step(t *testing.T) {
	switch p.rnd.IntN(5) {
	case 0:
		i := p.rnd.IntN(len(p.probes))
		p.note("open of %d", i)
		w := &playedWindow{probe: p.probes[i], most: p.mem.rss, name: fmt.Sprint(len(p.log))}
		p.open = append(p.open, w)
		w.Window = p.probes[i].watch(t)
		w.least, w.level = p.mem.rss, 0
		p.note("is %s", w.name)
	case 1:
		if len(p.open) == 0 {
			return
		}
		i := p.rnd.IntN(len(p.open))
		w := p.open[i]
		p.note("close of %s", w.name)
		least := w.least // what comes after its last look may be missed
		r := w.Close()
		w.least = least
		p.open = append(p.open[:i], p.open[i+1:]...)
		p.want(t, w, r)
	default:
		p.aside()
	}
}

func (p *markPlay) want(t *testing.T, w *playedWindow, r *probe.Reading) {
	v, prov := one(t, r, descPeak)
	got := int64(v)
	if got < w.level || got > w.most {
		t.Errorf("%s: got %d MiB (%s), want %d to %d", w.name, got/mib, prov.Method, w.level/mib, w.most/mib)
	}
	if prov.How == probe.Exact {
		p.exact++
		if got < w.least {
			t.Errorf("%s: got exactly %d MiB (%s), want at least %d", w.name, got/mib, prov.Method, w.least/mib)
		}
	}
}
