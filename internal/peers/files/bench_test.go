package files

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/tidestaff/tidestaff/fsstat"
	"github.com/tidestaff/tidestaff/internal/peers/cputime"
	"github.com/tidestaff/tidestaff/probe"
)

// A way is one of those that are compared.
type way struct {
	name    string
	options *fsstat.Options // nil for none of the probe's
	watched bool
	naive   bool
}

var ways = []way{
	{name: "bare"},
	{name: "tidestaff-unwatched", options: &fsstat.Options{}},
	{name: "tidestaff", options: &fsstat.Options{}, watched: true},
	{name: "tidestaff-counts", options: &fsstat.Options{TimeEvery: -1}, watched: true},
	{name: "naive", naive: true},
}

// files are the functions of package os, with a probe or without.
type files struct {
	way
	probe *fsstat.Probe
}

// A file is what both have.
type file interface {
	io.ReadWriteSeeker
	io.ReaderAt
	io.Closer
}

// counting is the reader that people write.
type counting struct {
	r     io.Reader
	reads *atomic.Int64
}

func (c counting) Read(b []byte) (int, error) {
	c.reads.Add(1)
	return c.r.Read(b)
}

func (f files) open(b *testing.B, name string, flag int) file {
	var opened file
	var err error
	if f.probe != nil {
		opened, err = f.probe.OpenFile(name, flag, 0o600)
	} else {
		opened, err = os.OpenFile(name, flag, 0o600)
	}
	if err != nil {
		b.Fatal(err)
	}
	return opened
}

func (f files) readFile(name string) ([]byte, error) {
	if f.probe != nil {
		return f.probe.ReadFile(name)
	}
	return os.ReadFile(name)
}

// bench measures an operation in each way. begin returns the operation.
func bench(b *testing.B, size int64, naive bool, begin func(b *testing.B, f files, path string) func()) {
	path := filepath.Join(b.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
		b.Fatal(err)
	}
	for _, w := range ways {
		if w.naive && !naive {
			continue
		}
		b.Run("on=cache/by="+w.name, func(b *testing.B) {
			f := files{way: w}
			if w.options != nil {
				f.probe = fsstat.New(*w.options)
			}
			if w.watched {
				window, err := f.probe.Watch()
				if err != nil {
					b.Fatal(err)
				}
				defer window.Close()
			}
			measure(b, begin(b, f, path))
		})
	}
}

// measure reports the CPU time beside the wall time.
func measure(b *testing.B, op func()) {
	op() // makes the series
	b.ReportAllocs()
	before, ok := cputime.Now()
	for b.Loop() {
		op()
	}
	if after, _ := cputime.Now(); ok {
		b.ReportMetric(float64(after-before)/float64(b.N), "cpu-ns/op")
	}
}

// BenchmarkFloor is what nothing that times can do without: two readings of the
// clock and a record.
func BenchmarkFloor(b *testing.B) {
	var r probe.Recorder
	measure(b, func() {
		start := probe.Now()
		r.RecordShard(0, probe.Now()-start)
	})
}

func BenchmarkReadAt64(b *testing.B) { readAt(b, 64) }
func BenchmarkReadAt4K(b *testing.B) { readAt(b, 4096) }

func readAt(b *testing.B, n int) {
	bench(b, 4096, false, func(b *testing.B, f files, path string) func() {
		opened := f.open(b, path, os.O_RDONLY)
		b.Cleanup(func() { opened.Close() })
		buf := make([]byte, n)
		return func() { _, _ = opened.ReadAt(buf, 0) }
	})
}

// A Read and the Seek that lets it be repeated.
func BenchmarkSeekRead64(b *testing.B) {
	bench(b, 4096, false, func(b *testing.B, f files, path string) func() {
		opened := f.open(b, path, os.O_RDONLY)
		b.Cleanup(func() { opened.Close() })
		buf := make([]byte, 64)
		return func() {
			_, _ = opened.Seek(0, io.SeekStart)
			_, _ = opened.Read(buf)
		}
	})
}

func BenchmarkReadFile4K(b *testing.B) {
	bench(b, 4096, false, func(b *testing.B, f files, path string) func() {
		return func() { _, _ = f.readFile(path) }
	})
}

func BenchmarkOpenClose(b *testing.B) {
	bench(b, 4096, false, func(b *testing.B, f files, path string) func() {
		return func() { f.open(b, path, os.O_RDONLY).Close() }
	})
}

const large = 64 << 20

// source is the large file, in the way's own type.
func (f files) source(opened file, reads *atomic.Int64) io.Reader {
	if f.naive {
		return counting{opened, reads}
	}
	return opened
}

func BenchmarkCopy64M(b *testing.B) {
	bench(b, large, true, func(b *testing.B, f files, path string) func() {
		from := f.open(b, path, os.O_RDONLY)
		to := f.open(b, path+".copy-"+f.name, os.O_RDWR|os.O_CREATE)
		b.Cleanup(func() { from.Close(); to.Close(); _ = os.Remove(path + ".copy-" + f.name) })
		var reads atomic.Int64
		return func() {
			_, _ = from.Seek(0, io.SeekStart)
			_, _ = to.Seek(0, io.SeekStart)
			copied(b, to, f.source(from, &reads))
		}
	})
}

func BenchmarkSend64M(b *testing.B) {
	bench(b, large, true, func(b *testing.B, f files, path string) func() {
		from := f.open(b, path, os.O_RDONLY)
		to, drained := connection(b)
		b.Cleanup(func() { to.Close(); <-drained; from.Close() })
		var reads atomic.Int64
		return func() {
			_, _ = from.Seek(0, io.SeekStart)
			copied(b, to, f.source(from, &reads))
		}
	})
}

func copied(b *testing.B, to io.Writer, from io.Reader) {
	if n, err := io.Copy(to, from); n != large || err != nil {
		b.Fatalf("copied %d bytes, error %v, want %d", n, err, large)
	}
}

// connection is one whose other end throws away what comes.
func connection(b *testing.B) (c net.Conn, drained <-chan struct{}) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		peer, err := l.Accept()
		if err != nil {
			return
		}
		defer peer.Close()
		_, _ = io.Copy(struct{ io.Writer }{io.Discard}, peer)
	}()
	if c, err = net.Dial("tcp", l.Addr().String()); err != nil {
		b.Fatal(err)
	}
	return c, done
}
