package cgroup

import (
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

// spike makes n bytes resident and gives them back, out of the Go runtime's
// sight, so that nothing of it is there at the next boundary.
func spike(t testing.TB, n int) {
	t.Helper()
	unmap(t, resides(t, n))
}

func resides(t testing.TB, n int) []byte {
	t.Helper()
	m, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < n; i += os.Getpagesize() {
		m[i] = 1
	}
	return m
}

func unmap(t testing.TB, m []byte) {
	t.Helper()
	if err := syscall.Munmap(m); err != nil {
		t.Fatal(err)
	}
}

// settled watches this process, and skips the test where the kernel does not
// let it set its mark back. What earlier tests have freed is given back first, or
// the runtime does so while this one compares levels.
func settled(t *testing.T, p *Probe) *probe.Window {
	t.Helper()
	debug.FreeOSMemory()
	w := watch(t, p)
	if p.mark.clear == nil {
		t.Skip("needs a writable /proc/self/clear_refs")
	}
	return w
}

// TestRealPeaks: with real memory, nested and overlapping windows have each the
// spikes that fell into them. The resident set of a Go program moves by itself,
// and the kernel counts in batches, so the peaks are compared with some room.
func TestRealPeaks(t *testing.T) {
	const room = 12 * mib
	p := New(Options{})
	a := settled(t, p)
	var r probe.Reading
	a.Read(&r)
	base, _ := one(t, &r, descRSS)
	check := func(what string, r *probe.Reading, size float64) {
		t.Helper()
		v, prov := one(t, r, descPeak)
		if got := v - base; got < size-room || got > size+room {
			t.Errorf("%s: got a peak of %.1f MiB over the base, want %.0f", what, got/mib, size/mib)
		}
		if want := (probe.Provenance{Method: markReset}); prov != want {
			t.Errorf("%s: got %+v, want %+v", what, prov, want)
		}
	}
	spike(t, 160*mib)
	b := watch(t, p) // nested in a, overlapping c
	spike(t, 40*mib)
	c := watch(t, p)
	spike(t, 100*mib)
	check("b", b.Close(), 100*mib)
	spike(t, 70*mib)
	c.Next(&r)
	check("first tile of c", &r, 100*mib)
	check("second tile of c", c.Close(), 0)
	check("a", a.Close(), 160*mib)
}

// TestRealMarkObeyed: the kernel sets the mark back whenever it is asked to. That
// is not doubted where the level is a few pages below the mark, which is a rougher
// count and may stay where it is.
func TestRealMarkObeyed(t *testing.T) {
	settled(t, New(Options{})).Close()
	var core probe.Core
	peak := core.Peak(descPeak)
	for i := range 1000 {
		spike(t, (1+i%40)*os.Getpagesize())
		k := newMark("/proc/self", cpus("/"))
		if err := k.join(peak, true); err != nil {
			t.Fatal(err)
		}
		obeyed := k.clear != nil
		k.leave(peak)
		if !obeyed {
			t.Fatalf("got a mark that passes for one that cannot be set back, try %d", i)
		}
	}
}

// TestRealMarkStays: a mark that nobody sets back is a few pages lower now and then,
// when it is the exact level's no longer and the rougher count's again. That takes
// nothing from a peak that rose.
func TestRealMarkStays(t *testing.T) {
	debug.FreeOSMemory() // as settled does
	w := watch(t, New(Options{Interval: time.Hour, NoReset: true}))
	var r probe.Reading
	w.Read(&r)
	was, _ := one(t, &r, descRSS)
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skipf("needs /proc: %v", err)
	}
	st, err := proc.ParseStatus(b)
	if err != nil || !st.HWM.OK {
		t.Skipf("needs VmHWM: %v", err)
	}
	high := resides(t, int(float64(st.HWM.V)-was)+16*mib) // the level is the highest ever
	for i := range 1000 {
		m := resides(t, (1+i*37%400)*os.Getpagesize())
		w.Read(&r)
		unmap(t, m)
		w.Read(&r)
	}
	unmap(t, high)
	if _, prov := one(t, w.Close(), descPeak); prov != (probe.Provenance{Method: markRose}) {
		t.Errorf("got a peak by %+v, want it exact because it rose", prov)
	}
}

