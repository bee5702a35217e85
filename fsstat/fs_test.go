package fsstat

import (
	"archive/zip"
	"bytes"
	"embed"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
)

//go:embed testdata/tree
var embedded embed.FS

// trees are file systems of five kinds with the same two files in them; of those
// of package os, both as they come and as the probe has them.
func trees(t *testing.T, v View) map[string]struct{ bare, wrapped fs.FS } {
	t.Helper()
	const dir = "testdata/tree"
	root := must[*os.Root](t)(os.OpenRoot(dir))
	t.Cleanup(func() { root.Close() })
	ours := must[*Root](t)(v.OpenRoot(dir))
	t.Cleanup(func() { ours.Close() })
	inEmbed := must[fs.FS](t)(fs.Sub(embedded, dir))
	inMap := fstest.MapFS{
		"a.txt":     {Data: []byte("hello\n"), Mode: 0o644, ModTime: time.Unix(1, 0)},
		"sub/b.txt": {Data: []byte("below\n"), Mode: 0o644},
	}
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	if err := w.AddFS(inMap); err != nil {
		t.Fatal(err)
	}
	w.Close()
	inZip := must[*zip.Reader](t)(zip.NewReader(bytes.NewReader(archive.Bytes()), int64(archive.Len())))
	return map[string]struct{ bare, wrapped fs.FS }{
		"DirFS":         {os.DirFS(dir), v.DirFS(dir)},
		"FS of DirFS":   {os.DirFS(dir), v.FS(os.DirFS(dir))},
		"Root":          {root.FS(), ours.FS()},
		"FS of Root":    {root.FS(), v.FS(root.FS())},
		"MapFS":         {inMap, v.FS(inMap)},
		"embed":         {inEmbed, v.FS(inEmbed)},
		"embed, as is":  {embedded, v.FS(embedded)},
		"zip":           {inZip, v.FS(inZip)},
		"FS in an FS":   {inMap, v.FS(v.FS(inMap))},
		"nothing known": {plainFS{inMap}, v.FS(plainFS{inMap})},
	}
}

func TestFS(t *testing.T) {
	watched := New(Options{})
	watch(t, watched)
	for name, v := range map[string]View{"watched": watched.As("x"), "unwatched": New(Options{}).As("x"), "nil": {}} {
		for kind, tree := range trees(t, v) {
			expected := []string{"a.txt", "sub/b.txt"}
			if kind == "embed, as is" {
				expected = []string{"testdata/tree/a.txt", "testdata/tree/sub/b.txt"}
			}
			if err := fstest.TestFS(tree.wrapped, expected...); err != nil {
				t.Errorf("%s, %s: %v", name, kind, err)
			}
		}
	}
}

// everything is what a program can find out of a file system by package io/fs.
func everything(fsys fs.FS) map[string]any {
	all := map[string]any{}
	said := func(what string, v any, err error) { all[what], all[what+": error"] = v, errorText(err) }
	for _, name := range []string{"a.txt", "sub", "sub/b.txt", ".", "gone", "a.txt/x", "../a.txt", "", "/a.txt"} {
		b, err := fs.ReadFile(fsys, name)
		said("ReadFile "+name, string(b), err)
		entries, err := fs.ReadDir(fsys, name)
		said("ReadDir "+name, names(entries), err)
		info, err := fs.Stat(fsys, name)
		said("Stat "+name, infoText(info), err)
		info, err = fs.Lstat(fsys, name)
		said("Lstat "+name, infoText(info), err)
		link, err := fs.ReadLink(fsys, name)
		said("ReadLink "+name, link, err)
		below, err := fs.Sub(fsys, name)
		said("Sub "+name, below != nil, err)
		if err == nil && name == "sub" {
			b, err := fs.ReadFile(below, "b.txt")
			said("ReadFile in Sub", string(b), err)
			_, err = fs.ReadFile(below, "gone")
			said("ReadFile of nothing in Sub", "", err)
			matches, err := fs.Glob(below, "*.txt")
			said("Glob in Sub", matches, err)
			info, err := fs.Stat(below, "gone")
			said("Stat in Sub", infoText(info), err)
		}
		f, err := fsys.Open(name)
		said("Open "+name, f != nil, err)
		if err == nil {
			all["interfaces of "+name] = interfaces(f)
			b, err := io.ReadAll(f)
			said("ReadAll "+name, string(b), err)
			said("Close "+name, nil, f.Close())
			said("Close again "+name, nil, f.Close())
		}
	}
	for _, pattern := range []string{"*", "*/*.txt", "[", "none*"} {
		matches, err := fs.Glob(fsys, pattern)
		said("Glob "+pattern, matches, err)
	}
	return all
}

