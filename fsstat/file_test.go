package fsstat

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"
	"testing/iotest"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// A fileLike is what *File overrides of *os.File.
type fileLike interface {
	io.ReadWriteCloser
	io.ReaderAt
	io.WriterAt
	io.Seeker
	io.StringWriter
	io.WriterTo
	io.ReaderFrom
	Stat() (fs.FileInfo, error)
	ReadDir(int) ([]fs.DirEntry, error)
	Readdir(int) ([]fs.FileInfo, error)
	Readdirnames(int) ([]string, error)
}

var (
	_ fileLike = (*os.File)(nil)
	_ fileLike = (*File)(nil)
	_ fs.File  = (*File)(nil)
)

// A step is a call on a handle; it says what came out.
type step struct {
	name string
	do   func(fileLike) (string, error)
}

var steps = []step{
	{"Read", func(h fileLike) (string, error) { b := make([]byte, 7); n, err := h.Read(b); return string(b[:n]), err }},
	{"Read of nothing", func(h fileLike) (string, error) { n, err := h.Read(nil); return fmt.Sprint(n), err }},
	{"ReadAt", func(h fileLike) (string, error) {
		b := make([]byte, 9)
		n, err := h.ReadAt(b, 3)
		return string(b[:n]), err
	}},
	{"ReadAt past the end", func(h fileLike) (string, error) { n, err := h.ReadAt(make([]byte, 9), 96); return fmt.Sprint(n), err }},
	{"ReadAt before the start", func(h fileLike) (string, error) { n, err := h.ReadAt(make([]byte, 9), -1); return fmt.Sprint(n), err }},
	{"Seek", func(h fileLike) (string, error) { n, err := h.Seek(2, io.SeekStart); return fmt.Sprint(n), err }},
	{"Read again", func(h fileLike) (string, error) { b := make([]byte, 7); n, err := h.Read(b); return string(b[:n]), err }},
	{"Write", func(h fileLike) (string, error) { n, err := h.Write([]byte("abc")); return fmt.Sprint(n), err }},
	{"WriteString", func(h fileLike) (string, error) { n, err := h.WriteString("defg"); return fmt.Sprint(n), err }},
	{"WriteAt", func(h fileLike) (string, error) { n, err := h.WriteAt([]byte("x"), 50); return fmt.Sprint(n), err }},
	{"WriteAt before the start", func(h fileLike) (string, error) { n, err := h.WriteAt([]byte("x"), -50); return fmt.Sprint(n), err }},
	{"rest", func(h fileLike) (string, error) { b, err := io.ReadAll(struct{ io.Reader }{h}); return string(b), err }},
	{"Read at the end", func(h fileLike) (string, error) { n, err := h.Read(make([]byte, 7)); return fmt.Sprint(n), err }},
	{"WriteTo", func(h fileLike) (string, error) { n, err := h.WriteTo(io.Discard); return fmt.Sprint(n), err }},
	{"ReadFrom", func(h fileLike) (string, error) {
		n, err := h.ReadFrom(io.LimitReader(zeros{}, 5))
		return fmt.Sprint(n), err
	}},
	{"ReadFrom a bad reader", func(h fileLike) (string, error) {
		n, err := h.ReadFrom(iotest.ErrReader(io.ErrNoProgress))
		return fmt.Sprint(n), err
	}},
	{"Stat", func(h fileLike) (string, error) {
		info, err := h.Stat()
		if err != nil {
			return "", err
		}
		return fmt.Sprint(info.Size(), info.Mode()), err
	}},
	{"ReadDir", func(h fileLike) (string, error) { e, err := h.ReadDir(1); return fmt.Sprint(len(e)), err }},
	{"Readdir", func(h fileLike) (string, error) { e, err := h.Readdir(1); return fmt.Sprint(len(e)), err }},
	{"Readdirnames", func(h fileLike) (string, error) { e, err := h.Readdirnames(1); return fmt.Sprint(len(e)), err }},
	{"Close", func(h fileLike) (string, error) { return "", h.Close() }},
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// play runs all steps, twice over, so that the second time the file is closed.
func play(t *testing.T, what string, got, want fileLike) {
	t.Helper()
	for range 2 {
		for _, s := range steps {
			wantOut, wantErr := s.do(want)
			out, err := s.do(got)
			if out != wantOut {
				t.Errorf("%s: %s: got %q, want %q", what, s.name, out, wantOut)
			}
			sameError(t, what+": "+s.name, err, wantErr)
		}
	}
}

func TestFileSameAsOS(t *testing.T) {
	for _, p := range []*Probe{New(Options{}), nil} {
		for name, flag := range map[string]int{
			"read": os.O_RDONLY, "write": os.O_WRONLY, "both": os.O_RDWR, "append": os.O_RDWR | os.O_APPEND,
		} {
			// The same path for both, since errors name it.
			path := tempFile(t, 100)
			got := must[*File](t)(p.OpenFile(path, flag, 0))
			want := recorded(t, path, flag)
			play(t, name, got, want)
		}
		dir := t.TempDir()
		play(t, "directory", must[*File](t)(p.Open(dir)), must[*os.File](t)(os.Open(dir)))
	}
	play(t, "nil", (*File)(nil), (*os.File)(nil))
}

// recorded opens, under the same name, another file with the same content.
func recorded(t *testing.T, path string, flag int) *os.File {
	t.Helper()
	if err := os.Rename(path, path+".mine"); err != nil {
		t.Fatal(err)
	}
	write(t, path, content(100), 0o600)
	return must[*os.File](t)(os.OpenFile(path, flag, 0))
}

func TestFileCounts(t *testing.T) {
	files, check := counting(t)
	f := must[*File](t)(files.OpenFile(tempFile(t, 100), os.O_RDWR, 0))
	check(Counts{Opens: 1})
	for _, s := range steps {
		_, _ = s.do(f)
	}
	// Reads: of 7, 0, 9 and 4 bytes, one before the start, 7 again; then the 84
	// after 2+7+3+4 = 16, their end, the end twice again. Writes: 3, 4, 1 byte,
	// one before the start, 5 zeros. Directory reads fail three times. What
	// the bad reader says is no error of the file.
	check(Counts{Reads: 10, BytesRead: 7 + 9 + 4 + 7 + 84, Writes: 5, BytesWritten: 3 + 4 + 1 + 5,
		Stats: 1, ReadDirs: 3, Errors: map[string]int64{"ENOTDIR": 3, "other": 2}})

	_, _ = f.Read(nil)
	_ = f.Close()
	check(Counts{Reads: 1, Errors: map[string]int64{"closed": 2}})
}

// Reads at offsets, from many goroutines, each count once.
func TestConcurrentReadAt(t *testing.T) {
	files, check := counting(t)
	f := must[*File](t)(files.Open(tempFile(t, 4096)))
	defer f.Close()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			b := make([]byte, 64)
			for j := range 100 {
				if _, err := f.ReadAt(b, int64(i*64+j)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	check(Counts{Opens: 1, Reads: 800, BytesRead: 800 * 64})
}

// A File is a good fs.File and a good reader.
func TestFileAsReader(t *testing.T) {
	files, _ := counting(t)
	f := must[*File](t)(files.Open(tempFile(t, 3000)))
	defer f.Close()
	if err := iotest.TestReader(f, content(3000)); err != nil {
		t.Error(err)
	}
}

func TestFileInFS(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/a", content(10), 0o600)
	if err := os.Mkdir(dir+"/sub", 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, dir+"/sub/b", content(20), 0o600)
	files, _ := counting(t)
	if err := fstest.TestFS(openFS{files, dir}, "a", "sub/b"); err != nil {
		t.Error(err)
	}
}

type openFS struct {
	files View
	dir   string
}

func (o openFS) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	f, err := o.files.Open(o.dir + "/" + name)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// A read of a pipe waits, can be interrupted by a deadline, and is counted when
// it ends.
func TestDeadline(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("pipes have no deadlines on Windows")
	}
	files, check := counting(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	f := files.File(r)
	defer f.Close()
	if err := f.SetReadDeadline(time.Now().Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got error %v, want that the deadline is exceeded", err)
	}
	check(Counts{Reads: 1, Errors: map[string]int64{"deadline": 1}})
}

// The files of /proc say that they are empty, and some give nothing to a small
// read: each read of an unknown size has room for 512 bytes.
func TestUnknownSize(t *testing.T) {
	p := New(Options{})
	window := watch(t, p)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var writer sync.WaitGroup
	defer writer.Wait()
	writer.Go(func() {
		defer w.Close()
		_, _ = w.Write(content(900)[:500])
		var now probe.Reading
		for reads(&now) == 0 {
			window.Read(&now)
			runtime.Gosched()
		}
		_, _ = w.Write(content(900)[500:])
	})
	got := must[[]byte](t)(readAll(r, 0, p.As("test").begin(callRead).tally))
	if !bytes.Equal(got, content(900)) {
		t.Errorf("got %d bytes, or other ones, want 900", len(got))
	}
	// 500, then 400 at once, then the end.
	if s := statsOf(t, window.Close()); s.Reads != 3 || s.BytesRead != 900 {
		t.Errorf("got %d reads, %d bytes, want 3, 900", s.Reads, s.BytesRead)
	}
}

func TestErrorClasses(t *testing.T) {
	files, check := counting(t)
	for _, tt := range []struct {
		err  error
		want string
	}{
		{&fs.PathError{Err: fs.ErrNotExist}, "not_exist"},
		{&fs.PathError{Err: syscall.ENOENT}, "ENOENT"},
		{syscall.Errno(9999), "other"},
		{fs.ErrPermission, "permission"},
		{fmt.Errorf("wrapped: %w", fs.ErrExist), "exist"},
		{os.ErrClosed, "closed"},
		{os.ErrDeadlineExceeded, "deadline"},
		{io.ErrUnexpectedEOF, "other"},
	} {
		c := files.begin(callOpen)
		c.end()
		c.count(opOpen, tt.err)
		c.moved(in, 0, tt.err)
		check(Counts{Opens: 1, Reads: 1, Errors: map[string]int64{tt.want: 2}})
	}
	c := files.begin(callOpen)
	c.end()
	c.moved(in, 0, io.EOF)
	check(Counts{Reads: 1})
}

func reads(r *probe.Reading) int64 {
	s, _ := StatsOf(r)
	return s.Reads
}
