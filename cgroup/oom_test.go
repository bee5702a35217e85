package cgroup

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

// watchedGroup is a folder with the files of a group that is watched.
func watchedGroup(t *testing.T, version int, files map[string]string) proc.Group {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		rewrite(t, dir, name, data)
	}
	return proc.Group{Controller: "memory", Version: version, Path: "/svc", Dir: dir, Mount: dir, Scope: proc.ScopeLeaf}
}

func group2(t *testing.T) proc.Group {
	return watchedGroup(t, 2, map[string]string{
		"memory.events": "low 0\nhigh 0\nmax 5\noom 1\noom_kill 1\n", "memory.current": "62914560\n", "memory.max": "67108864\n",
	})
}

func group1(t *testing.T) proc.Group {
	return watchedGroup(t, 1, map[string]string{
		"memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n", "memory.failcnt": "5\n", "memory.memsw.failcnt": "0\n",
		"memory.usage_in_bytes": "62914560\n", "memory.stat": "hierarchical_memory_limit 67108864\n",
	})
}

// overwrite puts as much data into a file as it has, in one step as the kernel
// does: who is notified never finds it empty.
func overwrite(t *testing.T, name, data string) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(data)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// unnotified is a watch that looks at samples only.
func unnotified(t *testing.T, core *probe.Core, g proc.Group) *oomWatch {
	t.Helper()
	o := &oomWatch{core: core}
	if err := o.open(g); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.close)
	look(t, o)
	return o
}

func look(t *testing.T, o *oomWatch) {
	t.Helper()
	if err := o.look(noticedBySample, true); err != nil {
		t.Fatal(err)
	}
}

// sameEvents compares events but for their numbers and times, which have rules
// of their own.
func sameEvents(t *testing.T, got []probe.Event, want ...probe.Event) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(probe.Event{}, "ID", "Start", "Duration"), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, e := range got {
		if e.Start.IsZero() || e.Duration < 0 || e.Start.Add(e.Duration).After(time.Now()) {
			t.Errorf("got an event from %v for %v", e.Start, e.Duration)
		}
	}
}

func evidence(count, noticed string) []probe.Attr {
	return []probe.Attr{
		{Key: attrEventCount, Value: count}, {Key: attrEventNoticed, Value: noticed},
		{Key: attrEventLevel, Value: "62914560"}, {Key: attrEventLimit, Value: "67108864"},
	}
}

// TestOOMEvents: what was counted since the last look is an event, with the
// count, the level and the limit; what had been counted before is none.
func TestOOMEvents(t *testing.T) {
	const level = ", usage 60.0 MiB, limit 64.0 MiB"
	kill := func(count, cause, text string) probe.Event {
		return probe.Event{Name: eventOOMKill, Cause: cause, Text: text + level, Attrs: evidence(count, noticedBySample)}
	}
	hits := func(count string) probe.Event {
		return probe.Event{Name: eventLimitHit, Text: "the memory limit was met " + count + " times" + level, Attrs: evidence(count, noticedBySample)}
	}
	const ours, above = "the group's limit", "a limit above, or the machine"
	for _, tt := range []struct {
		name       string
		group      func(*testing.T) proc.Group
		file, data string
		want       []probe.Event
	}{
		{"v2, nothing", group2, "memory.events", "max 5\noom 1\noom_kill 1\n", nil},
		{"v2, a kill", group2, "memory.events", "max 30\noom 2\noom_kill 2\n", []probe.Event{kill("1", ours, "1 process was killed for want of memory"), hits("25")}},
		{"v2, from above", group2, "memory.events", "max 5\noom 1\noom_kill 3\n", []probe.Event{kill("2", above, "2 processes were killed for want of memory")}},
		{"v2, hits", group2, "memory.events", "max 7\noom 1\noom_kill 1\n", []probe.Event{hits("2")}},
		{"v2, an old kernel", group2, "memory.events", "low 0\n", nil},
		{"v2, begun anew", group2, "memory.events", "max 0\noom 0\noom_kill 0\n", nil},
		{"v1, a kill", group1, "memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n", []probe.Event{kill("1", "", "1 process was killed for want of memory")}},
		{"v1, hits", group1, "memory.failcnt", "9\n", []probe.Event{hits("4")}},
		{"v1, hits of memory and swap", group1, "memory.memsw.failcnt", "3\n", []probe.Event{hits("3")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var core probe.Core
			g := tt.group(t)
			w := watch(t, &core)
			o := unnotified(t, &core, g)
			rewrite(t, g.Dir, tt.file, tt.data)
			look(t, o)
			look(t, o)
			sameEvents(t, w.Close().Events, tt.want...)
		})
	}
}

