package fsstat

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTree(t *testing.T) {
	dir := t.TempDir()
	for name, size := range map[string]int{"a": 1000, "runs/b": 20, "runs/old/c": 3, "runs/old/empty": 0} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, path, content(size), 0o600)
	}
	want := TreeSize{Files: 4, Folders: 2, Bytes: 1023}
	if os.Symlink("a", filepath.Join(dir, "link")) == nil {
		want.Links = 1
	}
	if os.Symlink(".", filepath.Join(dir, "runs", "loop")) == nil {
		want.Links++
	}
	if got := must[TreeSize](t)(Tree(dir)); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}

	denied := filepath.Join(dir, "denied")
	if err := os.Mkdir(denied, 0o300); err != nil {
		t.Fatal(err)
	}
	want.Folders++
	if _, err := os.ReadDir(denied); err != nil { // root may list it
		want.Unreadable++
	}
	if got := must[TreeSize](t)(Tree(dir)); got != want {
		t.Errorf("with a denied folder: got %+v, want %+v", got, want)
	}
}

func TestTreeErrors(t *testing.T) {
	dir := t.TempDir()
	_, err := Tree(filepath.Join(dir, "gone"))
	_, want := os.Lstat(filepath.Join(dir, "gone"))
	sameError(t, "a folder that is missing", err, want)
	// What is no folder holds nothing, which is no size of it.
	file := tempFile(t, 10)
	link, broken := filepath.Join(dir, "link"), filepath.Join(dir, "broken")
	for from, to := range map[string]string{link: file, broken: "gone"} {
		if err := os.Symlink(to, from); err != nil {
			t.Skipf("no links here: %v", err)
		}
	}
	for path, want := range map[string]error{file: syscall.ENOTDIR, link: syscall.ENOTDIR, broken: fs.ErrNotExist, os.DevNull: syscall.ENOTDIR} {
		if got, err := Tree(path); got != (TreeSize{}) || !errors.Is(err, want) {
			t.Errorf("%s: got %+v, error %v, want %v", path, got, err, want)
		}
	}
}

// A link to a folder, or to a link to one, stands for the folder.
func TestTreeOfLink(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a"), content(10), 0o600)
	link := filepath.Join(t.TempDir(), "link")
	for from, to := range map[string]string{link: dir, link + "2": "link"} {
		if err := os.Symlink(to, from); err != nil {
			t.Skipf("no links here: %v", err)
		}
	}
	for _, path := range []string{link, link + "2", link + string(filepath.Separator)} {
		if got, want := must[TreeSize](t)(Tree(path)), (TreeSize{Files: 1, Bytes: 10}); got != want {
			t.Errorf("%s: got %+v, want %+v", path, got, want)
		}
	}
}

// Not one file is opened, and the probe's own counts are not touched.
func TestTreeOpensNothing(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		write(t, filepath.Join(dir, name), content(10), 0) // nobody but root could
	}
	files, check := counting(t)
	if got := must[TreeSize](t)(Tree(dir)); got.Bytes != 20 {
		t.Errorf("got %+v, want 20 bytes", got)
	}
	_ = files
	check(Counts{})
	if diff := cmp.Diff(TreeSize{Files: 2, Bytes: 20}, must[TreeSize](t)(Tree(dir))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
