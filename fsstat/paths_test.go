package fsstat

import (
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
)

func TestPaths(t *testing.T) {
	p := New(Options{})
	w := watch(t, p)
	files := p.As("test")
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	write(t, a, content(1000), 0o600)

	for range 3 {
		must[[]byte](t)(files.ReadFile(dir + "/./a"))
	}
	if err := files.WriteFile(b, content(5000), 0o600); err != nil {
		t.Fatal(err)
	}
	must[os.FileInfo](t)(files.Stat(b))
	must[[]os.DirEntry](t)(files.ReadDir(dir))
	f := must[*File](t)(files.Open(b))
	f.Close() // unread
	want := []PathCounts{
		{Path: a, Counts: Counts{Opens: 3, Reads: 6, BytesRead: 3000}, SmallReads: 3, Unchanged: 2, Avoidable: 2000, Size: 1000},
		{Path: dir, Counts: Counts{Opens: 1, ReadDirs: 1}},
		{Path: b, Counts: Counts{Opens: 2, Writes: 1, BytesWritten: 5000, Stats: 1}, Unread: 1},
	}
	r := w.Close()
	s := statsOf(t, r)
	if diff := cmp.Diff(want, s.Paths); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
	if got := s.Paths[0].Scans(); got != 3 {
		t.Errorf("got %v scans, want 3", got)
	}
	if s.Unread != 1 {
		t.Errorf("got %d unread, want 1", s.Unread)
	}
	for i := range r.Metrics {
		m := &r.Metrics[i]
		if m.Attr(AttrPath) != "" && !m.Detail {
			t.Errorf("%s has a path and is no detail: it would leave the process", m.Name)
		}
	}
}

// Beyond the bound paths share a row, and the totals stay right.
func TestMaxPaths(t *testing.T) {
	p := New(Options{MaxPaths: 2})
	w := watch(t, p)
	dir := t.TempDir()
	for i := range 5 {
		path := filepath.Join(dir, strconv.Itoa(i))
		write(t, path, content(100), 0o600)
		for range 2 {
			must[[]byte](t)(p.As("test").ReadFile(path))
		}
	}
	s := statsOf(t, w.Close())
	if diff := cmp.Diff(Passes{First: 5, Unchanged: 5, Avoidable: 500}, s.Passes); diff != "" {
		t.Errorf("passes (-want +got):\n%s", diff)
	}
	if len(s.Paths) != 3 || s.Paths[0].Path != other || s.Paths[0].Opens != 6 || s.Paths[0].Size != 0 || s.Opens != 10 {
		t.Errorf("got %+v, want 6 of 10 opens under %s, and two paths", s.Paths, other)
	}

	none := New(Options{MaxPaths: -1})
	w = watch(t, none)
	must[[]byte](t)(none.ReadFile(filepath.Join(dir, "0")))
	if s := statsOf(t, w.Close()); s.Paths != nil || s.Passes != (Passes{}) || s.Opens != 1 {
		t.Errorf("got %+v, want no paths", s)
	}
}

// A name is what the program says, cleaned, and cut if it is very long.
func TestPathNames(t *testing.T) {
	digits := New(Options{Path: func(path string) string {
		return strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return 'N'
			}
			return r
		}, path)
	}})
	long := strings.Repeat("ä/", 300) + "end"
	cut := func(whole string) string {
		h := fnv.New32a()
		_, _ = io.WriteString(h, filepath.FromSlash(whole))
		return fmt.Sprintf("…%08x…", h.Sum32())
	}
	latin := strings.Repeat("\xe4", 300)
	nothing := New(Options{Path: func(string) string { return "" }})
	for _, tt := range []struct {
		p          *Probe
		name, want string
	}{
		{New(Options{}), "a/../b//c", "b/c"},
		{New(Options{}), "", ""},
		{digits, "runs/./0012.log", "runs/NNNN.log"},
		{New(Options{}), long, cut(long) + "/" + strings.Repeat("ä/", 84) + "end"},
		{New(Options{}), "x/" + long, cut("x/"+long) + "/" + strings.Repeat("ä/", 84) + "end"},
		{New(Options{}), "b\xe4r", `b\xe4r`},
		{New(Options{}), latin, cut(latin) + strings.Repeat(`\xe4`, 256)},
		{nothing, "a/./b", "a/b"},
		{nil, "a/./b", "a/b"},
	} {
		if got := tt.p.Path(filepath.FromSlash(tt.name)); got != filepath.FromSlash(tt.want) {
			t.Errorf("Path(%q): got %q, want %q", tt.name, got, tt.want)
		}
	}
	w := watch(t, digits)
	for i := range 3 {
		_, _ = digits.Stat("gone" + strconv.Itoa(i))
	}
	if s := statsOf(t, w.Close()); len(s.Paths) != 1 || s.Paths[0].Path != "goneN" || s.Paths[0].Stats != 3 {
		t.Errorf("got %+v, want three stats of goneN", s.Paths)
	}
}

