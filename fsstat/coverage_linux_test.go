package fsstat

import (
	"bytes"
	"io"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/internal/proc"
)

// What the kernel's counters do not have does not lower the share: datagrams,
// memory maps; and what the runtime reads of its own descriptors is little. What
// they have beside files, such as streams, does: the share is a lower bound.
func TestCoverageBlind(t *testing.T) {
	if _, err := os.Stat("/proc/self/io"); err != nil {
		t.Skipf("no counters of the process here: %v", err)
	}
	const n = 1 << 20
	path := tempFile(t, n)
	datagrams := func() {
		a, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Skipf("no UDP here: %v", err)
		}
		defer a.Close()
		buf := make([]byte, 2000)
		for range 500 { // one at a time, so that none is dropped
			must[int](t)(a.WriteTo(buf[:1000], a.LocalAddr()))
			if _, _, err := a.ReadFrom(buf); err != nil {
				t.Fatal(err)
			}
		}
	}
	mapped := func() {
		f := must[*os.File](t)(os.Open(path))
		defer f.Close()
		b := must[[]byte](t)(syscall.Mmap(int(f.Fd()), 0, n, syscall.PROT_READ, syscall.MAP_SHARED))
		if !bytes.Equal(b, content(n)) {
			t.Error("the map has other bytes")
		}
		_ = syscall.Munmap(b)
	}
	timers := func() {
		for range 100 {
			<-time.After(100 * time.Microsecond)
		}
	}
	stream := func() {
		got := sent(t, "tcp", "127.0.0.1:0", func(w io.Writer) (int64, error) {
			k, err := w.Write(make([]byte, n))
			return int64(k), err
		})
		if len(got) != n {
			t.Errorf("got %d bytes, want %d", len(got), n)
		}
	}
	for _, tt := range []struct {
		name        string
		do          func()
		least, most float64
	}{
		{"datagrams", datagrams, 0.95, 1},
		{"memory map", mapped, 0.95, 1},
		{"timers", timers, 0.95, 1},
		{"stream", stream, 0.45, 0.505},
	} {
		p := New(Options{})
		w := watch(t, p)
		must[[]byte](t)(p.As("test").ReadFile(path))
		tt.do()
		c := statsOf(t, w.Close()).Coverage
		if share := c.Share(); c.Process < 0 || share < tt.least || share > tt.most {
			t.Errorf("%s: got share %v of %+v, want %v to %v", tt.name, share, c, tt.least, tt.most)
		}
	}
}

// What comes out of a pipe or a device is no file, though package os opens it: it
// is neither seen of what the process reads from files, nor part of that.
func TestCoverageStreams(t *testing.T) {
	if _, err := os.Stat("/proc/self/io"); err != nil {
		t.Skipf("no counters of the process here: %v", err)
	}
	const n = 1 << 20
	path := tempFile(t, n)
	pipe := func() *os.File {
		r, w := must2[*os.File, *os.File](t)(os.Pipe())
		t.Cleanup(func() { r.Close() })
		go func() { _, _ = w.Write(content(4 * n)); w.Close() }()
		return r
	}
	fifo := func() string {
		path := filepath.Join(t.TempDir(), "fifo")
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Skipf("no named pipes here: %v", err)
		}
		go func() { _ = os.WriteFile(path, content(4*n), 0) }()
		return path
	}
	for name, do := range map[string]func(v View){
		"reads":   func(v View) { must[[]byte](t)(io.ReadAll(bare{v.File(pipe())})) },
		"WriteTo": func(v View) { must[int64](t)(v.File(pipe()).WriteTo(io.Discard)) },
		"to a file": func(v View) {
			to := must[*File](t)(v.Create(path + ".copy"))
			defer to.Close()
			must[int64](t)(io.Copy(to, v.File(pipe())))
		},
		"from a file": func(v View) {
			to := must[*os.File](t)(os.Create(path + ".copy"))
			defer to.Close()
			must[int64](t)(io.CopyN(v.File(to), v.File(pipe()), 4*n))
		},
		"ReadFile": func(v View) { must[[]byte](t)(v.ReadFile(fifo())) },
		"a device": func(v View) {
			f := must[*File](t)(v.Open("/dev/zero"))
			defer f.Close()
			must[int](t)(f.ReadAt(make([]byte, 4*n), 0))
		},
	} {
		p := New(Options{})
		v := p.As("test")
		w := watch(t, p)
		must[[]byte](t)(v.ReadFile(path))
		must[[]byte](t)(os.ReadFile(path)) // around it
		do(v)
		s := statsOf(t, w.Close())
		if c := s.Coverage; s.BytesRead != 5*n || c.Seen != n || c.Share() < 0.48 || c.Share() > 0.502 {
			t.Errorf("%s: got %d bytes read, %+v, share %v, want %d of the file seen, which is half", name, s.BytesRead, c, c.Share(), n)
		}
	}
}

// A bare one has nothing but Read.
type bare struct{ r io.Reader }

func (b bare) Read(p []byte) (int, error) { return b.r.Read(p) }

// What the library's own probes read of /proc, at each of their looks, is not what
// the process reads from files.
func TestCoverageOwnProbes(t *testing.T) {
	p := New(Options{})
	v := p.As("test")
	path := tempFile(t, 1<<20)
	f, err := proc.Open("/proc/self/status") // as they do
	if err != nil {
		t.Skipf("no counters of the process here: %v", err)
	}
	defer f.Close()
	w := watch(t, p)
	must[[]byte](t)(v.ReadFile(path))
	for range 2000 {
		must[[]byte](t)(f.Read())
		must[[]byte](t)(proc.ReadFile("/proc/self/stat"))
	}
	if c := statsOf(t, w.Close()).Coverage; c.Reason == "" && c.Share() < 0.95 {
		t.Errorf("got %+v, share %v, want nearly all", c, c.Share())
	}
}

// must2 is a and b, unless there is an error.
func must2[A, B any](t testing.TB) func(a A, b B, err error) (A, B) {
	return func(a A, b B, err error) (A, B) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return a, b
	}
}
