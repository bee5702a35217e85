package fsstat

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A Root does what an *os.Root does, and counts.
func TestRoot(t *testing.T) {
	for _, watched := range []bool{true, false} {
		p := New(Options{})
		if watched {
			watch(t, p)
		}
		for name, files := range map[string]View{"probe": p.As("x"), "nil": {}} {
			dir := t.TempDir()
			got, want := must[*Root](t)(files.OpenRoot(dir)), must[*os.Root](t)(os.OpenRoot(t.TempDir()))
			defer got.Close()
			defer want.Close()
			sameRoot(t, name, got, want)
			if diff := cmp.Diff([]string{"a", "new"}, fileNames(t, dir)); diff != "" {
				t.Errorf("%s: files (-want +got):\n%s", name, diff)
			}
		}
	}
	if r := (*Probe)(nil).Root(nil); r != nil {
		t.Errorf("got %v of no root, want nil", r)
	}
}

// sameRoot does the same with two roots.
func sameRoot(t *testing.T, what string, got *Root, want *os.Root) {
	t.Helper()
	for _, name := range []string{"a", "none/a", "../a", ""} {
		sameError(t, what+": WriteFile "+name, got.WriteFile(name, []byte("text"), 0o600), want.WriteFile(name, []byte("text"), 0o600))
		b, err := got.ReadFile(name)
		wantB, wantErr := want.ReadFile(name)
		sameError(t, what+": ReadFile "+name, err, wantErr)
		if string(b) != string(wantB) {
			t.Errorf("%s: ReadFile %s: got %q, want %q", what, name, b, wantB)
		}
		_, err = got.Stat(name)
		_, wantErr = want.Stat(name)
		sameError(t, what+": Stat "+name, err, wantErr)
		_, err = got.Lstat(name)
		_, wantErr = want.Lstat(name)
		sameError(t, what+": Lstat "+name, err, wantErr)
		_, err = got.Readlink(name)
		_, wantErr = want.Readlink(name)
		sameError(t, what+": Readlink "+name, err, wantErr)
		_, err = got.OpenRoot(name)
		_, wantErr = want.OpenRoot(name)
		if (err == nil) != (wantErr == nil) { // errors name the folder, which is another one
			t.Errorf("%s: OpenRoot %s: got error %v, want %v", what, name, err, wantErr)
		}
	}
	f := must[*File](t)(got.Create("new"))
	f.Close()
	f = must[*File](t)(got.Open("new"))
	f.Close()
}

func fileNames(t *testing.T, dir string) (all []string) {
	t.Helper()
	for _, e := range must[[]fs.DirEntry](t)(os.ReadDir(dir)) {
		all = append(all, e.Name())
	}
	return all
}

func TestRootCounts(t *testing.T) {
	files, check := counting(t)
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "below"), 0o700); err != nil {
		t.Fatal(err)
	}
	r := must[*Root](t)(files.OpenRoot(dir))
	defer r.Close()
	below := must[*Root](t)(r.OpenRoot("below"))
	defer below.Close()
	if err := below.WriteFile("a", []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	check(Counts{Opens: 1, Writes: 1, BytesWritten: 4})
	must[[]byte](t)(r.ReadFile("below/a"))
	must[[]byte](t)(fs.ReadFile(r.FS(), "below/a"))
	check(Counts{Opens: 2, Reads: 4, BytesRead: 8})
	_, _ = below.Stat("a")
	_, _ = below.Lstat("gone")
	if _, err := below.Readlink("a"); err == nil {
		t.Error("a file is a link")
	}
	check(Counts{Stats: 3, Errors: map[string]int64{"ENOENT": 1, "EINVAL": 1}})
	f := must[*File](t)(files.OpenInRoot(dir, "below/a"))
	must[int](t)(f.Read(make([]byte, 10)))
	f.Close()
	if _, err := files.OpenInRoot(dir, "../a"); err == nil {
		t.Error("a root was left")
	}
	check(Counts{Opens: 2, Reads: 1, BytesRead: 4, Errors: map[string]int64{"other": 1}})
}

// Whatever opens files in its own way is counted as an open.
func TestOpenBy(t *testing.T) {
	files, check := counting(t)
	path := tempFile(t, 10)
	f := must[*File](t)(files.OpenBy("mine", func() (*os.File, error) { return os.Open(path) }))
	defer f.Close()
	must[int](t)(f.Read(make([]byte, 4)))
	if _, err := files.OpenBy("mine", func() (*os.File, error) { return nil, errOwn }); !errors.Is(err, errOwn) {
		t.Errorf("got error %v, want %v", err, errOwn)
	}
	check(Counts{Opens: 2, Reads: 1, BytesRead: 4, Errors: map[string]int64{"other": 1}})
	if f := files.File(nil); f != nil {
		t.Errorf("got %v of no file, want nil", f)
	}
}
