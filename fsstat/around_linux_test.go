package fsstat

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
)

// watchedDir is a folder with two files and a probe that watches it.
func watchedDir(t *testing.T) (dir string, p *Probe, w *probe.Window) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range []string{"a", "b"} {
		write(t, filepath.Join(dir, name), content(100), 0o600)
	}
	if err := os.MkdirAll(filepath.Join(dir, "below"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "below", "c"), nil, 0o600)
	p = New(Options{WatchDirs: []string{dir}})
	w = watch(t, p)
	return dir, p, w
}

// Opens that go around the probe are named, by whomever; its own are not, however
// they are made.
func TestAround(t *testing.T) {
	dir, p, w := watchedDir(t)
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	for range 5 {
		must[[]byte](t)(p.ReadFile(a))
	}
	f := must[*File](t)(p.Create(filepath.Join(dir, "new")))
	f.Close()
	f = must[*File](t)(p.CreateTemp(dir, "x"))
	f.Close()
	_, _ = p.Open(filepath.Join(dir, "gone"))
	_, _ = p.ReadFile(filepath.Join(dir, "gone"))
	must[[]os.DirEntry](t)(p.ReadDir(dir))
	var r probe.Reading
	w.Next(&r)
	if g := aroundOf(t, &r); g.Opens != 0 {
		t.Errorf("of the probe's own opens: got %v, want nothing", g)
	}
	if !hasRow(&r, dir) {
		t.Error("a folder that is watched has no row: nothing tells it from one that is not")
	}

	must[[]byte](t)(os.ReadFile(a))
	must[[]byte](t)(p.ReadFile(b))
	if err := exec.Command("cat", b).Run(); err != nil {
		t.Skipf("no other process here: %v", err)
	}
	must[[]byte](t)(os.ReadFile(filepath.Join(dir, "below", "c")))
	if g := aroundOf(t, w.Close()); !cmp.Equal(g, Gap{Opens: 2, Paths: map[string]int64{a: 1, b: 1}}) {
		t.Errorf("got %v, want one open of each", g)
	}
	// With no window open nothing is told, and a window holds what came after it.
	must[[]byte](t)(os.ReadFile(a))
	w = watch(t, p)
	must[[]byte](t)(os.ReadFile(b))
	if g := aroundOf(t, w.Close()); !cmp.Equal(g, Gap{Opens: 1, Paths: map[string]int64{b: 1}}) {
		t.Errorf("in a later window: got %v, want one open of b", g)
	}
}

// aroundOf is what a reading says, which must be something.
func aroundOf(t *testing.T, r *probe.Reading) Gap {
	t.Helper()
	g := statsOf(t, r).Around
	if g == nil {
		t.Fatal("nothing is said of opens around the probe")
	}
	return *g
}

func hasRow(r *probe.Reading, path string) bool {
	for range r.Find(descAround.Name, probe.Attr{Key: AttrPath, Value: path}) {
		return true
	}
	return false
}

// While many goroutines open through the probe and somebody reads, no open of
// theirs is taken for one around it.
func TestAroundConcurrent(t *testing.T) {
	dir, p, w := watchedDir(t)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range 200 {
				_, _ = p.ReadFile(filepath.Join(dir, []string{"a", "b"}[(i+j)%2]))
			}
		})
	}
	var r probe.Reading
	for range 100 {
		w.Read(&r)
	}
	wg.Wait()
	if g := aroundOf(t, w.Close()); g.Opens != 0 {
		t.Errorf("got %v, want nothing", g)
	}
}

// The names are bounded, and what reading them cost is not in the coverage.
func TestAroundBounded(t *testing.T) {
	dir, p, w := watchedDir(t)
	_, _ = p.Stat(dir)
	const n = 3000
	for i := range n {
		write(t, filepath.Join(dir, strconv.Itoa(i)), nil, 0o600)
	}
	s := statsOf(t, w.Close())
	if s.Around == nil || len(s.Around.Paths) > maxAround+1 || s.Around.Paths[other] == 0 || s.Around.Opens > n || s.Around.Opens < n/2 {
		t.Errorf("got %d opens of %d paths, want about %d of at most %d", s.Around.Opens, len(s.Around.Paths), n, maxAround+1)
	}
	if c := s.Coverage; c.Reason == "" && c.Process > 48*n/2 {
		t.Errorf("got %d bytes read by the process, want less than the kernel's %d of events", c.Process, 48*n)
	}
}

// A folder that cannot be watched is said to be so; the rest goes on, and it is
// watched as soon as it is there.
func TestAroundLacking(t *testing.T) {
	dir := t.TempDir()
	late := filepath.Join(dir, "late")
	p := New(Options{WatchDirs: []string{late, dir}})
	w := watch(t, p)
	x := filepath.Join(dir, "x")
	write(t, x, nil, 0o600)
	var r probe.Reading
	w.Read(&r)
	if g := aroundOf(t, &r); g.Opens != 1 || g.Paths[x] != 1 || !strings.Contains(g.Reason, late+": not watched all the time: ") || !strings.Contains(g.Reason, "no such file") {
		t.Errorf("got %+v, want one open of x, and that %s is not there", g, late)
	}
	if err := os.Mkdir(late, 0o700); err != nil {
		t.Fatal(err)
	}
	w.Next(&r) // finds it
	write(t, filepath.Join(late, "y"), nil, 0o600)
	if g := aroundOf(t, w.Close()); g.Opens != 1 || g.Paths[filepath.Join(late, "y")] != 1 || g.Reason == "" {
		t.Errorf("of a folder that was made: got %+v, want one open of y, and still that not all are known", g)
	}
	// Later windows know all.
	w = watch(t, p)
	if g := aroundOf(t, w.Close()); g.Opens != 0 || g.Reason != "" {
		t.Errorf("in a later window: got %+v, want nothing", g)
	}
}