// TestOOMCause: the limit may have been met in vain a look before the kill.
func TestOOMCause(t *testing.T) {
	var core probe.Core
	g := group2(t)
	w := watch(t, &core)
	o := unnotified(t, &core, g)
	rewrite(t, g.Dir, "memory.events", "oom 2\noom_kill 1\n")
	look(t, o)
	rewrite(t, g.Dir, "memory.events", "oom 2\noom_kill 2\n")
	look(t, o)
	rewrite(t, g.Dir, "memory.events", "oom 2\noom_kill 3\n")
	look(t, o)
	var got []string
	for _, e := range w.Close().Events {
		got = append(got, e.Cause)
	}
	if diff := cmp.Diff([]string{"the group's limit", "a limit above, or the machine"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestLimitHitsBounded: hits that come all the time are told once a second, and
// a window's end has the rest.
func TestLimitHitsBounded(t *testing.T) {
	var core probe.Core
	w := watch(t, &core)
	o := &oomWatch{core: &core, usage: new(proc.File)} // of which nothing is known
	begin := time.Now()
	for ms := range 2500 {
		o.tellHits(1, "inotify", false, begin.Add(time.Duration(ms)*time.Millisecond))
	}
	o.tellHits(0, noticedBySample, false, begin.Add(2500*time.Millisecond))
	o.tellHits(0, noticedBySample, true, begin.Add(2500*time.Millisecond))
	o.tellHits(0, noticedBySample, true, begin.Add(2500*time.Millisecond))
	var got []string
	for _, e := range w.Close().Events {
		got = append(got, e.Attrs[0].Value+" in "+e.Duration.String())
	}
	want := []string{"1 in 0s", "1000 in 999ms", "1000 in 999ms", "499 in 499ms"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestOOMNotReadable: a group without the files has no events, and one whose
// file has failed has them again afterwards.
func TestOOMNotReadable(t *testing.T) {
	for _, tt := range []struct {
		version int
		files   map[string]string
	}{
		{2, nil},
		{2, map[string]string{"memory.current": "1\n"}},
		{2, map[string]string{"memory.current": "1\n", "memory.events": "oom_kill x\n"}},
		{1, map[string]string{"memory.usage_in_bytes": "1\n", "memory.oom_control": "oom_kill 0\n"}},
	} {
		o, err := watchOOM(new(probe.Core), watchedGroup(t, tt.version, tt.files), false)
		if err == nil {
			err = o.look(noticedBySample, true)
			o.close()
		}
		if err == nil {
			t.Errorf("version %d with %v: got no error", tt.version, tt.files)
		}
	}
	var core probe.Core
	core.Name = "named"
	g := watchedGroup(t, 2, map[string]string{"memory.current": "1\n", "memory.events": "oom_kill 1\n"}) // without a limit
	w := watch(t, &core)
	o := unnotified(t, &core, g)
	rewrite(t, g.Dir, "memory.events", "oom_kill x\n")
	if err := o.look(noticedBySample, true); err == nil {
		t.Error("got no error of a file that makes no sense")
	}
	replace(t, g.Dir, "memory.events", "oom_kill 2\n")
	if err := o.reopen(); err != nil {
		t.Fatal(err)
	}
	look(t, o)
	sameEvents(t, w.Close().Events, probe.Event{Name: eventOOMKill, Text: "1 process was killed for want of memory, usage 0.0 MiB",
		Attrs: []probe.Attr{{Key: attrEventCount, Value: "1"}, {Key: attrEventNoticed, Value: noticedBySample},
			{Key: probe.AttrProbeName, Value: "named"}, {Key: attrEventLevel, Value: "1"}}})
}

// TestOOMInProbe: a window of the probe has the events of its group, also
// where nobody notifies it.
func TestOOMInProbe(t *testing.T) {
	root := fixture(t, "v2")
	const events = "sys/fs/cgroup/pod/leaf/memory.events"
	rewrite(t, root, events, "max 2\noom 1\noom_kill 1\n")
	w := watch(t, New(Options{Root: root}))
	overwrite(t, filepath.Join(root, events), "max 2\noom 2\noom_kill 4\n")
	r := w.Close()
	if len(r.Events) != 1 || r.Events[0].Name != eventOOMKill || r.Events[0].Attrs[0].Value != "3" {
		t.Errorf("got %+v, want one event of 3 kills", r.Events)
	}
}

// TestOOMFakeClock: under the clock of testing/synctest nobody waits for the
// kernel, which would stop that clock; samples find what has happened.
func TestOOMFakeClock(t *testing.T) {
	root := fixture(t, "v2")
	synctest.Test(t, func(t *testing.T) {
		p := New(Options{Root: root})
		w := watch(t, p)
		overwrite(t, filepath.Join(root, leaf, "memory.events"), "low 0\nhigh 3\nmax 2\noom 1\noom_kill 2\n")
		time.Sleep(2 * defaultInterval)
		synctest.Wait()
		rewrite(t, root, leaf+"memory.events", "") // the last reading finds nothing
		r := w.Close()
		if len(r.Events) != 1 || r.Events[0].Name != eventOOMKill || r.Events[0].Duration > 2*defaultInterval {
			t.Errorf("got %+v, want one event of a kill", r.Events)
		}
	})
}
