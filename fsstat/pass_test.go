package fsstat

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
)

// passing is a probe and a function that checks what its passes found since the
// last check.
func passing(t *testing.T) (files View, check func(what string, want Passes)) {
	t.Helper()
	p := New(Options{})
	w := watch(t, p)
	return p.As("test"), func(what string, want Passes) {
		t.Helper()
		var r probe.Reading
		w.Next(&r)
		if diff := cmp.Diff(want, statsOf(t, &r).Passes); diff != "" {
			t.Errorf("%s: passes (-want +got):\n%s", what, diff)
		}
	}
}

// later gives a file a time of modification that it has not had yet, as if some
// time had gone by: two writes within one tick of the kernel's clock look alike.
func later(t *testing.T, path string, by time.Duration) {
	t.Helper()
	info := must[os.FileInfo](t)(os.Stat(path))
	if err := os.Chtimes(path, time.Time{}, info.ModTime().Add(by)); err != nil {
		t.Fatal(err)
	}
}

func TestReadFilePasses(t *testing.T) {
	files, check := passing(t)
	path := tempFile(t, 1000)
	read := func() { t.Helper(); must[[]byte](t)(files.ReadFile(path)) }
	read()
	check("first", Passes{First: 1})
	read()
	read()
	check("unchanged", Passes{Unchanged: 2, Avoidable: 2000})

	f := must[*os.File](t)(os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0))
	must[int](t)(f.Write(content(500)))
	f.Close()
	later(t, path, time.Second)
	read()
	check("appended to", Passes{Grown: 1, AvoidableGrown: 1000})
	read()
	check("unchanged since", Passes{Unchanged: 1, Avoidable: 1500})

	write(t, path, bytes.Repeat([]byte("x"), 1500), 0o600)
	later(t, path, time.Second)
	read()
	check("rewritten in the same size", Passes{Changed: 1})

	write(t, path+".new", content(1500), 0o600)
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	later(t, path, 2*time.Second)
	read()
	check("replaced", Passes{Changed: 1})

	if err := os.Truncate(path, 10); err != nil {
		t.Fatal(err)
	}
	later(t, path, 3*time.Second)
	read()
	check("cut", Passes{Changed: 1})
	read()
	check("unchanged at last", Passes{Unchanged: 1, Avoidable: 10})
}

