package fsstat

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// manyFiles are n files of 100 bytes in a new folder.
func manyFiles(t *testing.T, n int) (paths []string) {
	t.Helper()
	dir := t.TempDir()
	for i := range n {
		path := filepath.Join(dir, strconv.Itoa(i))
		write(t, path, content(100), 0o600)
		paths = append(paths, path)
	}
	return paths
}

// Files that Options.Path joins in one row are compared each with itself, and the
// row has no size, which would be that of the last one.
func TestJoinedFiles(t *testing.T) {
	files := manyFiles(t, 3)
	p := New(Options{Path: func(string) string { return "all" }})
	w := watch(t, p)
	for range 2 {
		for _, path := range files {
			must[[]byte](t)(p.ReadFile(path))
			f := must[*File](t)(p.Open(path))
			must[int](t)(f.Read(make([]byte, 60)))
			f.Close()
		}
	}
	s := statsOf(t, w.Close())
	if diff := cmp.Diff(Passes{First: 3, Unchanged: 9, Avoidable: 3*100 + 6*60}, s.Passes); diff != "" {
		t.Errorf("passes (-want +got):\n%s", diff)
	}
	if len(s.Paths) != 1 || s.Paths[0].Unchanged != 9 || s.Paths[0].Size != 0 {
		t.Errorf("got %+v, want one row of 9 unchanged passes and no size", s.Paths)
	}
}

// Passes over more files than can be compared are unknown: nobody takes the rest
// for all.
func TestUnknownPasses(t *testing.T) {
	files := manyFiles(t, filesPerPath+2)
	p := New(Options{MaxPaths: 1})
	w := watch(t, p)
	for range 2 {
		for _, path := range files {
			must[[]byte](t)(p.ReadFile(path))
		}
	}
	want := Passes{First: filesPerPath, Unchanged: filesPerPath, Avoidable: 100 * filesPerPath, Unknown: 2 * 2}
	if diff := cmp.Diff(want, statsOf(t, w.Close()).Passes); diff != "" {
		t.Errorf("passes (-want +got):\n%s", diff)
	}
}

// A name that is cut from something longer does not keep that.
func TestNamesAreCopied(t *testing.T) {
	p := New(Options{Path: func(path string) string { return path[len(path)/2:] }})
	w := watch(t, p)
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	paths := manyFiles(t, 20)
	before := heap()
	for _, path := range paths {
		for _, name := range []string{path, path + ".gone"} {
			request := name + strings.Repeat("?", 1<<20)
			_, _ = p.Stat(request[:len(name)])
			_, _ = p.ReadFile(request[:len(name)])
		}
	}
	if got := heap() - before; got > 10<<20 {
		t.Errorf("got %d bytes kept, want little of the 40 MB", got)
	}
	if s := statsOf(t, w.Close()); len(s.Paths) != 40 {
		t.Errorf("got %d paths, want 40", len(s.Paths))
	}
	runtime.KeepAlive(p)
}

// Names of files that do not exist take no room from those that do, and keep
// their counts while there are few.
func TestMissingNames(t *testing.T) {
	p := New(Options{MaxPaths: 41})
	w := watch(t, p)
	gone := filepath.Join(t.TempDir(), "gone")
	for i := range 1000 {
		name := fmt.Sprint(gone, i)
		_, _ = p.Stat(name)
		_, _ = p.Lstat(name)
		_, _ = p.ReadFile(name)
		_, _ = p.ReadDir(name)
		_, _ = p.Readlink(name)
		_, _ = p.Open(name)
		_ = p.WriteFile(filepath.Join(name, "x"), nil, 0o600)
		_, _ = p.DirFS(gone).Open(strconv.Itoa(i))
		_, _ = fs.ReadFile(p.DirFS(gone), strconv.Itoa(i))
	}
	files := manyFiles(t, 40)
	for range 2 {
		for _, path := range files {
			must[[]byte](t)(p.ReadFile(path))
		}
	}
	write(t, gone+"0", content(10), 0o600)
	must[[]byte](t)(p.ReadFile(gone + "0"))
	s := statsOf(t, w.Close())
	rows := map[string]PathCounts{}
	for _, c := range s.Paths {
		rows[c.Path] = c
	}
	for _, path := range files {
		if c := rows[path]; c.Opens != 2 || c.Unchanged != 1 {
			t.Errorf("%s: got %+v, want 2 opens, the second unchanged", path, c)
		}
	}
	if c := rows[gone+"0"]; c.Stats != 3 || c.Opens != 4 {
		t.Errorf("%s: got %+v, want 3 stats and 4 opens, the last of which succeeded", gone, c)
	}
	if len(rows) > 2*41 || rows[other].Stats == 0 {
		t.Errorf("got %d rows, %+v beyond them, want most of the missing names there", len(rows), rows[other])
	}
}
