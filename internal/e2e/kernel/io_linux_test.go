package kernel

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/tidestaff/tidestaff/cgroup"
	"github.com/tidestaff/tidestaff/probe"
)

// ioChecks: what devices did for the group.
var ioChecks = []check{
	{name: "io", run: checkIO},
}

// Direct IO goes past the page cache, in whole blocks from aligned memory.
const (
	directRead  = 4 * mib
	directWrite = 1 * mib
)

// checkIO: the kernel lists a device from its first IO on. Before it, that none
// is listed is not a zero; in a window that saw it all, every byte is counted.
func checkIO(t *testing.T) {
	w := watch(t, cgroup.Options{})
	var r probe.Reading
	w.Read(&r)
	wantAbsent(t, &r, "no device", groupIO, groupIOOps)
	directIO(t)
	w.Read(&r)
	file := filepath.Join(ownDir(t), "io.stat")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %q", file, b)
	var rbytes, wbytes, rios, wios float64
	_, fields, _ := strings.Cut(string(b), " ") // after the device
	if _, err := fmt.Sscanf(fields, "rbytes=%g wbytes=%g rios=%g wios=%g", &rbytes, &wbytes, &rios, &wios); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		metric, direction string
		want              float64
	}{
		{groupIO, "read", directRead}, {groupIO, "write", directWrite},
		{groupIO, "read", rbytes}, {groupIO, "write", wbytes},
		{groupIOOps, "read", rios}, {groupIOOps, "write", wios},
		{processIO, "read", directRead}, {processIO, "write", directWrite},
	} {
		if got := one(t, &r, tt.metric, tt.direction).Value; got != tt.want {
			t.Errorf("%s %s: got %v, want %v", tt.metric, tt.direction, got, tt.want)
		}
	}
}

// directIO reads and writes the disk, in pieces of half a MiB.
func directIO(t *testing.T) {
	t.Helper()
	f, err := os.OpenFile(disk, os.O_RDWR|syscall.O_DIRECT, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const piece = mib / 2
	b := make([]byte, piece+4096)
	b = b[4096-uintptr(unsafe.Pointer(&b[0]))%4096:][:piece]
	for at := int64(0); at < directRead; at += piece {
		if _, err := f.ReadAt(b, at); err != nil {
			t.Fatal(err)
		}
	}
	for at := int64(0); at < directWrite; at += piece {
		if _, err := f.WriteAt(b, at); err != nil {
			t.Fatal(err)
		}
	}
}
