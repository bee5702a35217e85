package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/fsstat"
	"github.com/tidestaff/tidestaff/probe"
)

// tempDir is a temporary folder, in memory where the system has such a place:
// thousands of files on a disk take seconds to make.
func tempDir(t testing.TB) string {
	t.Helper()
	if _, err := os.Stat("/dev/shm"); err != nil {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp("/dev/shm", "tidestaff-workflow-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// open is an empty workspace.
func open(t *testing.T) *Workspace {
	t.Helper()
	ws, err := OpenWorkspace(tempDir(t), fsstat.New(fsstat.Options{}), new(probe.Counter))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ws.Close() })
	return ws
}

// filled is a workspace with so many ready jobs.
func filled(t *testing.T, jobs int) *Workspace {
	t.Helper()
	ws := open(t)
	if err := submit(t.Context(), ws, jobs, placement); err != nil {
		t.Fatal(err)
	}
	return ws
}

// worker is a manager that carries out all jobs that are ready.
func worker(ws *Workspace, name string) *Manager {
	m := NewManager(ws, name)
	m.Workers, m.Launch = 10_000, end
	return m
}

// TestClaimOnce lets two managers tick at once, until both have seen that nothing
// is left: each job is claimed by one of them, and ends.
func TestClaimOnce(t *testing.T) {
	const jobs = 300
	ws := filled(t, jobs)
	var mu sync.Mutex
	claims := map[string]int{}
	var managers sync.WaitGroup
	for _, name := range []string{"a", "b"} {
		m := worker(ws, name)
		m.Claimed = func(name string) {
			mu.Lock()
			defer mu.Unlock()
			claims[name]++
		}
		managers.Go(func() {
			for ready := 1; ready > 0; {
				var err error
				if ready, err = m.Tick(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	managers.Wait()
	for name, n := range claims {
		if n != 1 {
			t.Errorf("%s: claimed %d times, want once", name, n)
		}
	}
	m := NewManager(ws, "c")
	if _, err := m.Tick(); err != nil || len(claims) != jobs || m.States()[Done] != jobs {
		t.Errorf("got %d claims and states %v, error %v, want %d of both", len(claims), m.States(), err, jobs)
	}
}

// TestJoinOnce ends a job's children one after the other: it waits for the last
// of them, and then one of two managers makes it ready.
func TestJoinOnce(t *testing.T) {
	const children = 20
	ws := open(t)
	parent, err := family(t.Context(), ws, children)
	if err != nil {
		t.Fatal(err)
	}
	a, b := worker(ws, "a"), NewManager(ws, "b")
	a.Workers = 1
	for i := range children {
		if _, err := a.Tick(); err != nil {
			t.Fatal(err)
		}
		if i == children-1 {
			break
		}
		if n, err := a.Join(parent); n != i+1 || err != nil || a.jobs[parent].marker.state != Waiting {
			t.Fatalf("after %d of %d: got %d ended, error %v, state %s", i+1, children, n, err, a.jobs[parent].marker)
		}
	}
	if _, err := b.ws.marker(parent); err != nil {
		t.Fatal(err)
	}
	b.jobs[parent] = &entry{marker: a.jobs[parent].marker, job: a.jobs[parent].job}
	var errs [2]error
	var managers sync.WaitGroup
	for i, m := range []*Manager{a, b} {
		managers.Go(func() { _, errs[i] = m.Join(parent) })
	}
	managers.Wait()
	if (errs[0] == nil) == (errs[1] == nil) || !errors.Is(errors.Join(errs[:]...), errLost) {
		t.Errorf("got errors %v, want one to have lost", errs)
	}
	if mark, err := ws.marker(parent); mark.state != Ready || err != nil {
		t.Errorf("got %s, error %v, want ready", mark, err)
	}
}

// TestHarvestComplete wants each result once, failures too, and no file to be read
// before it is asked for.
func TestHarvestComplete(t *testing.T) {
	const jobs = 50
	ws := filled(t, jobs)
	want := map[Result]int{}
	m := worker(ws, "a")
	m.Launch = func(j Job) Result {
		r := Result{ID: j.ID, Exit: int(j.Created % 2)}
		want[r]++
		return r
	}
	if _, err := m.Tick(); err != nil {
		t.Fatal(err)
	}
	got := map[Result]int{}
	for r, err := range ws.Harvest() {
		if err != nil {
			t.Fatal(err)
		}
		got[r]++
	}
	if diff := cmp.Diff(want, got); diff != "" || len(got) != jobs {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	w, err := ws.files.Watch()
	if err != nil {
		t.Fatal(err)
	}
	for range ws.Harvest() {
		break
	}
	// The folders on the way to the first job, that job's, and its result.
	if s, _ := fsstat.StatsOf(w.Close()); s.Opens != 4+1+1 {
		t.Errorf("got %d opens for one result, want 6", s.Opens)
	}
}

// TestFsckFinds does damage to some jobs, and wants that to be found and nothing
// else.
func TestFsckFinds(t *testing.T) {
	ws := filled(t, 20)
	m := worker(ws, "a")
	m.Workers = 4
	if _, err := m.Tick(); err != nil {
		t.Fatal(err)
	}
	if found, err := ws.Fsck(); len(found) > 0 || err != nil {
		t.Fatalf("got %v, %v of a workspace without damage", found, err)
	}
	var want []Damage
	plant := func(i int, fault string, do func(dir string) error) {
		name := placement(i) + "/" + job(i).ID
		if err := do(ws.job(name)); err != nil {
			t.Fatal(err)
		}
		want = append(want, Damage{name, fault})
	}
	plant(0, noResult, func(dir string) error { return os.Remove(filepath.Join(dir, resultName)) })
	plant(5, noMarker, func(dir string) error { return os.Remove(filepath.Join(dir, string(Ready))) })
	plant(6, manyMarkers, func(dir string) error { return os.WriteFile(filepath.Join(dir, string(Waiting)), nil, 0o600) })
	plant(7, noPayload, func(dir string) error { return os.WriteFile(filepath.Join(dir, payloadName), []byte("{"), 0o600) })
	plant(8, noPayload, func(dir string) error {
		return os.WriteFile(filepath.Join(dir, payloadName), []byte(`{"id":"another"}`), 0o600)
	})
	plant(9, noOwner, func(dir string) error {
		return os.Rename(filepath.Join(dir, string(Ready)), filepath.Join(dir, marker{Claimed, "gone"}.String()))
	})
	found, err := ws.Fsck()
	if diff := cmp.Diff(want, found); diff != "" || err != nil {
		t.Errorf("error %v, damages (-want +got):\n%s", err, diff)
	}
	// A manager goes on with what is whole, and says what is not.
	if ready, err := worker(ws, "b").Tick(); ready != 20-4-4 || err == nil || !strings.Contains(err.Error(), payloadName) {
		t.Errorf("got %d ready, error %v", ready, err)
	}
}

// TestGC wants the days before a day to be forgotten, and what cannot be read to be
// named.
func TestGC(t *testing.T) {
	ws := filled(t, 3)
	old := filepath.Join(ws.dir, journalName, "2001-02-03.jsonl")
	if err := os.WriteFile(old, []byte("{}\n{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := ws.GC(3); n != 2 || err != nil {
		t.Errorf("got %d old transitions, error %v, want 2", n, err)
	}
	if err := os.WriteFile(old, []byte("{}\n?\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ws.GC(0); err == nil || !strings.Contains(err.Error(), "2001-02-03.jsonl, line 2") {
		t.Errorf("got error %v, want the line to be named", err)
	}
	if err := os.Remove(old); err != nil {
		t.Fatal(err)
	}
	if n, err := ws.GC(0); n != 3 || err != nil {
		t.Errorf("got %d transitions, error %v, want 3", n, err)
	}
	if err := ws.Submit("later", job(4)); err != nil { // into a new journal
		t.Fatal(err)
	}
	if n, err := ws.GC(0); n != 1 || err != nil {
		t.Errorf("got %d transitions, error %v, want 1", n, err)
	}
}

// TestHeartbeatGap scans with a clock that moves on with each entry: without
// heartbeats in between the manager is silent for the whole scan, with them for
// their interval.
func TestHeartbeatGap(t *testing.T) {
	const jobs, interval = 200, 10 * time.Millisecond
	ws := filled(t, jobs)
	for _, beat := range []time.Duration{-1, interval} {
		now := time.Unix(0, 0)
		m := NewManager(ws, "a")
		m.Beat, m.now = beat, func() time.Time { return now }
		m.Serve = func() error { now = now.Add(time.Millisecond); return nil }
		if _, err := m.Tick(); err != nil {
			t.Fatal(err)
		}
		scan := now.Sub(time.Unix(0, 0))
		if want := map[bool]time.Duration{true: scan, false: interval}[beat < 0]; m.gap != want || scan < jobs*time.Millisecond {
			t.Errorf("every %v: got a gap of %v in a scan of %v, want %v", beat, m.gap, scan, want)
		}
	}
}

// TestVanished removes a job: the manager forgets it.
func TestVanished(t *testing.T) {
	ws := filled(t, 3)
	m := NewManager(ws, "a")
	if n, err := m.Tick(); n != 3 || err != nil {
		t.Fatalf("got %d ready, error %v", n, err)
	}
	if err := os.RemoveAll(ws.job(placement(1) + "/" + job(1).ID)); err != nil {
		t.Fatal(err)
	}
	n, err := m.Tick()
	if want := []string{placement(0) + "/" + job(0).ID, placement(2) + "/" + job(2).ID}; n != 2 || err != nil || !slices.Equal(m.in(Ready), want) {
		t.Errorf("got %v, error %v, want %v", m.in(Ready), err, want)
	}
}

// TestStopped ends the loop in the middle of a benchmark.
func TestStopped(t *testing.T) {
	b := newBench(tempDir(t), false, 1)
	err := b.do(func() error {
		if err := b.begin(10); err != nil {
			return err
		}
		b.stop()
		return submit(b.ctx, b.ws, 10, placement)
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want that of the end", err)
	}
	if err := b.close(); err != nil {
		t.Error(err)
	}
	if err := b.do(func() error { return nil }); err == nil {
		t.Error("a loop that has ended did something")
	}
}