// A folder that is removed, renamed or replaced under the watch does not go
// silent, and neither do the others.
func TestAroundFolderGone(t *testing.T) {
	for name, away := range map[string]func(dir string) error{
		"removed": os.Remove,
		"renamed": func(dir string) error { return os.Rename(dir, dir+"-old") },
	} {
		for _, again := range []bool{false, true} {
			top := t.TempDir()
			dir, beside := filepath.Join(top, "dir"), filepath.Join(top, "beside")
			for _, d := range []string{dir, beside} {
				if err := os.Mkdir(d, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			p := New(Options{WatchDirs: []string{dir, beside}})
			w := watch(t, p)
			if err := away(dir); err != nil {
				t.Fatal(err)
			}
			want := map[string]int64{filepath.Join(beside, "x"): 1}
			var r probe.Reading
			if again {
				if err := os.Mkdir(dir, 0o700); err != nil {
					t.Fatal(err)
				}
				w.Read(&r) // finds that it is another one
				write(t, filepath.Join(dir, "x"), nil, 0o600)
				want[filepath.Join(dir, "x")] = 1
			}
			write(t, filepath.Join(beside, "x"), nil, 0o600)
			g := aroundOf(t, w.Close())
			if !cmp.Equal(g.Paths, want) || !strings.Contains(g.Reason, dir+": not watched all the time: it was removed, renamed or replaced") {
				t.Errorf("%s, there again %v: got %+v, want the opens %v and that not all are known", name, again, g, want)
			}
		}
	}
}

// Events that the kernel drops are said to be lost; what is named stays.
func TestAroundLost(t *testing.T) {
	dir, p, w := watchedDir(t)
	must[[]byte](t)(os.ReadFile(filepath.Join(dir, "a")))
	p.around.mu.Lock()
	p.around.tell(dirEvent{lost: true})
	p.around.mu.Unlock()
	if g := aroundOf(t, w.Close()); g.Opens != 1 || !strings.Contains(g.Reason, "more opens than the kernel keeps in mind") {
		t.Errorf("got %+v, want one open, and that some were lost", g)
	}
}

// Whatever name the program has for a file of a watched folder, the open is its
// own: by a link to the folder or to the file, from another working folder, after
// a parent was renamed, in a root and below it.
func TestAroundNames(t *testing.T) {
	top := t.TempDir()
	parent := filepath.Join(top, "parent")
	dir, link, other := filepath.Join(parent, "dir"), filepath.Join(top, "link"), filepath.Join(top, "other")
	write1 := func(path string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, path, content(10), 0o600)
	}
	write1(filepath.Join(dir, "a"))
	write1(filepath.Join(other, "b"))
	for to, from := range map[string]string{dir: link, filepath.Join(dir, "a"): filepath.Join(other, "to-a"), filepath.Join(other, "b"): filepath.Join(dir, "to-b")} {
		if err := os.Symlink(to, from); err != nil {
			t.Skipf("no links here: %v", err)
		}
	}
	read := func(names ...string) func(t *testing.T, p *Probe) {
		return func(t *testing.T, p *Probe) {
			for _, name := range names {
				must[[]byte](t)(p.ReadFile(name))
				must[*File](t)(p.Open(name)).Close()
				must[*File](t)(p.OpenFile(name, os.O_RDWR, 0)).Close()
			}
		}
	}
	for _, tt := range []struct {
		name, watch string
		do          func(t *testing.T, p *Probe)
	}{
		{"a link to the folder", dir, read(filepath.Join(link, "a"))},
		{"a watched link", link, read(filepath.Join(dir, "a"), filepath.Join(link, "a"))},
		{"a link to the file", dir, read(filepath.Join(other, "to-a"))},
		{"a link out of the folder", dir, read(filepath.Join(dir, "to-b"))},
		{"another working folder", dir, func(t *testing.T, p *Probe) {
			t.Chdir(dir)
			read("a", "./a", "../dir/a")(t, p)
		}},
		{"a root", dir, func(t *testing.T, p *Probe) {
			r := must[*Root](t)(p.OpenRoot(top))
			defer r.Close()
			below := must[*Root](t)(r.OpenRoot("parent"))
			defer below.Close()
			for _, in := range []*Root{r, below} {
				name := "parent/dir/a"
				if in == below {
					name = "dir/a"
				}
				must[[]byte](t)(in.ReadFile(name))
				must[*File](t)(in.Open(name)).Close()
				must[[]byte](t)(fs.ReadFile(in.FS(), name))
				if err := in.WriteFile(name, content(10), 0o600); err != nil {
					t.Error(err)
				}
			}
			must[*File](t)(p.OpenInRoot(parent, "dir/a")).Close()
		}},
		{"a file system", dir, func(t *testing.T, p *Probe) {
			must[[]byte](t)(fs.ReadFile(p.DirFS(dir), "a"))
			must[[]byte](t)(fs.ReadFile(p.DirFS(parent), "dir/a"))
			f := must[fs.File](t)(p.FS(os.DirFS(dir)).Open("a"))
			f.Close()
			must[[]byte](t)(fs.ReadFile(p.FS(wrappedFS{os.DirFS(dir)}), "a"))
		}},
		{"a renamed parent", dir, func(t *testing.T, p *Probe) {
			if err := os.Rename(parent, parent+"-now"); err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := os.Rename(parent+"-now", parent); err != nil {
					t.Fatal(err)
				}
			}()
			read(filepath.Join(parent+"-now", "dir", "a"))(t, p)
		}},
		{"a file that is removed while it is opened", dir, func(t *testing.T, p *Probe) {
			f := must[*File](t)(p.As("x").OpenBy("x", func() (*os.File, error) {
				f, err := os.CreateTemp(dir, "x")
				if err == nil {
					err = os.Remove(f.Name())
				}
				return f, err
			}))
			f.Close()
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := New(Options{WatchDirs: []string{tt.watch}})
			w := watch(t, p)
			tt.do(t, p)
			if g := aroundOf(t, w.Close()); g.Opens != 0 || g.Reason != "" {
				t.Errorf("got %v, want nothing", g)
			}
		})
	}
}

