package fsstat

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
)

func TestRoles(t *testing.T) {
	p := New(Options{})
	w := watch(t, p)
	path := tempFile(t, 100)

	probe.Do(t.Context(), "sweeper", func(ctx context.Context) {
		must[[]byte](t)(p.ReadFile(path))
		var inherits sync.WaitGroup
		inherits.Go(func() { must[[]byte](t)(p.ReadFile(path)) })
		inherits.Wait()
	})
	must[[]byte](t)(p.In(probe.WithRole(t.Context(), "request")).ReadFile(path))
	must[[]byte](t)(p.As("importer").ReadFile(path))
	must[[]byte](t)(p.ReadFile(path))

	// A File stays in the role of whoever opened it.
	f := must[*File](t)(p.As("opener").Open(path))
	probe.Do(t.Context(), "sweeper", func(context.Context) {
		must[int](t)(f.Read(make([]byte, 10)))
	})
	f.Close()

	want := map[string]Counts{
		"sweeper":  {Opens: 2, Reads: 4, BytesRead: 200},
		"request":  {Opens: 1, Reads: 2, BytesRead: 100},
		"importer": {Opens: 1, Reads: 2, BytesRead: 100},
		"test":     {Opens: 1, Reads: 2, BytesRead: 100},
		"opener":   {Opens: 1, Reads: 1, BytesRead: 10},
	}
	if diff := cmp.Diff(want, statsOf(t, w.Close()).Roles); diff != "" {
		t.Errorf("counts by role (-want +got):\n%s", diff)
	}
}

// Beyond the limit, roles share a row and no count is lost.
func TestMaxSeries(t *testing.T) {
	p := New(Options{MaxSeries: 2})
	w := watch(t, p)
	for i := range 10 {
		_, _ = p.In(probe.WithRole(t.Context(), fmt.Sprint("role ", i))).Stat("")
	}
	class := map[string]int64{"ENOENT": 1}
	want := map[string]Counts{
		"role 0":  {Stats: 1, Errors: class},
		"role 1":  {Stats: 1, Errors: class},
		"(other)": {Stats: 8, Errors: map[string]int64{"ENOENT": 8}},
	}
	if diff := cmp.Diff(want, statsOf(t, w.Close()).Roles); diff != "" {
		t.Errorf("counts by role (-want +got):\n%s", diff)
	}
}

// Reads and bytes become distributions over the user's operations.
func TestOperations(t *testing.T) {
	p, ops := New(Options{}), new(probe.Ops)
	w, err := probe.NewSet(p, ops).Watch()
	if err != nil {
		t.Fatal(err)
	}
	path := tempFile(t, 1000)
	for n := range int64(3) {
		ctx, op := ops.Begin(t.Context(), "send")
		files := p.In(ctx)
		for range n {
			must[[]byte](t)(files.ReadFile(path))
		}
		f := must[*File](t)(files.Open(path))
		must[int](t)(f.ReadAt(make([]byte, 10), 0))
		f.Close()
		op.End(nil)
	}
	r := w.Close()
	for name, want := range map[string][2]int64{
		"tidestaff.operation.file.reads": {3*1 + 2*3, 5},
		"tidestaff.operation.file.io":    {3*10 + 1000*3, 2010},
	} {
		found := false
		for m := range r.Find(name) {
			found = true
			if m.Dist.Count() != 3 || m.Dist.Sum() != want[0] || m.Dist.Max() != want[1] {
				t.Errorf("%s: got count %d, sum %d, max %d, want 3, %d", name, m.Dist.Count(), m.Dist.Sum(), m.Dist.Max(), want)
			}
		}
		if !found {
			t.Errorf("%s is missing", name)
		}
	}
}

// A window holds what came after it, also through a File that was opened before.
func TestWindows(t *testing.T) {
	p := New(Options{})
	v := p.As("test")
	f := must[*File](t)(v.Open(tempFile(t, 100)))
	defer f.Close()
	must[int](t)(f.Read(make([]byte, 5)))
	w := watch(t, p)
	must[int](t)(f.Read(make([]byte, 10)))
	later := watch(t, p)
	must[int](t)(f.Read(make([]byte, 20)))
	if diff := cmp.Diff(Counts{Reads: 2, BytesRead: 30}, statsOf(t, w.Close()).Counts); diff != "" {
		t.Errorf("first window (-want +got):\n%s", diff)
	}
	must[int](t)(f.Read(make([]byte, 30)))
	if diff := cmp.Diff(Counts{Reads: 2, BytesRead: 50}, statsOf(t, later.Close()).Counts); diff != "" {
		t.Errorf("second window (-want +got):\n%s", diff)
	}
}

