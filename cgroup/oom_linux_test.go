package cgroup

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

// awaitEvents reads the window until it has an event of that name. The core is
// nobody's probe, so that a reading looks at nothing by itself.
func awaitEvents(t *testing.T, w *probe.Window, name string) []probe.Event {
	t.Helper()
	var r probe.Reading
	for limit := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		w.Read(&r)
		if slices.ContainsFunc(r.Events, func(e probe.Event) bool { return e.Name == name }) {
			return r.Events
		}
		if time.Now().After(limit) {
			t.Fatalf("got %+v, want an event %s", r.Events, name)
		}
	}
}

// noticing2 watches a folder that stands in for a version 2 group, and names its file
// of events.
func noticing2(t *testing.T) (w *probe.Window, events string) {
	t.Helper()
	core := new(probe.Core)
	g := group2(t)
	o, err := watchOOM(core, g, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.close)
	return watch(t, core), filepath.Join(g.Dir, "memory.events")
}

// TestOOMNoticed2: on version 2 a change of memory.events is noticed without any
// sample; inotify works on any file, so that a folder can stand in for a group.
func TestOOMNoticed2(t *testing.T) {
	w, name := noticing2(t)
	overwrite(t, name, "low 0\nhigh 0\nmax 5\noom 1\noom_kill 2\n")
	got := awaitEvents(t, w, eventOOMKill)
	if want := evidence("1", "inotify"); len(got) != 1 || !slices.Equal(got[0].Attrs, want) {
		t.Errorf("got %+v, want one event with %v", got, want)
	}
}

// TestOOMNoticedLate: a kill that is counted long after the notification, as version
// 1 may on a busy machine, is noticed all the same. A change through a mapping is one
// that inotify does not tell of.
func TestOOMNoticedLate(t *testing.T) {
	w, name := noticing2(t)
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const text = "low 0\nhigh 0\nmax 6\noom 1\noom_kill 1\n"
	m, err := syscall.Mmap(int(f.Fd()), 0, len(text), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		t.Skipf("needs to map a file: %v", err)
	}
	defer syscall.Munmap(m)
	overwrite(t, name, text)
	awaitEvents(t, w, eventLimitHit)
	for _, d := range again {
		time.Sleep(2 * d) // until it has looked so often
	}
	m[len(text)-2] = '2'
	awaitEvents(t, w, eventOOMKill)
}

// killing makes a version 1 group with a limit of 48 MiB.
func killing(t *testing.T) (*hop, proc.Group) {
	t.Helper()
	groups, err := proc.Detect("/")
	if err != nil {
		t.Skip(err)
	}
	g, err := groups.Lookup("memory")
	if err != nil || g.Version != 1 {
		t.Skipf("needs the memory controller of version 1: %v", err)
	}
	h := new(hop)
	dir, err := h.below(g.Dir)
	if err != nil {
		t.Skipf("needs to make groups: %v", err)
	}
	t.Cleanup(func() {
		h.close()
		if err := removeGroup(dir); err != nil {
			t.Error(err)
		}
	})
	limitTo(t, dir)
	return h, proc.Group{Controller: "memory", Version: 1, Path: g.Path + "/x", Dir: dir, Mount: g.Mount, Scope: proc.ScopeLeaf}
}

// limitTo limits a version 1 group to 48 MiB, and keeps it out of swap. Of an
// equal limit of memory and swap together Linux 6.18 counts no hit at all.
func limitTo(t *testing.T, dir string) {
	t.Helper()
	rewrite(t, dir, "memory.limit_in_bytes", "50331648")
	rewrite(t, dir, "memory.swappiness", "0")
}

// TestOOMNoticed1: a sibling in a group of version 1 that the kernel kills is
// noticed without any sample.
func TestOOMNoticed1(t *testing.T) {
	h, g := killing(t)
	var core probe.Core
	o, err := watchOOM(&core, g, true)
	if err != nil {
		t.Fatal(err)
	}
	defer o.close()
	if o.wake == nil {
		t.Skip("needs cgroup.event_control")
	}
	w := watch(t, &core)
	cmd := helper(t.Context(), "hold", "400")
	if outside, err := h.start(cmd.Start); outside != nil || err != nil {
		t.Fatal(outside, err)
	}
	if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("got %v, want the helper killed", err)
	}
	events := awaitEvents(t, w, eventOOMKill)
	for _, e := range events {
		attrs := fmt.Sprint(e.Attrs)
		for _, want := range []string{"eventfd", "50331648"} {
			if !strings.Contains(attrs, want) {
				t.Errorf("got %+v, want it with %s", e, want)
			}
		}
	}
	look(t, o)
	var r probe.Reading
	w.Read(&r)
	if !slices.ContainsFunc(r.Events, func(e probe.Event) bool { return e.Name == eventLimitHit }) {
		t.Errorf("got %+v, want that the limit was met", r.Events)
	}
}

// TestCommandOOM: a command whose process the kernel has killed for want of
// memory says so.
func TestCommandOOM(t *testing.T) {
	p := celled(t)
	w := watch(t, p)
	h := start(t, p, "git upload-pack", "grow", "400")
	if filepath.Base(h.cell.peak.name) == peakFile1 {
		limitTo(t, h.cell.dirs[0])
	} else {
		rewrite(t, h.cell.dirs[0], "memory.max", "50331648")
		rewrite(t, h.cell.dirs[0], "memory.swap.max", "0")
	}
	u, err := h.end(t)
	if err == nil || u.OOMKills.V != 1 {
		t.Fatalf("got %+v, %v, want it killed", u, err)
	}
	const want = "git upload-pack: 1 of its processes killed for want of memory, peak 48.0 MiB"
	r := w.Close()
	i := slices.IndexFunc(r.Events, func(e probe.Event) bool { return e.Name == eventCommandOOM })
	if i < 0 || r.Events[i].Text != want {
		t.Errorf("got %+v, want an event %q", r.Events, want)
	}
}

// TestOOMNothingLeft: watching ends its goroutine and closes its descriptors.
func TestOOMNothingLeft(t *testing.T) {
	g := group2(t)
	open := func() {
		o, err := watchOOM(new(probe.Core), g, false)
		if err != nil {
			t.Fatal(err)
		}
		rewrite(t, g.Dir, "memory.events", "oom_kill 1\n") // somebody is about to look
		o.close()
	}
	open()
	before := len(entries(t, "/proc/self/fd"))
	for range 200 {
		open()
	}
	if got := len(entries(t, "/proc/self/fd")); got > before {
		t.Errorf("got %d descriptors, had %d", got, before)
	}
	for limit := time.Now().Add(time.Minute); wakes() > 0; runtime.Gosched() {
		if time.Now().After(limit) {
			t.Fatalf("got %d goroutines that wait for notifications, want none", wakes())
		}
	}
}

// wakes counts the goroutines of notifications.
func wakes() int { return running("newWake") }