// A wrappedFS has files of its own, which have a descriptor nevertheless.
type wrappedFS struct{ fs.FS }

func (w wrappedFS) Open(name string) (fs.File, error) {
	f, err := w.FS.Open(name)
	if err != nil {
		return nil, err
	}
	return struct{ *os.File }{f.(*os.File)}, nil
}

// What somebody else's function does in an open, a panic for one, leaves nothing
// behind by which others' opens would be hidden.
func TestAroundPanic(t *testing.T) {
	dir, p, w := watchedDir(t)
	a := filepath.Join(dir, "a")
	func() {
		defer func() { _ = recover() }()
		_, _ = p.As("x").OpenBy(a, func() (*os.File, error) { panic("mine") })
	}()
	func() {
		defer func() { _ = recover() }()
		_, _ = p.FS(panicFS{}).Open("a")
	}()
	func() {
		defer func() { _ = recover() }()
		_, _ = fs.ReadFile(p.FS(panicFS{}), "a")
	}()
	var r probe.Reading
	w.Next(&r)
	must[[]byte](t)(os.ReadFile(a))
	if g := aroundOf(t, w.Close()); g.Opens != 1 {
		t.Errorf("got %v, want one open", g)
	}
}

type panicFS struct{}

func (panicFS) Open(string) (fs.File, error)    { panic("mine") }
func (panicFS) ReadFile(string) ([]byte, error) { panic("mine") }

// Whoever opens through the probe is never accused, though windows are opened
// and closed meanwhile, so that opens begin unwatched and end watched.
func TestAroundBoundaries(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		write(t, filepath.Join(dir, name), content(100), 0o600)
	}
	p := New(Options{WatchDirs: []string{dir}})
	files := p.As("test")
	var stop atomic.Bool
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := 0; !stop.Load(); j++ {
				name := filepath.Join(dir, []string{"a", "b"}[(i+j)%2])
				if j%2 == 0 {
					_, _ = files.ReadFile(name)
				} else if f, err := files.Open(name); err == nil {
					f.Close()
				}
			}
		})
	}
	var around int64
	for range 100 {
		w := watch(t, p)
		var r Stats
		if s, ok := StatsOf(w.Close()); ok {
			r = s
		}
		if r.Around != nil {
			around += r.Around.Opens
		}
	}
	stop.Store(true)
	wg.Wait()
	if around != 0 {
		t.Errorf("%d opens of the probe's own were taken for ones around it", around)
	}
}

// Events that the kernel has merged do not hide what goes around later.
func TestAroundDebt(t *testing.T) {
	dir := t.TempDir()
	a := filepath.Join(dir, "a")
	write(t, a, content(100), 0o600)
	p := New(Options{WatchDirs: []string{dir}})
	w := watch(t, p)
	var held []*File
	for range 50 { // with no close in between the kernel takes them for one
		held = append(held, must[*File](t)(p.Open(a)))
	}
	for _, f := range held {
		f.Close()
	}
	if g := aroundOf(t, w.Close()); g.Opens != 0 {
		t.Errorf("of the probe's own opens: got %v, want nothing", g)
	}
	w = watch(t, p)
	for range 3 {
		must[[]byte](t)(os.ReadFile(a))
	}
	must[[]byte](t)(p.ReadFile(a))
	if g := aroundOf(t, w.Close()); g.Opens != 3 {
		t.Errorf("after merged events: got %v, want 3 opens", g)
	}
}