func TestNilProbe(t *testing.T) {
	var p *Probe
	path := tempFile(t, 100)
	for name, v := range map[string]View{"In": p.In(t.Context()), "As": p.As("role"), "zero": {}} {
		f := must[*File](t)(v.OpenFile(path, os.O_RDWR, 0))
		if f.watched() || f.begin(callRead) != (call{}) {
			t.Errorf("%s: a nil probe counts", name)
		}
		f.Close()
	}
	f := must[*File](t)(p.Open(path))
	defer f.Close()
	b := make([]byte, 8)
	if n := testing.AllocsPerRun(100, func() { _, _ = f.ReadAt(b, 0) }); n != 0 {
		t.Errorf("got %v allocations a read without a probe, want 0", n)
	}
}

func TestAllocs(t *testing.T) {
	for name, watched := range map[string]bool{"watched": true, "unwatched": false} {
		t.Run(name, func(t *testing.T) {
			p := New(Options{})
			if watched {
				watch(t, p)
			}
			checkAllocs(t, p)
		})
	}
}

func checkAllocs(t *testing.T, p *Probe) {
	path := tempFile(t, 4096)
	f := must[*File](t)(p.OpenFile(path, os.O_RDWR, 0))
	defer f.Close()
	b := make([]byte, 64)
	for _, tt := range []struct {
		name  string
		bare  func()
		files func()
		more  float64
	}{
		{"ReadAt", func() { _, _ = f.File.ReadAt(b, 0) }, func() { _, _ = f.ReadAt(b, 0) }, 0},
		{"Read at the end", func() { _, _ = f.File.Read(b) }, func() { _, _ = f.Read(b) }, 0},
		{"WriteAt", func() { _, _ = f.File.WriteAt(b, 0) }, func() { _, _ = f.WriteAt(b, 0) }, 0},
		{"ReadFile", func() { _, _ = os.ReadFile(path) }, func() { _, _ = p.ReadFile(path) }, 0},
		{"ReadFile in a context", func() { _, _ = os.ReadFile(path) }, func() { _, _ = p.In(t.Context()).ReadFile(path) }, 0},
		{"Stat", func() { _, _ = os.Stat(path) }, func() { _, _ = p.Stat(path) }, 0},
		{"ReadDir", func() { _, _ = os.ReadDir(".") }, func() { _, _ = p.ReadDir(".") }, 0},
		{"Open", func() { g, _ := os.Open(path); g.Close() }, func() { g, _ := p.Open(path); g.Close() }, 1},
	} {
		tt.files() // makes the series
		bare, files := fewestAllocs(tt.bare), fewestAllocs(tt.files)
		if files > bare+tt.more {
			t.Errorf("%s: got %v allocations, package os has %v, want at most %v more", tt.name, files, bare, tt.more)
		}
	}
}

// fewestAllocs is the least of several measurements: package os keeps the buffers
// of ReadDir in a pool, which the race detector has lose some of them at random.
func fewestAllocs(f func()) float64 {
	least := testing.AllocsPerRun(100, f)
	for range 4 {
		least = min(least, testing.AllocsPerRun(100, f))
	}
	return least
}

func BenchmarkReadAt(b *testing.B) {
	p := New(Options{})
	f := must[*File](b)(p.Open(tempFile(b, 4096)))
	defer f.Close()
	buf := make([]byte, 64)
	b.Run("unwatched", func(b *testing.B) {
		for b.Loop() {
			_, _ = f.ReadAt(buf, 0)
		}
	})
	watch(b, p)
	b.Run("os", func(b *testing.B) {
		for b.Loop() {
			_, _ = f.File.ReadAt(buf, 0)
		}
	})
	b.Run("fsstat", func(b *testing.B) {
		for b.Loop() {
			_, _ = f.ReadAt(buf, 0)
		}
	})
	b.Run("counting", func(b *testing.B) {
		for b.Loop() {
			c := f.begin(callRead)
			c.end()
			c.moved(in, 64, nil)
		}
	})
}

func BenchmarkReadFile(b *testing.B) {
	p, path := New(Options{}), tempFile(b, 4096)
	b.Run("unwatched", func(b *testing.B) {
		for b.Loop() {
			_, _ = p.ReadFile(path)
		}
	})
	watch(b, p)
	b.Run("os", func(b *testing.B) {
		for b.Loop() {
			_, _ = os.ReadFile(path)
		}
	})
	b.Run("fsstat", func(b *testing.B) {
		for b.Loop() {
			_, _ = p.ReadFile(path)
		}
	})
}