// A million distinct paths, a tenth as many names that do not exist, and 500 paths of
// which there is everything that can be, take no more than 2 MB with a window over
// them.
func TestPathMemory(t *testing.T) {
	const most = 1_000_000
	p := New(Options{})
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	w := watch(t, p)
	var r probe.Reading
	t0 := p.As("test").begin(callRead).tally
	for i := range most {
		if i == most/2 {
			w.Next(&r)
			r = probe.Reading{}
		}
		name := "/var/lib/service/runs/" + strconv.Itoa(i) + "/output.log"
		t1 := t0
		t1.row = p.row(name, nil)
		key := p.key(name)
		if past := p.pasts.Get(key); !past.shared {
			past.begin(identity{size: 1000})
		}
		if t1.row.path.Value != other {
			for m := range rowMetrics {
				t1.row.add(m, 1000)
			}
			t1.row.sized(key, 1000)
		}
		if i < 1000 || i%10 == 0 {
			t1.moved(in, 10, nil)
			t1.row = p.row(name+".gone", fs.ErrNotExist)
			t1.count(opOpen, fs.ErrNotExist)
			t1.count(opStat, fs.ErrNotExist)
		}
	}
	w.Next(&r)
	if s := statsOf(t, &r); s.Paths[0].Path != other || s.Reads != most/20 {
		t.Errorf("got %+v of %d reads, want most under %s", s.Paths[0], s.Reads, other)
	}
	r = probe.Reading{}
	if got := heap() - before; got > 2<<20 {
		t.Errorf("got %d bytes kept, want at most 2 MB", got)
	}
	runtime.KeepAlive(p)
	runtime.KeepAlive(w)
}

// A path that many open for the first time at once has one row.
func TestConcurrentNewPath(t *testing.T) {
	p := New(Options{})
	w := watch(t, p)
	dir := t.TempDir()
	var wg sync.WaitGroup
	for i := range 50 {
		path := filepath.Join(dir, strconv.Itoa(i))
		write(t, path, content(10), 0o600)
		for range 4 {
			wg.Go(func() {
				f, err := p.As("test").Open(path)
				if err != nil {
					t.Error(err)
					return
				}
				defer f.Close()
				if _, err := io.ReadAll(f); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	s := statsOf(t, w.Close())
	for _, path := range s.Paths {
		if path.Opens != 4 || path.BytesRead != 40 {
			t.Errorf("got %+v, want 4 opens, 40 bytes", path)
		}
	}
	if len(s.Paths) != 50 || s.Passes.First != 50 || s.Passes.First+s.Passes.Unchanged != 200 {
		t.Errorf("got %d paths, passes %+v, want 50, each read first once, of 200", len(s.Paths), s.Passes)
	}
}

// Many small reads say that a buffer is missing.
func TestLacksBuffer(t *testing.T) {
	p := New(Options{})
	w := watch(t, p)
	files := p.As("test")
	for name, size := range map[string]int{"small": 10, "large": 64 << 10} {
		path := filepath.Join(t.TempDir(), name)
		write(t, path, content(size*120), 0o600)
		f := must[*File](t)(files.Open(path))
		must[int64](t)(io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{f}, make([]byte, size)))
		f.Close()
	}
	s := statsOf(t, w.Close())
	for _, path := range s.Paths {
		if want := filepath.Base(path.Path) == "small"; path.LacksBuffer() != want {
			t.Errorf("%s: got %v, want %v of %+v", path.Path, !want, want, path)
		}
	}
	if diff := cmp.Diff(map[string]int64{"0": 2, "1-511": 120, "65536-": 120}, s.ReadSizes); diff != "" {
		t.Errorf("sizes (-want +got):\n%s", diff)
	}
	for n, want := range map[int64]string{0: "0", 1: "1-511", 511: "1-511", 512: "512-4095", 4095: "512-4095", 4096: "4096-65535", 65535: "4096-65535", 65536: "65536-"} {
		if got := sizeNames[sizeClass(n)]; got != want {
			t.Errorf("a read of %d bytes: got class %s, want %s", n, got, want)
		}
	}
}

// Partial writes and short reads count by what they moved.
func TestPartial(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("what a broken pipe says is another thing on Windows")
	}
	p := New(Options{})
	window := watch(t, p)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from, to := p.As("test").File(r), p.As("test").File(w)
	defer to.Close()
	var n int
	var writer sync.WaitGroup
	writer.Go(func() { n, err = to.Write(make([]byte, 10<<20)) }) // a pipe holds less
	got := must[int](t)(from.Read(make([]byte, 20<<20)))
	r.Close() // around the probe, which would count the close's error
	writer.Wait()
	if n < got || n >= 10<<20 || err == nil {
		t.Errorf("got %d bytes written, error %v, want at least the %d that were read, not all, and an error", n, err, got)
	}
	want := Counts{Reads: 1, BytesRead: int64(got), Writes: 1, BytesWritten: int64(n), Errors: map[string]int64{"EPIPE": 1}}
	if diff := cmp.Diff(want, statsOf(t, window.Close()).Counts); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
}
