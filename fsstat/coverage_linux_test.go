package fsstat

import (
	"bytes"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
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
