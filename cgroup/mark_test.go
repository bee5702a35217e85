package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/tidestaff/tidestaff/probe"
)

// A fakeMemory is a kernel's idea of a process's resident set.
type fakeMemory struct {
	rss, hwm int64
	above    int64 // the level, where a mark that is set back stays
	refuse   bool  // the write fails
	ignore   bool  // the write succeeds and does nothing
	resets   int
}

// spike is a level that is over before anybody looks.
func (m *fakeMemory) spike(level int64) { m.hwm = max(m.hwm, level) }

func (m *fakeMemory) set(level int64) {
	m.rss = level
	m.spike(level)
}

func (m *fakeMemory) Read() ([]byte, error) {
	return fmt.Appendf(nil, "VmHWM:\t%d kB\nVmRSS:\t%d kB\n", m.hwm>>10, m.rss>>10), nil
}

func (m *fakeMemory) Write(b []byte) error {
	switch {
	case m.refuse:
		return &fs.PathError{Op: "write", Path: "clear_refs", Err: fs.ErrPermission}
	case string(b) != "5":
		return errors.New("only 5 leaves the pages' state alone")
	case !m.ignore:
		m.hwm = m.rss + m.above
	}
	m.resets++
	return nil
}

func (m *fakeMemory) Close() error { return nil }

const mib = 1 << 20

// A markProbe is a probe of nothing but the mark of a fakeMemory.
type markProbe struct {
	core probe.Core
	mark *mark
	peak *probe.Peak
}

func newMarkProbe(m *mark, reset bool) *markProbe {
	p := &markProbe{mark: m}
	p.peak = p.core.Peak(descPeak)
	p.core.Sample = func() {
		if _, err := m.boundary(reset); err != nil {
			panic(err)
		}
	}
	m.users = append(m.users, p.peak)
	return p
}

func fakeMark(m *fakeMemory) *mark {
	k := &mark{status: m, clear: m}
	if !k.obeyed() {
		k.clear = nil
	}
	return k
}

