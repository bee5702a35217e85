package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"
)

// taskDir is a root whose proc/self/task has threads that waited so long.
func taskDir(t *testing.T, waited map[int]time.Duration) string {
	t.Helper()
	root := t.TempDir()
	for tid, w := range waited {
		setWait(t, root, tid, w)
	}
	return root
}

func setWait(t *testing.T, root string, tid int, waited time.Duration) {
	t.Helper()
	dir := filepath.Join(root, "proc/self/task", fmt.Sprint(tid))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	// In place: a kept descriptor must see it.
	text := fmt.Appendf(nil, "%-20d %-20d 7\n", 5_000_000, waited.Nanoseconds())
	if err := os.WriteFile(filepath.Join(dir, "schedstat"), text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// The sum counts from OpenThreads on, includes threads that came since from
// their birth, and does not go down when one ends.
func TestThreads(t *testing.T) {
	const second = time.Second
	root := taskDir(t, map[int]time.Duration{10: 100 * second, 11: 200 * second})
	th, err := OpenThreads(root)
	if err != nil {
		t.Fatal(err)
	}
	defer th.Close()
	want := func(what string, waited time.Duration, exist int) {
		t.Helper()
		w, err := th.Read()
		if err != nil {
			t.Fatal(err)
		}
		if w.Waited != waited || w.Exist != exist || w.Read != exist {
			t.Errorf("%s: got %v, %d threads, %d read, want %v, %d", what, w.Waited, w.Exist, w.Read, waited, exist)
		}
	}
	want("at first", 0, 2)
	setWait(t, root, 10, 103*second)
	want("one waited", 3*second, 2)
	setWait(t, root, 12, 4*second)
	want("one was born", 7*second, 3)
	setWait(t, root, 11, 150*second)
	want("one went back", 7*second, 3)
	// A file of a file system that is removed can still be read, unlike a
	// thread's: it has to be emptied too.
	dir := filepath.Join(root, "proc/self/task/10")
	if err := os.Truncate(filepath.Join(dir, "schedstat"), 0); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	want("one ended", 7*second, 2)
	setWait(t, root, 12, 5*second)
	want("another waited", 8*second, 2)
}

// Beyond the limit the number is known; a thread that is read only later does
// not bring its past with it.
func TestThreadsLimit(t *testing.T) {
	all := map[int]time.Duration{}
	for tid := range maxThreads + 10 {
		all[1000+tid] = time.Hour
	}
	root := taskDir(t, all)
	th, err := OpenThreads(root)
	if err != nil {
		t.Fatal(err)
	}
	defer th.Close()
	first := th.open[0].tid
	dir := filepath.Join(root, "proc/self/task", fmt.Sprint(first))
	if err := os.Truncate(filepath.Join(dir, "schedstat"), 0); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	w, err := th.Read()
	if err != nil || w != (Waits{Waited: 0, Exist: maxThreads + 9, Read: maxThreads}) {
		t.Errorf("got %+v, %v, want nothing waited, %d threads, %d read", w, err, maxThreads+9, maxThreads)
	}
}

func TestThreadsErrors(t *testing.T) {
	if _, err := OpenThreads(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: got %v, want not exist", err)
	}
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "proc/self/task/10"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenThreads(root); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no counters: got %v, want not exist", err)
	}
}

// This process has threads, and threads that come and go cost no descriptor.
func TestThreadsSelf(t *testing.T) {
	th, err := OpenThreads("/")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer th.Close()
	var last Waits
	for range 20 {
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(runtime.LockOSThread) // its thread ends with the goroutine
		}
		wg.Wait()
		w, err := th.Read()
		if err != nil {
			t.Fatal(err)
		}
		if w.Waited < last.Waited || w.Exist < 1 || w.Read < 1 || w.Read > w.Exist || w.Read > maxThreads {
			t.Errorf("got %+v after %+v", w, last)
		}
		last = w
	}
	if n := testing.AllocsPerRun(100, func() { _, _ = th.Read() }); n >= 1 {
		t.Errorf("got %v allocations a reading, want 0", n)
	}
}

func BenchmarkThreads(b *testing.B) {
	th, err := OpenThreads("/")
	if err != nil {
		b.Skip(err)
	}
	defer th.Close()
	b.ReportAllocs()
	for b.Loop() {
		_, _ = th.Read()
	}
	b.ReportMetric(float64(th.exist), "threads")
}
