package fsstat

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
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
	if g := aroundOf(t, w.Close()); !cmp.Equal(g, Gap{2, map[string]int64{a: 1, b: 1}}) {
		t.Errorf("got %v, want one open of each", g)
	}
	// With no window open nothing is told, and a window holds what came after it.
	must[[]byte](t)(os.ReadFile(a))
	w = watch(t, p)
	must[[]byte](t)(os.ReadFile(b))
	if g := aroundOf(t, w.Close()); !cmp.Equal(g, Gap{1, map[string]int64{b: 1}}) {
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

// A folder that cannot be watched is said to be so; the rest goes on.
func TestAroundAbsent(t *testing.T) {
	dir := t.TempDir()
	gone := filepath.Join(dir, "gone")
	p := New(Options{WatchDirs: []string{gone, dir}})
	w := watch(t, p)
	write(t, filepath.Join(dir, "x"), nil, 0o600)
	p.around.told("")
	r := w.Close()
	reason := ""
	for _, a := range r.Absent {
		if a.Name == descAround.Name {
			reason = a.Reason
		}
	}
	if reason == "" {
		t.Errorf("got no reason in %v", r.Absent)
	}
	if s, _ := StatsOf(r); s.Around != nil {
		t.Errorf("got %v of a reading without file operations", s.Around)
	}
	for m := range r.Find(descAround.Name, probe.Attr{Key: AttrPath, Value: filepath.Join(dir, "x")}) {
		if m.Value != 1 {
			t.Errorf("got %v opens of x, want 1", m.Value)
		}
	}
}