// A replacement of the same size and time is another file: its number tells, or
// the time when that was changed.
func TestReplacedAlike(t *testing.T) {
	if !seesKernel {
		t.Skip("package os does not say which file it is here")
	}
	files, check := passing(t)
	path := tempFile(t, 100)
	must[[]byte](t)(files.ReadFile(path))
	write(t, path+".new", bytes.Repeat([]byte("y"), 100), 0o600)
	info := must[os.FileInfo](t)(os.Stat(path))
	if err := os.Chtimes(path+".new", info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	must[[]byte](t)(files.ReadFile(path))
	check("replaced alike", Passes{First: 1, Changed: 1})
}

// What is read of an open file counts as known up to where it was read from the
// start, and no further.
func TestFilePasses(t *testing.T) {
	files, check := passing(t)
	path := tempFile(t, 1000)
	open := func() *File {
		t.Helper()
		f := must[*File](t)(files.Open(path))
		t.Cleanup(func() { f.Close() })
		return f
	}
	buf := make([]byte, 300)

	f := open()
	must[int](t)(f.Read(buf))
	check("300 bytes", Passes{First: 1})
	must[int](t)(open().Read(buf[:100]))
	check("100 of them again", Passes{Unchanged: 1, Avoidable: 100})
	f = open()
	must[int64](t)(io.Copy(io.Discard, f))
	check("the whole", Passes{Unchanged: 1, Avoidable: 300})
	must[int64](t)(f.Seek(0, io.SeekStart))
	must[int64](t)(io.Copy(io.Discard, f))
	check("rewound at the end", Passes{Unchanged: 1, Avoidable: 1000})
	must[int](t)(f.ReadAt(buf, 500))
	check("at an offset", Passes{Avoidable: 300})

	f = open()
	if n, err := f.Read(nil); n != 0 || err != nil {
		t.Errorf("got %d, %v, want nothing", n, err)
	}
	must[int64](t)(f.Seek(0, io.SeekEnd))
	if _, err := f.Read(buf); err != io.EOF {
		t.Errorf("got %v, want EOF", err)
	}
	check("nothing read", Passes{})
	must[int64](t)(f.Seek(900, io.SeekStart))
	must[[]byte](t)(io.ReadAll(f))
	check("the last part", Passes{Unchanged: 1, Avoidable: 100})
	must[int64](t)(f.Seek(0, io.SeekStart))
	must[int](t)(f.Read(buf))
	must[int64](t)(f.Seek(0, io.SeekStart)) // a look at the head, such as for its type
	must[int](t)(f.Read(buf))
	check("rewound in the middle", Passes{Unchanged: 1, Avoidable: 600})
}

// Parts that do not join on to what is known are not taken for known later.
func TestPartsDoNotAddUp(t *testing.T) {
	files, check := passing(t)
	path := tempFile(t, 1000)
	for _, off := range []int64{500, 900} {
		f := must[*File](t)(files.Open(path))
		must[int](t)(f.ReadAt(make([]byte, 100), off))
		f.Close()
	}
	must[[]byte](t)(files.ReadFile(path))
	check("from the start", Passes{First: 1, Unchanged: 2})
}

// Reads that went by while nobody watched have moved the position.
func TestPassPosition(t *testing.T) {
	p := New(Options{})
	files := p.As("test")
	path := tempFile(t, 1000)
	f := must[*File](t)(files.Open(path))
	defer f.Close()
	buf := make([]byte, 400)
	must[int](t)(f.Read(buf))
	w := watch(t, p)
	must[int](t)(f.Read(buf)) // 400 to 800
	must[[]byte](t)(files.ReadFile(path))
	want := Passes{First: 1, Unchanged: 1} // from 0 on nothing was known
	if diff := cmp.Diff(want, statsOf(t, w.Close()).Passes); diff != "" {
		t.Errorf("first window (-want +got):\n%s", diff)
	}
	must[int64](t)(f.Seek(0, io.SeekStart))
	w = watch(t, p)
	must[int](t)(f.Read(buf)) // 0 to 400, which the ReadFile had
	if diff := cmp.Diff(Passes{Unchanged: 1, Avoidable: 400}, statsOf(t, w.Close()).Passes); diff != "" {
		t.Errorf("second window (-want +got):\n%s", diff)
	}
}

// Passes begin where the position is, and a look at the size by a Seek to the end
// and back begins none.
func TestPassSeeks(t *testing.T) {
	grow := func(path string) {
		f := must[*os.File](t)(os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0))
		defer f.Close()
		must[int](t)(f.Write(content(500)))
	}
	for _, tt := range []struct {
		what string
		do   func(files View, path string, f *File)
		want Passes
	}{
		{"the rest, then all", func(files View, path string, f *File) {
			must[int64](t)(f.Seek(600, io.SeekStart))
			must[int](t)(f.Read(make([]byte, 400)))
			must[[]byte](t)(files.ReadFile(path))
		}, Passes{First: 1, Unchanged: 1}},
		{"what was appended", func(files View, path string, f *File) {
			must[[]byte](t)(files.ReadFile(path))
			grow(path)
			must[int64](t)(f.Seek(1000, io.SeekStart))
			must[[]byte](t)(io.ReadAll(f))
		}, Passes{First: 1, Grown: 1}},
		{"the first half, then the second", func(files View, path string, f *File) {
			must[int](t)(f.Read(make([]byte, 500)))
			second := must[*File](t)(files.Open(path))
			defer second.Close()
			must[int64](t)(second.Seek(500, io.SeekStart))
			must[int](t)(second.Read(make([]byte, 500)))
		}, Passes{First: 1, Unchanged: 1}},
		{"its head, its size, all of it", func(files View, path string, f *File) {
			must[int](t)(f.Read(make([]byte, 10)))
			must[int64](t)(f.Seek(0, io.SeekEnd))
			must[int64](t)(f.Seek(0, io.SeekStart))
			must[[]byte](t)(io.ReadAll(f))
		}, Passes{First: 1}},
		{"all, twice", func(files View, path string, f *File) {
			must[[]byte](t)(io.ReadAll(f))
			must[int64](t)(f.Seek(0, io.SeekStart))
			must[[]byte](t)(io.ReadAll(f))
		}, Passes{First: 1, Unchanged: 1, Avoidable: 1000}},
		{"all, then the rest", func(files View, path string, f *File) {
			must[[]byte](t)(io.ReadAll(f))
			must[int64](t)(f.Seek(0, io.SeekStart))
			must[int64](t)(f.Seek(600, io.SeekStart))
			must[[]byte](t)(io.ReadAll(f))
		}, Passes{First: 1, Unchanged: 1, Avoidable: 400}},
	} {
		p := New(Options{})
		w := watch(t, p)
		files, path := p.As("test"), tempFile(t, 1000)
		f := must[*File](t)(files.Open(path))
		tt.do(files, path, f)
		f.Close()
		if diff := cmp.Diff(tt.want, statsOf(t, w.Close()).Passes); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.what, diff)
		}
	}
}