// TestRealTwoProbes: two probes of one process at once, from goroutines.
func TestRealTwoProbes(t *testing.T) {
	p, q := New(Options{Name: "p"}), New(Options{Name: "q"})
	w := settled(t, p)
	spike(t, 80*mib)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				o, err := q.Watch()
				if err != nil {
					t.Error(err)
					return
				}
				o.Close()
			}
		})
	}
	wg.Wait()
	r := w.Close()
	v, prov := one(t, r, descPeak)
	rss, _ := one(t, r, descRSS)
	if v < 80*mib || prov.How != probe.Exact {
		t.Errorf("got a peak of %.1f MiB, %+v, with 80 MiB allocated over %.1f", v/mib, prov, rss/mib)
	}
}

// TestRealSplit: the parts add up to the whole, since they are from one read. A
// sample that comes between that and the reading looks at the whole alone.
func TestRealSplit(t *testing.T) {
	r := watch(t, New(Options{Interval: -1})).Close()
	rss, _ := one(t, r, descRSS)
	var parts float64
	for m := range r.Find(descStat.Name) {
		parts += m.Value
	}
	if rss <= 0 || parts != rss {
		t.Errorf("got parts of %v, want the resident set %v", parts, rss)
	}
	if peak, _ := one(t, r, descPeak); peak < rss {
		t.Errorf("got a peak of %v below the level %v", peak, rss)
	}
	for m := range r.Find(descGo.Name) {
		if m.Value < 0 || m.Attr(attrGoMemory) == "live" && m.Value == 0 {
			t.Errorf("got %v of %v", m.Value, m.Attrs)
		}
	}
}

// TestRealCPU: time that this process spends is counted in the window.
func TestRealCPU(t *testing.T) {
	w := watch(t, New(Options{}))
	var begin, now syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &begin); err != nil {
		t.Fatal(err)
	}
	var used time.Duration
	for used < 50*time.Millisecond { // until the kernel has counted it
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &now); err != nil {
			t.Fatal(err)
		}
		used = time.Duration(now.Utime.Nano() + now.Stime.Nano() - begin.Utime.Nano() - begin.Stime.Nano())
	}
	var got float64
	for m := range w.Close().Find(descCPU.Name) {
		got += m.Value
	}
	if got < used.Seconds() {
		t.Errorf("got %v s, want at least %v", got, used)
	}
}

// TestRealNothingLeft: thousands of windows, from several goroutines, leave
// neither a descriptor nor a goroutine behind.
func TestRealNothingLeft(t *testing.T) {
	p := New(Options{NoReset: true}) // with a sampler
	w := watch(t, p)
	for limit := time.Now().Add(time.Minute); samplers() != 1; runtime.Gosched() { // until it has begun
		if time.Now().After(limit) {
			t.Fatalf("got %d samplers in a window, want one", samplers())
		}
	}
	w.Close()
	before := descriptors(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 500 {
				w, err := p.Watch()
				if err != nil {
					t.Error(err)
					return
				}
				var r probe.Reading
				w.Next(&r)
				w.Close()
				w.Close()
			}
		})
	}
	wg.Wait()
	if got := descriptors(t); got != before {
		t.Errorf("got %d descriptors of kernel files, had %d", got, before)
	}
	// A goroutine that has been waited for may still be about to end.
	for limit := time.Now().Add(time.Minute); samplers() > 0; runtime.Gosched() {
		if time.Now().After(limit) {
			t.Fatalf("got %d samplers after the last window, want none", samplers())
		}
	}
}

// samplers counts the goroutines that a sampler started.
func samplers() int { return running("startSampler") }

// running counts the goroutines of functions that a function of this package has
// started in a wait group.
func running(by string) int {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	return strings.Count(string(stacks), "\ngithub.com/tidestaff/tidestaff/cgroup."+by+".func1(")
}

// descriptors counts this process's open files in /proc and /sys.
func descriptors(t *testing.T) int {
	t.Helper()
	const dir = "/proc/self/fd/"
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Skipf("needs /proc: %v", err)
	}
	n := 0
	for _, e := range entries {
		name, err := os.Readlink(dir + e.Name())
		if err == nil && (strings.HasPrefix(name, "/proc/") || strings.HasPrefix(name, "/sys/")) && !strings.HasSuffix(name, "/fd") {
			n++
		}
	}
	return n
}
