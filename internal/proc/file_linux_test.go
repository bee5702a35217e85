package proc

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/internal/proc/proctest"
)

// TestErrorKinds: the four ways in which the kernel refuses must be told apart
// after wrapping, because each means something else to the reader.
func TestErrorKinds(t *testing.T) {
	for _, tt := range []struct {
		errno syscall.Errno
		want  error
	}{
		{syscall.ENOENT, fs.ErrNotExist},
		{syscall.EACCES, fs.ErrPermission},
		{syscall.EPERM, fs.ErrPermission},
		{syscall.EOPNOTSUPP, errors.ErrUnsupported},
		{syscall.ENODEV, ErrDetached},
		{syscall.ENODEV, syscall.ENODEV},
		{syscall.EROFS, syscall.EROFS},
	} {
		err := pathError("read", "/sys/fs/cgroup/memory.peak", tt.errno)
		if !errors.Is(err, tt.want) {
			t.Errorf("%v: got %v, want it to match %v", tt.errno, err, tt.want)
		}
		if tt.want != ErrDetached && tt.errno != syscall.ENODEV && errors.Is(err, ErrDetached) {
			t.Errorf("%v: got a removed cgroup", tt.errno)
		}
		if !strings.Contains(err.Error(), "read /sys/fs/cgroup/memory.peak") {
			t.Errorf("%v: got %q, want operation and path", tt.errno, err)
		}
	}
}

func TestCloseOnExec(t *testing.T) {
	f, err := Open("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(f.h), syscall.F_GETFD, 0)
	if errno != 0 || flags&syscall.FD_CLOEXEC == 0 {
		t.Errorf("got flags %#x, %v, want close-on-exec", flags, errno)
	}
}

// TestNothingLeftOpen: whatever is opened and closed ten thousand times, and opened
// in part and given up, keeps no descriptor.
func TestNothingLeftOpen(t *testing.T) {
	root := t.TempDir()
	if err := proctest.Write(root, limited); err != nil {
		t.Fatal(err)
	}
	group := func(version int, dir string) Group {
		mount := filepath.Join(root, dir[:2])
		return Group{Version: version, Mount: mount, Dir: filepath.Join(root, dir)}
	}
	whole, half := group(2, "v2/pod/leaf"), group(1, "v1/half") // the latter lacks the period's file
	open := func() {
		f, err := Open("/proc/self/statm")
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Reopen(); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		l, err := OpenMemoryLimit(whole)
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
		if l, err := OpenCPULimit(half); err == nil {
			l.Close()
			t.Fatal("got the quota of a group that has half of it")
		}
	}
	ours := func() int {
		t.Helper()
		n := 0
		for _, fd := range entries(t, "/proc/self/fd") {
			name, err := os.Readlink(filepath.Join("/proc/self/fd", fd)) // one of them is gone by now
			if err == nil && (strings.HasPrefix(name, root) || strings.HasSuffix(name, "/statm")) {
				n++
			}
		}
		return n
	}
	for range 10_000 {
		open()
	}
	if n := ours(); n != 0 {
		t.Errorf("got %d descriptors, want none", n)
	}
}

func entries(t *testing.T, dir string) []string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// TestRemovedGroup: a file of a cgroup that was removed says so, with a kernel's
// own error.
func TestRemovedGroup(t *testing.T) {
	c, err := Detect("/")
	if err != nil {
		t.Skipf("needs cgroups: %v", err)
	}
	g, err := c.Lookup("")
	if err != nil {
		t.Skipf("needs a version 2 hierarchy: %v", err)
	}
	dir, err := os.MkdirTemp(g.Dir, "tidestaff-test-")
	if err != nil {
		t.Skipf("needs the right to make a cgroup: %v", err)
	}
	defer os.Remove(dir)
	f, err := Open(filepath.Join(dir, "cpu.stat"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Read(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if b, err := f.Read(); !errors.Is(err, ErrDetached) {
		t.Errorf("got %q, %v, want %v", b, err, ErrDetached)
	}
}

// TestGroupComesBack: what is kept of a group that was removed is dead, also
// when there is another group of the same name, until it is opened anew.
func TestGroupComesBack(t *testing.T) {
	c, err := Detect("/")
	if err != nil {
		t.Skipf("needs cgroups: %v", err)
	}
	g, err := c.Lookup("cpu")
	if err != nil {
		t.Skipf("needs a cpu controller: %v", err)
	}
	g.Dir, err = os.MkdirTemp(g.Dir, "tidestaff-test-")
	if err != nil {
		t.Skipf("needs the right to make a cgroup: %v", err)
	}
	defer os.Remove(g.Dir)
	l, err := OpenCPULimit(g)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("needs the cpu controller for new groups: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := l.Read(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(g.Dir); err != nil {
		t.Fatal(err)
	}
	if err := l.Reopen(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
	if err := os.Mkdir(g.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if v, err := l.Read(); !errors.Is(err, ErrDetached) {
		t.Errorf("got %v, %v, want %v", v, err, ErrDetached)
	}
	if err := l.Reopen(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Read(); err != nil {
		t.Errorf("got %v from the new group", err)
	}
}

// TestRealKernel parses this machine's files, so that a kernel which prints
// something the fixtures do not know is noticed.
func TestRealKernel(t *testing.T) {
	read := func(name string) []byte {
		f, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		b, err := f.Read()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	status, err := ParseStatus(read("/proc/self/status"))
	if err != nil || !status.HWM.OK || !status.RSS.OK || status.HWM.V == 0 {
		t.Errorf("status: got %+v, %v", status, err)
	}
	statm, err := ParseStatm(read("/proc/self/statm"), os.Getpagesize())
	if err != nil || statm.RSS == 0 || statm.Size < statm.RSS {
		t.Errorf("statm: got %+v, %v", statm, err)
	}
	stat, err := ParseStat(read("/proc/self/stat"))
	if err != nil || stat.State == 0 || stat.Start <= 0 {
		t.Errorf("stat: got %+v, %v", stat, err)
	}
	host, err := ParseHostCPU(read("/proc/stat"))
	if err != nil || host.Busy() <= 0 || host.Busy() > 100*365*24*time.Hour {
		t.Errorf("/proc/stat: got %+v, %v", host, err)
	}
	if load, err := ParseLoadAvg(read("/proc/loadavg")); err != nil || load.Tasks == 0 {
		t.Errorf("loadavg: got %+v, %v", load, err)
	}
	if _, err := CPUModel("/"); err != nil {
		t.Errorf("cpuinfo: %v", err)
	}
	if k, err := KernelRelease("/"); err != nil || !strings.Contains(k, ".") {
		t.Errorf("kernel release: got %q, %v", k, err)
	}
	if _, err := Detect("/"); err != nil && !errors.Is(err, ErrNoCgroup) {
		t.Errorf("cgroups: %v", err)
	}
}

func BenchmarkStatm(b *testing.B) {
	f, err := Open("/proc/self/statm")
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	b.ReportAllocs()
	for b.Loop() {
		text, err := f.Read()
		if err != nil {
			b.Fatal(err)
		}
		if _, err := ParseStatm(text, 4096); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkStatus(b *testing.B) {
	f, err := Open("/proc/self/status")
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	b.ReportAllocs()
	for b.Loop() {
		text, err := f.Read()
		if err != nil {
			b.Fatal(err)
		}
		if _, err := ParseStatus(text); err != nil {
			b.Fatal(err)
		}
	}
}