// What the service writes itself through the same File is not compared, nor is
// what is no regular file, nor an empty one, nor a file of the kernel.
func TestNotCompared(t *testing.T) {
	files, check := passing(t)
	path := tempFile(t, 100)
	f := must[*File](t)(files.OpenFile(path, os.O_RDWR, 0))
	defer f.Close()
	for range 2 {
		must[int](t)(f.WriteAt([]byte("x"), 0))
		must[int](t)(f.ReadAt(make([]byte, 100), 0))
	}
	check("written to", Passes{})
	empty := tempFile(t, 0)
	for _, name := range []string{empty, os.DevNull, "/proc/self/status", "/proc/version", "/sys/kernel/mm/transparent_hugepage/enabled", "/sys/fs/cgroup/cgroup.procs", filepath.Dir(path)} {
		for range 3 {
			_, _ = files.ReadFile(name)
		}
		check(name, Passes{})
	}
	p := New(Options{NoIdentity: true})
	w := watch(t, p)
	must[[]byte](t)(p.ReadFile(path))
	must[[]byte](t)(p.ReadFile(path))
	g := must[*File](t)(p.Open(path))
	must[int](t)(g.Read(make([]byte, 10)))
	g.Close()
	r := w.Close()
	if diff := cmp.Diff(Passes{}, statsOf(t, r).Passes); diff != "" {
		t.Errorf("without identities (-want +got):\n%s", diff)
	}
	if len(r.Absent) < 2 {
		t.Errorf("got absent %v, want passes and avoidable bytes with their reason", r.Absent)
	}
}

// A copy by the kernel is a pass like another.
func TestCopyPasses(t *testing.T) {
	files, check := passing(t)
	path := tempFile(t, 10_000)
	for range 2 {
		from := must[*File](t)(files.Open(path))
		to := must[*File](t)(files.Create(filepath.Join(t.TempDir(), "to")))
		must[int64](t)(io.Copy(to, from))
		from.Close()
		to.Close()
	}
	check("io.Copy", Passes{First: 1, Unchanged: 1, Avoidable: 10_000})
	from := must[*File](t)(files.Open(path))
	defer from.Close()
	to := must[*File](t)(files.Create(filepath.Join(t.TempDir(), "to")))
	defer to.Close()
	must[int64](t)(io.CopyN(to, from, 4000))
	check("io.CopyN", Passes{Unchanged: 1, Avoidable: 4000})
	if seesKernel {
		got := sent(t, "tcp", "127.0.0.1:0", func(w io.Writer) (int64, error) { return io.CopyN(w, from, 5000) })
		if len(got) != 5000 {
			t.Errorf("got %d bytes, want 5000", len(got))
		}
		check("the same to a connection", Passes{Avoidable: 5000})
	}
}

// Links, "./" and a changed working folder: a path is what the program says,
// cleaned; what is behind it is told by the file's identity.
func TestPassPaths(t *testing.T) {
	files, check := passing(t)
	dir := t.TempDir()
	for _, d := range []string{"one", "two"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, d, "x"), content(100), 0o600)
	}
	t.Chdir(filepath.Join(dir, "one"))
	must[[]byte](t)(files.ReadFile("x"))
	must[[]byte](t)(files.ReadFile("./x"))
	check("./x is x", Passes{First: 1, Unchanged: 1, Avoidable: 100})
	t.Chdir(filepath.Join(dir, "two"))
	later(t, "x", time.Second)
	must[[]byte](t)(files.ReadFile("x"))
	check("x of another folder", Passes{Changed: 1})
	if err := os.Symlink("x", "link"); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	must[[]byte](t)(files.ReadFile("link"))
	check("a link is a path of its own", Passes{First: 1})
}

// Files of other file systems are known by size and time, if they have one.
func TestForeignPasses(t *testing.T) {
	files, check := passing(t)
	fsys := files.FS(plainFS{fstest.MapFS{
		"dated":   {Data: []byte("text"), ModTime: time.Unix(1, 0)},
		"undated": {Data: []byte("text")},
	}})
	for _, name := range []string{"dated", "undated"} {
		for range 2 {
			f, err := fsys.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			must[[]byte](t)(io.ReadAll(f))
			f.Close()
		}
	}
	check("MapFS", Passes{First: 1, Unchanged: 1, Avoidable: 4})
}

// A pass that found nothing, because it read nothing, is none: the next one is
// still the first.
func TestEmptyPass(t *testing.T) {
	files, check := passing(t)
	path := tempFile(t, 100)
	f := must[*File](t)(files.Open(path))
	must[int](t)(f.Read(nil))
	must[int64](t)(f.Seek(0, io.SeekEnd))
	if _, err := f.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("got %v, want EOF", err)
	}
	f.Close()
	check("empty", Passes{})
	must[[]byte](t)(files.ReadFile(path))
	check("the first with something in it", Passes{First: 1})
}
