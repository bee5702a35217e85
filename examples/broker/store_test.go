package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/examples/internal/page"
	"github.com/tidestaff/tidestaff/fsstat"
)

// size is a file's size, and all that a cache of its bounds asks for.
type size struct {
	fs.FileInfo
	bytes int64
}

func (s size) Size() int64 { return s.bytes }

// TestCachesBounded: no number and no size of files makes a cache exceed its
// bounds.
func TestCachesBounded(t *testing.T) {
	check := func(name string, c *cache[int]) {
		t.Helper()
		var held int64
		for _, e := range c.entries {
			held += e.info.Size()
		}
		if len(c.entries) > maxEntries || c.bytes > maxBytes || held != c.bytes {
			t.Errorf("%s: %d entries of %d bytes (%d counted)", name, len(c.entries), held, c.bytes)
		}
	}
	many, large := newCache[int](maxBytes), newCache[int](maxBytes)
	for i := range 2*maxEntries + 7 {
		many.put(fmt.Sprint(i), size{bytes: 1}, i)
		large.put(fmt.Sprint(i%40), size{bytes: int64(i%9) << 20}, i)
		check("many", many)
		check("large", large)
	}
	if len(many.entries) != maxEntries {
		t.Errorf("got %d entries, want %d: as many as there is room for", len(many.entries), maxEntries)
	}
	held := len(large.entries)
	large.put("whale", size{bytes: maxBytes + 1}, 0)
	if _, ok := large.entries["whale"]; ok || len(large.entries) != held {
		t.Errorf("a file larger than the cache is in it: %v; %d of %d others are left", ok, len(large.entries), held)
	}
	check("whale", large)
}

// TestMoreFilesThanRoom: a store with more archives than its cache holds knows
// all of their jobs, and some of them from the cache though it looks at all in turn.
func TestMoreFilesThanRoom(t *testing.T) {
	s := newStore(t)
	s.parsed.maxEntries = archiveCount / 2
	s.files = newFiles(s.dir)
	w, err := s.files.Watch()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	const passes = 8
	for range passes {
		jobs, malformed, err := s.Jobs(context.Background())
		if err != nil || len(malformed) > 0 {
			t.Fatal(err, malformed)
		}
		if len(jobs) != jobCount+archiveCount || len(s.parsed.entries) != archiveCount/2 {
			t.Errorf("got %d jobs and %d cached files, want %d and %d",
				len(jobs), len(s.parsed.entries), jobCount+archiveCount, archiveCount/2)
		}
	}
	got, _ := fsstat.StatsOf(w.Close())
	if read := got.Opens - got.ReadDirs; read >= passes*(1+archiveCount) {
		t.Errorf("%d files read in %d passes, want some of them from the cache", read, passes)
	}
}

// newStore is a store with caches on small jobs and archives.
func newStore(t *testing.T) *Store {
	t.Helper()
	s := OpenStore(t.TempDir(), nil, true)
	seedJobs(t, s.dir)
	return s
}

func seedJobs(t *testing.T, dir string) { seedPart(t, dir, (*seeder).jobs) }
func seedRuns(t *testing.T, dir string) { seedPart(t, dir, (*seeder).runs) }

func seedPart(t *testing.T, dir string, part func(*seeder)) {
	t.Helper()
	s := newSeeder(dir, 1, smoke)
	if part(s); s.err != nil {
		t.Fatal(s.err)
	}
}

// TestNotPoisoned: neither what a caller does with an answer nor a save that
// failed half-way is in a later answer.
func TestNotPoisoned(t *testing.T) {
	s, ctx := newStore(t), context.Background()
	seedRuns(t, s.dir)
	jobs := func() map[string]Job {
		t.Helper()
		jobs, malformed, err := s.Jobs(ctx)
		if err != nil || len(malformed) > 0 {
			t.Fatal(err, malformed)
		}
		return jobs
	}
	clear(jobs())
	was := jobs()[jobID(0)]
	mine := jobs()
	j := mine[jobID(0)]
	j.State = "poisoned"
	mine[j.ID] = j
	if err := s.SaveProgress(ctx, []Progress{{Job: jobID(0), Done: 77, Total: 78}, {Job: "nobody"}}); !errors.Is(err, errUnknownJob) {
		t.Errorf("got %v, want that there is no such job", err)
	}
	if diff := cmp.Diff(was, jobs()[jobID(0)]); diff != "" {
		t.Errorf("job (-was +got):\n%s", diff)
	}
	all, err := s.Summaries(ctx)
	if err != nil {
		t.Fatal(err)
	}
	first := all[0]
	all[0] = Summary{}
	if again, err := s.Summaries(ctx); err != nil || again[0] != first {
		t.Errorf("got %+v, %v, want %+v", again[0], err, first)
	}
}

