package cgroup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

// TestRealOther: a child that makes memory resident is seen from outside, with
// its peak, whatever this process has; and when it has ended, it is gone.
func TestRealOther(t *testing.T) {
	cmd := helper(t.Context(), "hold", "64")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	t.Cleanup(func() {
		if !ended {
			cmd.Process.Kill()
			cmd.Wait()
		}
	})
	if _, err := out.Read(make([]byte, 64)); err != nil {
		t.Fatal(err)
	}
	p := New(Options{PID: cmd.Process.Pid})
	w := watch(t, p)
	var r probe.Reading
	w.Read(&r)
	rss, _ := one(t, &r, descRSS)
	peak, prov := one(t, &r, descPeak)
	if rss < 64*mib || rss > 200*mib || peak < rss {
		t.Errorf("got %.1f MiB and a peak of %.1f, %+v, want 64 and a little", rss/mib, peak/mib, prov)
	}
	if want := (probe.Provenance{Method: markReset}); prov != want {
		t.Errorf("got a peak by %+v, want it by %+v", prov, want)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	ended = true
	r = *w.Close()
	wantNoProcess(t, "open window", &r, "has ended")
	wantNoProcess(t, "next window", watch(t, p).Close(), "has ended")
}

// TestRealGroup: a group of version 1 or 2 that the test makes is measured by its
// path, and when it has been removed its numbers are absent for that reason. A
// reading then opens files in vain; it does not wait, and ticks do not even try.
func TestRealGroup(t *testing.T) {
	g := ownMemoryGroup(t)
	p := New(Options{Path: g.Path, Interval: time.Hour})
	w := watch(t, p)
	var r probe.Reading
	w.Read(&r)
	if v, _ := one(t, &r, descGroupUsage); v != 0 && v > 64*mib {
		t.Errorf("got %v bytes in a group without processes", v)
	}
	wantThere(t, &r, descGroupPeak, descGroupStat, descEvents, descUncached, descGroupFaults)
	if err := os.Remove(g.Dir); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		w.Read(&r)
		for _, d := range []*probe.Desc{descGroupUsage, descGroupStat, descEvents, descGroupPeak} {
			if got := absent(&r, d.Name); !strings.Contains(got, proc.ErrDetached.Error()) {
				t.Errorf("%s: got reason %q, want %q", d.Name, got, proc.ErrDetached)
			}
		}
		p.tick()
	}
}

// ownMemoryGroup makes a memory group beside this process's, or skips the test.
// The process itself stays where it is.
func ownMemoryGroup(t *testing.T) proc.Group {
	t.Helper()
	groups, err := proc.Detect("/")
	if err != nil {
		t.Skip(err)
	}
	g, err := groups.Lookup("memory")
	if err != nil {
		t.Skip(err)
	}
	dir, err := os.MkdirTemp(g.Dir, "tidestaff-test-")
	if err != nil {
		t.Skipf("needs to make a control group: %v", err)
	}
	t.Cleanup(func() {
		if _, err := os.Stat(dir); err == nil { // the test may have removed it
			removeGroup(dir)
		}
	})
	g.Path, g.Dir = filepath.Join(g.Path, filepath.Base(dir)), dir
	if _, err := os.Stat(usageFile(g)); err != nil {
		t.Skipf("needs the memory controller in groups below its own: %v", err)
	}
	return g
}

// TestRealResetShared: version 1's mark is set back on request only, and then
// for all probes of the program.
func TestRealResetShared(t *testing.T) {
	g := ownMemoryGroup(t)
	if g.Version != 1 {
		t.Skip("needs the memory controller of version 1")
	}
	w := watch(t, New(Options{Path: g.Path, Interval: time.Hour}))
	if _, prov := one(t, w.Close(), descGroupPeak); prov.Method == maxReset {
		t.Errorf("got %+v without the option", prov)
	}
	// The second asks for nothing, and gets what the others' resets take from it.
	p, q := New(Options{Path: g.Path, Interval: time.Hour, ResetShared: true}), New(Options{Path: g.Path, Interval: time.Hour})
	a, b := watch(t, p), watch(t, q)
	c := watch(t, New(Options{Path: g.Path, Interval: time.Hour, ResetShared: true}))
	for _, w := range []*probe.Window{a, b, c} {
		if _, prov := one(t, w.Close(), descGroupPeak); prov != (probe.Provenance{Method: maxReset}) {
			t.Errorf("got %+v, want exact by reset", prov)
		}
	}
	if n := len(sharedPeaks.names) + len(sharedMarks.names); n != 0 {
		t.Errorf("got %d marks that are kept without a window", n)
	}
}

// TestRealOwnNumber: this process by its number is this process, so that its mark
// is not set back behind the other probe's back.
func TestRealOwnNumber(t *testing.T) {
	p, q := New(Options{Interval: time.Hour}), New(Options{PID: os.Getpid(), Path: "/tidestaff-none", Interval: time.Hour})
	w := settled(t, p)
	spike(t, 80*mib)
	v := watch(t, q)
	spike(t, 40*mib)
	inner, outer := v.Close(), w.Close()
	wantThere(t, inner, descRSS, descGo, descCPU)
	s, _ := StatsOf(inner)
	o, _ := StatsOf(outer)
	if got := o.RSS.Growth.V - s.RSS.Growth.V; got < 20*mib || s.RSS.Growth.V < 28*mib {
		t.Errorf("got growths of %.1f MiB and, within, %.1f, want 80 and 40", o.RSS.Growth.V/mib, s.RSS.Growth.V/mib)
	}
}