func errorText(err error) any {
	if err == nil {
		return nil
	}
	return []string{reflect.TypeOf(err).String(), err.Error()}
}

func infoText(info fs.FileInfo) string {
	if info == nil {
		return ""
	}
	return fs.FormatFileInfo(info)
}

// interfaces are the optional ones of an open file.
func interfaces(f fs.File) (has []string) {
	add := func(name string, ok bool) {
		if ok {
			has = append(has, name)
		}
	}
	_, ok := f.(fs.ReadDirFile)
	add("ReadDirFile", ok)
	_, ok = f.(io.Seeker)
	add("Seeker", ok)
	_, ok = f.(io.ReaderAt)
	add("ReaderAt", ok)
	_, ok = f.(io.WriterTo)
	add("WriterTo", ok)
	return has
}

// What a program can find out of a file system is the same with the probe and
// without.
func TestFSSame(t *testing.T) {
	p := New(Options{})
	watch(t, p)
	for kind, tree := range trees(t, p.As("x")) {
		if diff := cmp.Diff(everything(tree.bare), everything(tree.wrapped)); diff != "" {
			t.Errorf("%s (-bare +wrapped):\n%s", kind, diff)
		}
	}
}

// Each optional interface of a file system alone, and that it is the one which is
// called.
func TestFSInterfaces(t *testing.T) {
	m := fstest.MapFS{"a.txt": {Data: []byte("hello\n")}, "sub/b.txt": {Data: []byte("below\n")}}
	type plain = plainFS
	for name, inner := range map[string]fs.FS{
		"none": plain{m},
		"ReadFileFS": struct {
			plain
			onlyReadFile
		}{plain{m}, onlyReadFile{}},
		"ReadDirFS": struct {
			plain
			onlyReadDir
		}{plain{m}, onlyReadDir{}},
		"StatFS": struct {
			plain
			onlyStat
		}{plain{m}, onlyStat{}},
		"GlobFS": struct {
			plain
			onlyGlob
		}{plain{m}, onlyGlob{}},
		"SubFS": struct {
			plain
			onlySub
		}{plain{m}, onlySub{}},
		"ReadLinkFS": struct {
			plain
			onlyReadLink
		}{plain{m}, onlyReadLink{}},
		"all": struct {
			plain
			onlyReadFile
			onlyReadDir
			onlyStat
			onlyGlob
			onlySub
			onlyReadLink
		}{plain: plain{m}},
	} {
		p := New(Options{})
		watch(t, p)
		if diff := cmp.Diff(everything(inner), everything(p.FS(inner))); diff != "" {
			t.Errorf("%s (-bare +wrapped):\n%s", name, diff)
		}
	}
}

var errOwn = errors.New("its own")

type (
	onlyReadFile struct{}
	onlyReadDir  struct{}
	onlyStat     struct{}
	onlyGlob     struct{}
	onlySub      struct{}
	onlyReadLink struct{}
)

func (onlyReadFile) ReadFile(name string) ([]byte, error)      { return []byte("own " + name), nil }
func (onlyReadDir) ReadDir(name string) ([]fs.DirEntry, error) { return nil, errOwn }
func (onlyStat) Stat(name string) (fs.FileInfo, error)         { return nil, errOwn }
func (onlyGlob) Glob(pattern string) ([]string, error)         { return []string{"own " + pattern}, nil }
func (onlySub) Sub(dir string) (fs.FS, error)                  { return nil, errOwn }
func (onlyReadLink) ReadLink(name string) (string, error)      { return "own " + name, nil }
func (onlyReadLink) Lstat(name string) (fs.FileInfo, error)    { return nil, errOwn }