// TestReplaced: a file in the place of another one of the same size and time is
// noticed, and one that is written anew and has its time set back.
func TestReplaced(t *testing.T) {
	for name, where := range map[string]string{"in its place": ".new", "in place": ""} {
		t.Run(name, func(t *testing.T) {
			s, ctx := newStore(t), context.Background()
			path := s.path(archived(jobCount))
			if _, _, err := s.Jobs(ctx); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			old, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if where == "" && changed(old) == 0 {
				t.Skip("this system does not say when a file was changed")
			}
			data = bytes.Replace(data, []byte(`"state":"done"`), []byte(`"state":"lost"`), 1)
			write := func() fs.FileInfo {
				err := os.WriteFile(path+where, data, 0o600)
				if err == nil {
					err = os.Chtimes(path+where, old.ModTime(), old.ModTime())
				}
				if err == nil {
					err = os.Rename(path+where, path)
				}
				now, statErr := os.Stat(path)
				if err := errors.Join(err, statErr); err != nil {
					t.Fatal(err)
				}
				return now
			}
			now := write()
			// The kernel's clock for files ticks some hundred times a second, and
			// in place nothing but that time tells the files apart.
			for tries := 1; where == "" && changed(now) == changed(old) && tries < 1000; tries++ {
				time.Sleep(time.Millisecond)
				now = write()
			}
			jobs, _, err := s.Jobs(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if j := jobs[jobID(jobCount)]; j.State != "lost" {
				t.Errorf("got state %q, want that of the new file", j.State)
			}
		})
	}
}

// TestComeAndGone: files that are made or removed are noticed, as fast as that
// goes.
func TestComeAndGone(t *testing.T) {
	s, ctx := OpenStore(t.TempDir(), nil, true), context.Background()
	seedRuns(t, s.dir)
	names := func() (all []string) {
		t.Helper()
		sums, err := s.Summaries(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, sum := range sums {
			all = append(all, sum.Run)
		}
		return all
	}
	was := names()
	for i := range 3 {
		name := fmt.Sprintf("runs/manager-1/batch-01/extra-%d.jsonl", i)
		if err := os.WriteFile(s.path(name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := names(); len(got) != len(was)+1 || !slices.Contains(got, name) {
			t.Errorf("got %d runs, want %d with %q", len(got), len(was)+1, name)
		}
		if err := os.Remove(s.path(name)); err != nil {
			t.Fatal(err)
		}
		if got := names(); !slices.Equal(got, was) {
			t.Errorf("got %d runs, want %d as before", len(got), len(was))
		}
	}
}

// TestSummarize: a line that is half written is counted and nothing else.
func TestSummarize(t *testing.T) {
	log := "{\"at\":1,\"state\":\"running\",\"done\":1,\"total\":3}\n{\"at\":5,\"done\":2,\"total\":3}\n{\"at\":9,\"do"
	want := Summary{Run: "r", State: stateRunning, Lines: 2, Broken: 1, Started: 1, Updated: 5, Done: 2, Total: 3}
	if got := summarize("r", []byte(log)); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestLock: a save waits for the lock of another one, not forever, and removes
// none but its own.
func TestLock(t *testing.T) {
	s := newStore(t)
	lock := filepath.Join(s.dir, lockName)
	hold := func() {
		if err := os.WriteFile(lock, nil, 0o600); err != nil {
			t.Error(err)
		}
	}
	save := func() (time.Duration, error) {
		start := time.Now()
		err := s.SaveProgress(context.Background(), []Progress{{Job: jobID(0), Done: 1, Total: 2}})
		return time.Since(start), err
	}
	synctest.Test(t, func(t *testing.T) {
		hold()
		go func() {
			time.Sleep(lockWait / 2)
			os.Remove(lock)
		}()
		if took, err := save(); err != nil || took < lockWait/2 || took > lockWait/2+lockPoll {
			t.Errorf("released: got %v after %v, want no error after %v", err, took, lockWait/2)
		}
		if _, err := os.Stat(lock); !os.IsNotExist(err) {
			t.Errorf("the lock is still there: %v", err)
		}
		hold()
		if took, err := save(); !errors.Is(err, fs.ErrExist) || took < lockWait {
			t.Errorf("held: got %v after %v, want that it exists, after %v", err, took, lockWait)
		}
		if _, err := os.Stat(lock); err != nil {
			t.Errorf("somebody else's lock: %v", err)
		}
	})
}

// TestSeed: a seed makes the same records, and another one others.
func TestSeed(t *testing.T) {
	records := func(seed uint64) []byte {
		s := newSeeder("", seed, smoke)
		return append(page.Encode(s.job(0)), s.log(0)...)
	}
	if !bytes.Equal(records(1), records(1)) || bytes.Equal(records(1), records(2)) {
		t.Error("the records do not follow from the seed")
	}
}
