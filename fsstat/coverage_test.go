package fsstat

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/tidestaff/tidestaff/probe"
)

// What goes through the probe is what the process reads, but for what the test
// itself and the runtime read meanwhile; what goes around it lowers the share.
func TestCoverage(t *testing.T) {
	if _, err := os.Stat("/proc/self/io"); err != nil {
		t.Skipf("no counters of the process here: %v", err)
	}
	const n = 1 << 20
	p := New(Options{})
	w := watch(t, p)
	path := tempFile(t, n)
	files := p.As("test")
	for range 10 {
		must[[]byte](t)(files.ReadFile(path))
	}
	// What is in memory is no part of what the process reads.
	must[[]byte](t)(fs.ReadFile(files.FS(fstest.MapFS{"x": {Data: make([]byte, n)}}), "x"))
	var r probe.Reading
	w.Next(&r)
	c := statsOf(t, &r).Coverage
	if c.Reason != "" || c.Seen != 10*n || c.Process < 10*n || c.Share() < 0.98 {
		t.Errorf("got %+v, share %v, want %d seen, which is nearly all", c, c.Share(), 10*n)
	}
	for range 30 {
		must[[]byte](t)(os.ReadFile(path))
	}
	for range 10 {
		must[[]byte](t)(files.ReadFile(path))
	}
	w.Next(&r)
	if c := statsOf(t, &r).Coverage; c.Seen != 10*n || c.Process < 40*n || c.Share() < 0.24 || c.Share() > 0.25 {
		t.Errorf("got %+v, share %v, want a quarter", c, c.Share())
	}
}

// The probe's own looks at the counters are not in them.
func TestCoverageOwnReads(t *testing.T) {
	if _, err := os.Stat("/proc/self/io"); err != nil {
		t.Skipf("no counters of the process here: %v", err)
	}
	p := New(Options{})
	p.As("test") // makes the series
	w := watch(t, p)
	const looks = 2000
	var r probe.Reading
	for range looks {
		w.Read(&r)
	}
	// Each look reads about 100 bytes. What the runtime reads by itself is little.
	if c := statsOf(t, &r).Coverage; c.Process < 0 || c.Process > looks*50 {
		t.Errorf("got %+v, want next to nothing that the process read", c)
	}
}

func TestCoverageUnavailable(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"bad": "rchar: x\n", "short": "syscr: 1\n"} {
		write(t, filepath.Join(dir, name), []byte(text), 0o600)
	}
	write(t, filepath.Join(dir, "denied"), nil, 0)
	for name, want := range map[string]string{"gone": "no " + dir, "bad": `"rchar: x"`, "short": "no rchar", "denied": "is denied"} {
		p := New(Options{})
		p.io.path = filepath.Join(dir, name)
		if _, err := os.ReadFile(p.io.path); name == "denied" && err == nil {
			continue // root may read everything
		}
		w := watch(t, p)
		_, _ = p.Stat(dir)
		s := statsOf(t, w.Close())
		if c := s.Coverage; !strings.Contains(c.Reason, want) || c.Share() != 0 || !strings.HasPrefix(c.String(), "coverage unavailable: ") {
			t.Errorf("%s: got %q, want it unavailable because %q", name, c, want)
		}
	}
}

// A kernel that denies the file, at the open or at a read, says so to everybody but
// root; here it is the answer alone.
func TestCoverageDenied(t *testing.T) {
	p := New(Options{})
	w := watch(t, p)
	p.io.fail(&fs.PathError{Op: "read", Path: p.io.path, Err: syscall.EACCES})
	p.io.mu.Lock()
	_ = p.io.file.Close() // no look finds it again
	p.io.file = nil
	p.io.mu.Unlock()
	var r probe.Reading
	w.Read(&r)
	if c := statsOf(t, &r).Coverage; c.Reason != "/proc/self/io is denied" || c.Share() != 0 {
		t.Errorf("got %+v, want it denied", c)
	}
}

func TestCoverageWords(t *testing.T) {
	for want, c := range map[string]Coverage{
		"the process has read nothing": {},
		"at least 25.0 % of what the process read from files (5 of 20 bytes, sockets and pipes among them)":   {Seen: 5, Process: 20},
		"at least 100.0 % of what the process read from files (20 of 20 bytes, sockets and pipes among them)": {Seen: 21, Process: 20},
	} {
		if got := c.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