// The counts of a file system's operations, and the names they go by.
func TestFSCounts(t *testing.T) {
	m := fstest.MapFS{"a.txt": {Data: []byte("hello\n")}}
	dir := t.TempDir()
	write(t, dir+"/a.txt", []byte("hello\n"), 0o600)
	for _, tt := range []struct {
		name string
		fsys func(View) fs.FS
		want Counts
	}{
		{"its own ReadFile", func(v View) fs.FS { return v.FS(m) }, Counts{Opens: 1, Reads: 1, BytesRead: 6}},
		{"none of its own", func(v View) fs.FS { return v.FS(plainFS{m}) }, Counts{Opens: 1, Reads: 2, BytesRead: 6, Stats: 1}},
		{"DirFS", func(v View) fs.FS { return v.DirFS(dir) }, Counts{Opens: 1, Reads: 2, BytesRead: 6}},
		{"Sub of DirFS", func(v View) fs.FS {
			return must[fs.FS](t)(fs.Sub(v.DirFS(filepath.Dir(dir)), filepath.Base(dir)))
		}, Counts{Opens: 1, Reads: 2, BytesRead: 6}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files, check := counting(t)
			if b := must[[]byte](t)(fs.ReadFile(tt.fsys(files), "a.txt")); string(b) != "hello\n" {
				t.Errorf("got %q", b)
			}
			check(tt.want)
		})
	}
}

// os.CopyFS from a wrapped file system, links included.
func TestCopyFS(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/a", content(5000), 0o600)
	if err := os.Symlink("a", dir+"/link"); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	files, check := counting(t)
	to := t.TempDir()
	if err := os.CopyFS(to, files.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	wantFile(t, to+"/link", content(5000))
	check(Counts{Opens: 2, ReadDirs: 1, Stats: 3, Reads: 1, BytesRead: 5000, KernelRead: 5000})
}

// A nil probe gives back the very file system that it was given, and what a probe
// counts already is not counted twice.
func TestFSAsItIs(t *testing.T) {
	m := &fstest.MapFS{"a": {Data: []byte("text")}}
	if got := (*Probe)(nil).FS(m); got != fs.FS(m) {
		t.Errorf("got %T of a nil probe, want the file system itself", got)
	}
	if got := (View{}).DirFS("x"); got != os.DirFS("x") {
		t.Errorf("got %T of a nil probe, want that of package os", got)
	}
	if got, want := must[*Root](t)((*Probe)(nil).OpenRoot(".")), must[*os.Root](t)(os.OpenRoot(".")); reflect.TypeOf(got.FS()) != reflect.TypeOf(want.FS()) {
		t.Errorf("got %T of a nil probe, want %T", got.FS(), want.FS())
	}
	files, check := counting(t)
	for _, fsys := range []fs.FS{files.FS(m), files.DirFS("testdata/tree"), must[fs.FS](t)(fs.Sub(files.FS(m), "."))} {
		if got := files.probe.As("other").FS(fsys); got != fsys {
			t.Errorf("got another one of %T, which is counted already", fsys)
		}
	}
	must[[]byte](t)(fs.ReadFile(files.FS(files.FS(m)), "a"))
	check(Counts{Opens: 1, Reads: 1, BytesRead: 4})
	if got := New(Options{}).FS(files.FS(m)); got == files.FS(m) {
		t.Error("another probe does not count what the first one does")
	}
}

// An openerFS opens by the probe.
type openerFS struct {
	files View
	dir   string
}

func (o openerFS) Open(name string) (fs.File, error) {
	f, err := o.files.Open(filepath.Join(o.dir, name))
	if err != nil {
		return nil, err
	}
	return f, nil
}

// What a probe counts already is counted once, whatever it is inside of.
func TestFSOfCounted(t *testing.T) {
	files, check := counting(t)
	dir := t.TempDir()
	for _, name := range []string{"x", "s/x", "s/s/x"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, content(100), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	below := must[fs.FS](t)(fs.Sub(files.DirFS(dir), "s"))
	for what, fsys := range map[string]fs.FS{
		"a folder's part":     below,
		"a part of that":      must[fs.FS](t)(fs.Sub(below, "s")),
		"the part as a whole": must[fs.FS](t)(fs.Sub(below, ".")),
	} {
		if files.FS(fsys) != fsys {
			t.Errorf("%s is wrapped twice", what)
		}
		must[[]byte](t)(fs.ReadFile(files.FS(fsys), "x"))
		check(Counts{Opens: 1, Reads: 2, BytesRead: 100})
	}
	f := must[fs.File](t)(files.FS(openerFS{files, dir}).Open("x"))
	if _, ok := f.(*File); !ok {
		t.Errorf("got a %T, want the probe's own file", f)
	}
	must[[]byte](t)(io.ReadAll(f))
	f.Close()
	check(Counts{Opens: 1, Reads: 2, BytesRead: 100})
}
