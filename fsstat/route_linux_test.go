package fsstat

import (
	"bytes"
	"io"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Copies that package os makes by reads and writes, though both sides have a
// descriptor, count as those.
func TestCopyByProgram(t *testing.T) {
	const blocks = size / (32 << 10) // io.Copy's buffer
	reads := Counts{Opens: 2, Reads: blocks + 1, BytesRead: size}
	for _, tt := range []struct {
		name string
		flag int
		copy func(to, from *File) (int64, error)
		want Counts
	}{
		{"Copy to os, appending", os.O_APPEND, func(to, from *File) (int64, error) { return io.Copy(to.File, from) }, reads},
		{"ReadFrom of os", 0, func(to, from *File) (int64, error) { return to.File.ReadFrom(from) }, reads},
		{"ReadFrom around os", 0, func(to, from *File) (int64, error) { return to.ReadFrom(struct{ *os.File }{from.File}) },
			Counts{Opens: 2, Writes: blocks, BytesWritten: size}},
		// Here a ReadFrom around the one of package os lets the kernel copy,
		// but it might as well not.
		{"WriteTo around os", 0, func(to, from *File) (int64, error) { return from.WriteTo(struct{ *os.File }{to.File}) },
			Counts{Opens: 2, Reads: 1, BytesRead: size}},
		{"WriteTo of os", 0, func(to, from *File) (int64, error) { return from.File.WriteTo(to) },
			Counts{Opens: 2, Writes: 1, BytesWritten: size, KernelWritten: size}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files, check := counting(t)
			from := must[*File](t)(files.Open(tempFile(t, size)))
			defer from.Close()
			path := filepath.Join(t.TempDir(), "to")
			to := must[*File](t)(files.OpenFile(path, os.O_CREATE|os.O_WRONLY|tt.flag, 0o600))
			defer to.Close()
			if n, err := tt.copy(to, from); n != size || err != nil {
				t.Errorf("got %d bytes, error %v, want %d", n, err, size)
			}
			wantFile(t, path, content(size))
			check(tt.want)
		})
	}
}

// The kernel does not copy its own files, which say that they are empty.
func TestCopyKernelFile(t *testing.T) {
	const path = "/proc/version"
	want, err := os.ReadFile(path)
	if err != nil {
		t.Skipf("no %s here: %v", path, err)
	}
	n := int64(len(want))
	for name, bare := range map[string]bool{"File": false, "os.File": true} {
		files, check := counting(t)
		from := must[*File](t)(files.Open(path))
		defer from.Close()
		to := must[*File](t)(files.Create(filepath.Join(t.TempDir(), "to")))
		defer to.Close()
		counts := Counts{Opens: 2, Writes: 1, BytesWritten: n}
		if bare {
			must[int64](t)(io.Copy(to, from.File))
		} else {
			must[int64](t)(io.Copy(to, from))
			counts.Reads, counts.BytesRead = 2, n
		}
		t.Log(name)
		wantFile(t, to.Name(), want)
		check(counts)
	}
}

// Files of another file system are copied by package os as it can.
func TestCopyAcross(t *testing.T) {
	var here, there syscall.Stat_t
	other, err := os.CreateTemp("/dev/shm", "fsstat")
	if err != nil {
		t.Skipf("no other file system here: %v", err)
	}
	defer os.Remove(other.Name())
	defer other.Close()
	files, check := counting(t)
	from := must[*File](t)(files.Open(tempFile(t, size)))
	defer from.Close()
	for name, st := range map[string]*syscall.Stat_t{from.Name(): &here, other.Name(): &there} {
		if err := syscall.Stat(name, st); err != nil {
			t.Fatal(err)
		}
	}
	if here.Dev == there.Dev {
		t.Skip("no other file system here")
	}
	must[int64](t)(io.Copy(other, from))
	wantFile(t, other.Name(), content(size))
	check(Counts{Opens: 1, Reads: 1, BytesRead: size})
}

// A connection within another type gets a file by sendfile, and one of the
// kernel's own files by whatever works.
func TestSendWithin(t *testing.T) {
	type around struct{ *net.TCPConn }
	files, check := counting(t)
	send := func(path string) []byte {
		f := must[*File](t)(files.Open(path))
		defer f.Close()
		return sent(t, "tcp", "127.0.0.1:0", func(w io.Writer) (int64, error) { return f.WriteTo(around{w.(*net.TCPConn)}) })
	}
	if got := send(tempFile(t, size)); !bytes.Equal(got, content(size)) {
		t.Errorf("got %d bytes, or other ones, want %d", len(got), size)
	}
	check(Counts{Opens: 1, Reads: 1, BytesRead: size, KernelRead: size})

	version, err := os.ReadFile("/proc/version")
	if err != nil {
		t.Skip(err)
	}
	if diff := cmp.Diff(version, send("/proc/version")); diff != "" {
		t.Errorf("the kernel's file (-want +got):\n%s", diff)
	}
}

// Errors stay those of package os, also where a route is looked for.
func TestCopyErrors(t *testing.T) {
	path, dir := tempFile(t, 100), t.TempDir()
	files, _ := counting(t)
	for _, tt := range []struct {
		name     string
		from     string
		flag, to int
	}{
		{"from one for writing", path, os.O_WRONLY, os.O_WRONLY},
		{"to one for reading", path, os.O_RDONLY, os.O_RDONLY},
		{"from a directory", dir, os.O_RDONLY, os.O_WRONLY},
	} {
		target := tempFile(t, 10)
		var errs [2]error
		for i, open := range []func(string, int) (io.ReadWriteCloser, error){
			func(name string, flag int) (io.ReadWriteCloser, error) { return files.OpenFile(name, flag, 0) },
			func(name string, flag int) (io.ReadWriteCloser, error) { return os.OpenFile(name, flag, 0) },
		} {
			from := must[io.ReadWriteCloser](t)(open(tt.from, tt.flag))
			to := must[io.ReadWriteCloser](t)(open(target, tt.to))
			_, errs[i] = io.Copy(to, from)
			from.Close()
			to.Close()
		}
		if errs[1] == nil {
			t.Errorf("%s: package os gives no error", tt.name)
		}
		sameError(t, tt.name, errs[0], errs[1])
	}
}