func (p *markProbe) watch(t *testing.T) *probe.Window {
	t.Helper()
	w, err := p.core.Watch()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func wantPeak(t *testing.T, what string, r *probe.Reading, v int64, how probe.How, method string) {
	t.Helper()
	got, prov := one(t, r, descPeak)
	if int64(got) != v || prov.How != how || prov.Method != method {
		t.Errorf("%s: got %d MiB, %v, %q; want %d MiB, %v, %q",
			what, int64(got)/mib, prov.How, prov.Method, v/mib, how, method)
	}
}

// TestMarkNested: windows a ⊃ b ⊃ c and tiles of another reader, each with the
// spikes that fell into it, none of which is there to be seen at a boundary.
func TestMarkNested(t *testing.T) {
	m := &fakeMemory{rss: 10 * mib, hwm: 900 * mib} // a peak from before
	p := newMarkProbe(fakeMark(m), true)
	a, tiles := p.watch(t), p.watch(t)
	m.spike(100 * mib)
	var tile probe.Reading
	tiles.Next(&tile)
	wantPeak(t, "first tile", &tile, 100*mib, probe.Exact, markReset)
	b := p.watch(t)
	m.spike(20 * mib)
	c := p.watch(t)
	m.spike(60 * mib)
	wantPeak(t, "c", c.Close(), 60*mib, probe.Exact, markReset)
	m.spike(30 * mib)
	wantPeak(t, "b", b.Close(), 60*mib, probe.Exact, markReset)
	tiles.Next(&tile)
	wantPeak(t, "second tile", &tile, 60*mib, probe.Exact, markReset)
	tiles.Next(&tile)
	wantPeak(t, "third tile", &tile, 10*mib, probe.Exact, markReset)
	wantPeak(t, "a", a.Close(), 100*mib, probe.Exact, markReset)
	tiles.Close()
}

// TestMarkTwoProbes: the mark belongs to the process, so a second probe must not
// take the first one's peak away.
func TestMarkTwoProbes(t *testing.T) {
	m := &fakeMemory{rss: 10 * mib, hwm: 10 * mib}
	k := fakeMark(m)
	p, q := newMarkProbe(k, true), newMarkProbe(k, true)
	a := p.watch(t)
	m.spike(50 * mib)
	b := q.watch(t) // sets the mark back
	m.spike(40 * mib)
	wantPeak(t, "the other's window", b.Close(), 40*mib, probe.Exact, markReset)
	wantPeak(t, "the first window", a.Close(), 50*mib, probe.Exact, markReset)
}

// TestMarkRose: without a reset, a window in which the lifetime's peak rose is
// exact, whatever is sampled later, and one in which it did not is not.
func TestMarkRose(t *testing.T) {
	for _, tt := range []struct {
		name string
		m    fakeMemory
	}{
		{"refused", fakeMemory{refuse: true}},
		{"ignored", fakeMemory{ignore: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := &tt.m
			m.rss, m.hwm = 10*mib, 100*mib
			p := newMarkProbe(fakeMark(m), true)
			quiet := p.watch(t)
			m.set(50 * mib)
			p.peak.Sample(m.rss)
			m.set(10 * mib)
			wantPeak(t, "not risen", quiet.Close(), 50*mib, probe.Sampled, "sampled")

			rose := p.watch(t)
			m.spike(200 * mib)
			var r probe.Reading
			rose.Read(&r)
			wantPeak(t, "risen", &r, 200*mib, probe.Exact, markRose)
			m.set(150 * mib)
			p.peak.Sample(m.rss)
			wantPeak(t, "risen, then sampled", rose.Close(), 200*mib, probe.Exact, markRose)

			next := p.watch(t)
			wantPeak(t, "next", next.Close(), 150*mib, probe.Sampled, "sampled")
		})
	}
}

// TestMarkRefusedLater: a process may lose the right to write, for instance by
// changing its user. What was exact stays so; what comes says so.
func TestMarkRefusedLater(t *testing.T) {
	m := &fakeMemory{rss: 10 * mib, hwm: 10 * mib}
	k := fakeMark(m)
	p := newMarkProbe(k, true)
	before := p.watch(t)
	m.refuse = true
	m.spike(80 * mib)
	after := p.watch(t)
	if k.clear != nil {
		t.Error("got a mark that passes for one that can be set back")
	}
	wantPeak(t, "opened after", after.Close(), 10*mib, probe.Sampled, "sampled")
	wantPeak(t, "opened before", before.Close(), 80*mib, probe.Exact, markRose)
}

// TestMarkNoReset: the option leaves the mark to somebody else.
func TestMarkNoReset(t *testing.T) {
	m := &fakeMemory{rss: 10 * mib, hwm: 100 * mib}
	k := &mark{status: m}
	p := newMarkProbe(k, false)
	w := p.watch(t)
	m.spike(120 * mib)
	wantPeak(t, "risen", w.Close(), 120*mib, probe.Exact, markRose)
	if m.resets != 0 {
		t.Errorf("got %d resets, want none", m.resets)
	}
}

// TestMarkForeign: somebody else who sets the mark back takes its certainty away,
// if it shows.
func TestMarkForeign(t *testing.T) {
	m := &fakeMemory{rss: 10 * mib, hwm: 300 * mib}
	p := newMarkProbe(&mark{status: m}, false)
	w := p.watch(t)
	m.spike(500 * mib)
	m.hwm = 20 * mib // somebody else
	inner := p.watch(t)
	m.spike(320 * mib)
	wantPeak(t, "opened after", inner.Close(), 320*mib, probe.Exact, markRose)
	wantPeak(t, "opened before", w.Close(), 320*mib, probe.Sampled, markRose)
}

// TestMarkMissing: a status without the mark leaves samples; one without the
// level is an error, not a zero.
func TestMarkMissing(t *testing.T) {
	p := New(Options{Root: fixture(t, "v2")})
	rewrite(t, p.opts.Root, "proc/self/status", "Name:\tx\nVmRSS:\t1024 kB\n")
	wantPeak(t, "no mark", watch(t, p).Close(), mib, probe.Sampled, "sampled")
	rewrite(t, p.opts.Root, "proc/self/status", "Name:\tx\nVmHWM:\t1024 kB\n")
	r := watch(t, New(Options{Root: p.opts.Root})).Close()
	for _, d := range []*probe.Desc{descRSS, descPeak} {
		if got := absent(r, d.Name); !strings.Contains(got, "VmRSS") {
			t.Errorf("%s: got reason %q, want one with VmRSS", d.Name, got)
		}
	}
}

// TestMarkRoom: a kernel whose mark is kept from a rougher count than the level
// sets it back to somewhat above that, which is not to do nothing; and a mark that
// is somewhat lower than it was has been set back by nobody.
func TestMarkRoom(t *testing.T) {
	const off = mib / 4
	for _, tt := range []struct {
		hwm    int64
		ignore bool
		want   bool
	}{{10*mib + off, false, true}, {100 * mib, false, true}, {100 * mib, true, false}} {
		m := &fakeMemory{rss: 10 * mib, hwm: tt.hwm, above: off, ignore: tt.ignore}
		k := &mark{status: m, clear: m, room: off}
		if got := k.obeyed(); got != tt.want {
			t.Errorf("from %d KiB, ignored %t: got obeyed %t", tt.hwm>>10, tt.ignore, got)
		}
	}
	m := &fakeMemory{rss: 10 * mib, hwm: 100 * mib}
	p := newMarkProbe(&mark{status: m, room: off}, false)
	w := p.watch(t)
	m.hwm = 120 * mib
	p.core.Sample()
	m.hwm -= off
	wantPeak(t, "somewhat lower", w.Close(), 120*mib, probe.Exact, markRose)
}
