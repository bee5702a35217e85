package fsstat

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// outcome is what a method gives when it is called with no particular arguments,
// or how it panics.
func outcome(on reflect.Value, method string) (said string) {
	defer func() {
		if recover() != nil {
			said = "a panic"
		}
	}()
	m := on.MethodByName(method)
	args := make([]reflect.Value, m.Type().NumIn())
	for i := range args {
		args[i] = reflect.Zero(m.Type().In(i))
	}
	for _, v := range m.Call(args) {
		if said += v.Type().String() + " "; v.Kind() == reflect.Interface && !v.IsNil() {
			said += strings.Replace(v.Elem().Type().String(), "fsstat.", "os.", 1) + " "
		}
		if err, ok := v.Interface().(error); ok {
			said += err.Error()
		}
	}
	return said
}

// A nil File does what a nil *os.File does, by each of its methods, and so does a
// closed one.
func TestNilFile(t *testing.T) {
	p := New(Options{})
	watch(t, p)
	var bare *os.File
	var ours *File
	closed, ourClosed := must[*os.File](t)(os.Open(".")), must[*File](t)(p.Open("."))
	closed.Close()
	ourClosed.Close()
	all := reflect.TypeFor[*os.File]()
	for method := range all.Methods() {
		name := method.Name
		for what, pair := range map[string][2]any{"nil": {bare, ours}, "closed": {closed, ourClosed}} {
			want, got := outcome(reflect.ValueOf(pair[0]), name), outcome(reflect.ValueOf(pair[1]), name)
			if got != want {
				t.Errorf("%s of a %s file: got %q, want %q", name, what, got, want)
			}
		}
	}
}

// A nil Probe has nothing, by each of its methods, and does not panic.
func TestNilProbeMethods(t *testing.T) {
	var p *Probe
	all := reflect.TypeFor[*Probe]()
	for method := range all.Methods() {
		switch name := method.Name; name {
		case "Opened", "CopyFS": // want a function, and a file system
		default:
			if got := outcome(reflect.ValueOf(p), name); got == "a panic" {
				t.Errorf("%s panics", name)
			}
		}
	}
	if got := p.Path("a//b"); got != filepath.FromSlash("a/b") {
		t.Errorf("Path: got %q, want a/b", got)
	}
}

// What else than reading a file is opened for: none of it was in vain.
func TestUsed(t *testing.T) {
	path, dir := tempFile(t, 10), t.TempDir()
	open := func(name string, flag int) func(View) *File {
		return func(v View) *File { return must[*File](t)(v.OpenFile(name, flag, 0o600)) }
	}
	nothing := func(*File) {}
	for _, tt := range []struct {
		what string
		open func(View) *File
		use  func(*File)
		want int64
	}{
		{"nothing", open(path, os.O_RDONLY), nothing, 1},
		{"two closes", open(path, os.O_RDONLY), func(f *File) { f.Close() }, 1},
		{"its name", open(path, os.O_RDONLY), func(f *File) { _ = f.Name() }, 1},
		{"Create", func(v View) *File { return must[*File](t)(v.Create(path + ".new")) }, nothing, 0},
		{"CreateTemp", func(v View) *File { return must[*File](t)(v.CreateTemp(dir, "")) }, nothing, 0},
		{"a lock file", open(path+".lock", os.O_RDONLY|os.O_CREATE), nothing, 0},
		{"for both", open(path, os.O_RDWR), nothing, 0},
		{"Sync of a folder", open(dir, os.O_RDONLY), func(f *File) { _ = f.Sync() }, 0},
		{"Truncate", open(path, os.O_RDWR), func(f *File) { _ = f.Truncate(5) }, 0},
		{"Fd", open(path, os.O_RDONLY), func(f *File) { _ = f.Fd() }, 0},
		{"SyscallConn", open(path, os.O_RDONLY), func(f *File) { _, _ = f.SyscallConn() }, 0},
		{"Stat", open(path, os.O_RDONLY), func(f *File) { _, _ = f.Stat() }, 0},
		{"Seek", open(path, os.O_RDONLY), func(f *File) { _, _ = f.Seek(0, io.SeekEnd) }, 0},
		{"Chdir", open(".", os.O_RDONLY), func(f *File) { _ = f.Chdir() }, 0},
		{"Chmod", open(path, os.O_RDONLY), func(f *File) { _ = f.Chmod(0o600) }, 0},
		{"a deadline", open(path, os.O_RDONLY), func(f *File) { _ = f.SetDeadline(time.Time{}) }, 0},
		{"a read", open(path, os.O_RDONLY), func(f *File) { _, _ = f.Read(make([]byte, 1)) }, 0},
		{"a read at an offset", open(path, os.O_RDONLY), func(f *File) { _, _ = f.ReadAt(make([]byte, 1), 0) }, 0},
		{"a copy", open(path, os.O_RDONLY), func(f *File) { _, _ = io.Copy(io.Discard, f) }, 0},
		{"a write", open(path, os.O_RDWR), func(f *File) { _, _ = f.Write([]byte("x")) }, 0},
		{"for writing", open(path, os.O_WRONLY), nothing, 0},
		{"a list", open(dir, os.O_RDONLY), func(f *File) { _, _ = f.Readdirnames(-1) }, 0},
		{"the embedded file, which is not seen", open(path, os.O_RDONLY), func(f *File) { _, _ = f.File.Read(make([]byte, 3)) }, 1},
	} {
		p := New(Options{})
		w := watch(t, p)
		f := tt.open(p.As("test"))
		tt.use(f)
		f.Close()
		if s := statsOf(t, w.Close()); s.Unread != tt.want {
			t.Errorf("%s: got %d unread, want %d", tt.what, s.Unread, tt.want)
		}
	}
}

// A file that was used while nobody watched was not opened in vain; nor was one
// of another file system that was looked at.
func TestUsedUnseen(t *testing.T) {
	p := New(Options{})
	w := watch(t, p)
	f := must[*File](t)(p.Open(tempFile(t, 10)))
	w.Close()
	must[int](t)(f.Read(make([]byte, 1)))
	must[int64](t)(f.Seek(0, io.SeekStart))
	w = watch(t, p)
	f.Close()
	fsys := p.FS(plainFS{fstest.MapFS{"x": {Data: []byte("text")}}})
	must[fs.FileInfo](t)(fs.Stat(fsys, "x"))
	if s := statsOf(t, w.Close()); s.Unread != 0 {
		t.Errorf("got %d unread, want 0", s.Unread)
	}
}

// Truncate is a write of nothing: what it leaves is not compared.
func TestTruncate(t *testing.T) {
	p := New(Options{})
	w := watch(t, p)
	path := tempFile(t, 100)
	f := must[*File](t)(p.As("test").OpenFile(path, os.O_RDWR, 0))
	defer f.Close()
	if err := f.Truncate(50); err != nil {
		t.Fatal(err)
	}
	must[int](t)(f.Read(make([]byte, 10)))
	if err := p.Truncate(path, 20); err != nil {
		t.Fatal(err)
	}
	sameError(t, "Truncate", p.Truncate(path+".gone", 1), os.Truncate(path+".gone", 1))
	wantFile(t, path, content(100)[:20])
	s := statsOf(t, w.Close())
	want := Counts{Opens: 1, Reads: 1, BytesRead: 10, Writes: 3, Errors: map[string]int64{"ENOENT": 1}}
	if diff := cmp.Diff(want, s.Counts); diff != "" || s.Passes != (Passes{}) {
		t.Errorf("counts (-want +got):\n%s, passes %+v, want none", diff, s.Passes)
	}
}
