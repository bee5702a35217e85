package fsstat

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// A folder that was copied is the one that os.CopyFS makes, and so are the errors.
func TestCopyFSSameAsOS(t *testing.T) {
	p := New(Options{})
	watch(t, p)
	linked := t.TempDir()
	write(t, filepath.Join(linked, "a"), content(10), 0o640)
	if err := os.Symlink("a", filepath.Join(linked, "link")); err != nil {
		t.Logf("no symbolic links here: %v", err)
	}
	for what, fsys := range map[string]fs.FS{
		"tree":     os.DirFS("testdata/tree"),
		"links":    os.DirFS(linked),
		"map":      fstest.MapFS{"x/y": {Data: []byte("text"), Mode: 0o755}, "z": {}},
		"a device": fstest.MapFS{"x": {Mode: fs.ModeDevice}},
		"missing":  os.DirFS("testdata/none"),
	} {
		ours, bare := filepath.Join(t.TempDir(), "to"), filepath.Join(t.TempDir(), "to")
		for range 2 { // the second time the files exist
			err, want := p.CopyFS(ours, fsys), os.CopyFS(bare, fsys)
			if diff := cmp.Diff(withoutPath(want), withoutPath(err)); diff != "" {
				t.Errorf("%s: errors (-bare +wrapped):\n%s", what, diff)
			}
			if diff := cmp.Diff(listing(t, bare), listing(t, ours)); diff != "" {
				t.Errorf("%s: files (-bare +wrapped):\n%s", what, diff)
			}
		}
		if err := (*Probe)(nil).CopyFS(filepath.Join(t.TempDir(), "nil"), fsys); (err == nil) != (os.CopyFS(filepath.Join(t.TempDir(), "nil"), fsys) == nil) {
			t.Errorf("%s: a nil probe: got %v", what, err)
		}
	}
}

// withoutPath says an error of which the path is another one.
func withoutPath(err error) []any {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return []any{failed.Op, failed.Err.Error()}
	}
	return []any{err}
}

// listing is everything in a folder.
func listing(t *testing.T, dir string) (all []string) {
	t.Helper()
	_ = fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info := must[fs.FileInfo](t)(entry.Info())
		b, _ := os.ReadFile(filepath.Join(dir, name))
		all = append(all, name+" "+info.Mode().String()+" "+string(b))
		return nil
	})
	return all
}

// Both sides of a copied folder are counted.
func TestCopyFSCounts(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a"), content(5000), 0o600)
	for what, fsys := range map[string]func(View) fs.FS{
		"bare":    func(View) fs.FS { return os.DirFS(dir) },
		"wrapped": func(v View) fs.FS { return v.DirFS(dir) },
	} {
		files, check := counting(t)
		if err := files.CopyFS(filepath.Join(t.TempDir(), "to"), fsys(files)); err != nil {
			t.Fatal(what, err)
		}
		want := Counts{Opens: 3, ReadDirs: 1, Stats: 2, Reads: 1, BytesRead: 5000, KernelRead: 5000, Writes: 1, BytesWritten: 5000, KernelWritten: 5000}
		if !seesKernel {
			t.Skip("what a copy is made of is another thing elsewhere")
		}
		check(want)
	}
}

// What passes through a pipe that the probe made is counted, and a file of a
// descriptor has its name.
func TestPipe(t *testing.T) {
	files, check := counting(t)
	r, w, err := files.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	must[int](t)(w.Write([]byte("text")))
	w.Close()
	must[int](t)(r.Read(make([]byte, 10)))
	r.Close()
	check(Counts{Reads: 1, BytesRead: 4, Writes: 1, BytesWritten: 4})
	if f := files.NewFile(^uintptr(0), "none"); f != nil {
		t.Errorf("got %v of no descriptor, want nil", f)
	}
}
