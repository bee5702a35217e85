package fsstat

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/tidestaff/tidestaff/probe"
)

// Everything that is described is made when it happens, and nothing else is.
func TestEveryMetric(t *testing.T) {
	dir := t.TempDir()
	p := New(Options{WatchDirs: []string{dir}})
	w := watch(t, p)
	files := p.As("test")
	path := filepath.Join(dir, "file")
	write(t, path, content(1000), 0o600) // around the probe
	for range 2 {
		must[[]byte](t)(files.ReadFile(path))
	}
	f := must[*File](t)(files.Open(path))
	f.Close()
	_, _ = files.Stat(path + ".gone")
	must[[]byte](t)(fs.ReadFile(files.FS(fstest.MapFS{"x": {Data: []byte("text")}}), "x"))
	from, to := must[*File](t)(files.Open(path)), must[*File](t)(files.Create(path+".copy"))
	must[int64](t)(io.Copy(to, from))
	from.Close()
	to.Close()
	r1, w1, err := os.Pipe() // no file
	if err != nil {
		t.Fatal(err)
	}
	must[int](t)(w1.Write(make([]byte, 10)))
	w1.Close()
	pipe := files.File(r1)
	must[int](t)(pipe.Read(make([]byte, 10)))
	pipe.Close()
	r := w.Close()
	absent := map[string]bool{}
	for _, a := range r.Absent {
		absent[a.Name] = true
	}
	described := map[string]bool{}
	for _, d := range p.Describe() {
		described[d.Name] = true
		made := false
		for range r.Find(d.Name) {
			made = true
		}
		if made == absent[d.Name] {
			t.Errorf("%s: got made %v, absent %v, want one of them", d.Name, made, absent[d.Name])
		}
	}
	for i := range r.Metrics {
		if !described[r.Metrics[i].Name] {
			t.Errorf("%s is not described", r.Metrics[i].Name)
		}
	}
	// A reading that is made of the same metrics says the same.
	if s := statsOf(t, &probe.Reading{Metrics: r.Metrics}); s.Unread != 1 || s.Passes.Unchanged != 2 || s.Around != nil && s.Around.Opens != 1 {
		t.Errorf("got %+v, want 1 unread, 2 passes unchanged, 1 open around the probe", s)
	}
	if _, err := os.Stat(path + ".copy"); err != nil {
		t.Error(err)
	}
}
