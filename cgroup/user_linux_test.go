package cgroup

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// insideVar makes the tests of this file that are run by others the programs that
// those want.
const insideVar = "TIDESTAFF_TEST_INSIDE"

// inside is a command that runs one of these tests as a program.
func inside(t *testing.T, binary, test string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, "-test.run=^"+test+"$")
	cmd.Env = append(os.Environ(), insideVar+"=1", "GORACE=atexit_sleep_ms=0")
	return cmd
}

// TestRealMixedWindows: windows of probes of many kinds, nested, overlapping and
// tiled, from several goroutines beside work that moves the levels. No peak is
// below its level, nothing is negative, and nothing is left.
func TestRealMixedWindows(t *testing.T) {
	watch(t, New(Options{})).Close() // the network poller's descriptors stay
	before := len(entries(t, "/proc/self/fd"))
	probes := []*Probe{
		New(Options{Interval: time.Millisecond}),
		New(Options{Interval: time.Millisecond, NoReset: true}),
		New(Options{ResetShared: true}),
		New(Options{PID: os.Getppid(), NoReset: true, Interval: time.Millisecond}),
		New(Options{PID: -7}), New(Options{PID: 1 << 30}),
		New(Options{Path: "/no/such"}), New(Options{Path: "../.."}),
	}
	stop := make(chan struct{})
	var load, wg sync.WaitGroup
	load.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				spike(t, 4*mib)
			}
		}
	})
	for g := range 8 {
		wg.Go(func() {
			mixed(t, rand.New(rand.NewPCG(1, uint64(g))), probes)
		})
	}
	wg.Wait()
	close(stop)
	load.Wait()
	if n := len(sharedPeaks.names) + len(sharedMarks.names); n != 0 {
		t.Errorf("got %d marks that are kept without a window", n)
	}
	if got := len(entries(t, "/proc/self/fd")); got > before {
		t.Errorf("got %d descriptors, had %d", got, before)
	}
}

// mixed opens and closes windows of probes at random.
func mixed(t *testing.T, rnd *rand.Rand, probes []*Probe) {
	var open []*probe.Window
	var r probe.Reading
	for range 60 {
		w, err := probes[rnd.IntN(len(probes))].Watch()
		if err != nil {
			t.Error(err)
			return
		}
		open = append(open, w)
		open[rnd.IntN(len(open))].Next(&r)
		wantSense(t, &r)
		for len(open) > rnd.IntN(6) {
			i := rnd.IntN(len(open))
			wantSense(t, open[i].Close())
			open = append(open[:i], open[i+1:]...)
		}
	}
	for _, w := range open {
		w.Close()
	}
}

// wantSense wants a reading that a machine can have had.
func wantSense(t *testing.T, r *probe.Reading) {
	values := map[string]float64{}
	for _, m := range r.Metrics {
		values[m.Name] = m.Value
		if m.Value < 0 && m.Attr(attrStat) != "rise" { // levels fall
			t.Errorf("got %s %v = %v", m.Name, m.Attrs, m.Value)
		}
	}
	for level, peak := range map[*probe.Desc]*probe.Desc{descRSS: descPeak, descGroupUsage: descGroupPeak, descTasks: descTasksPeak} {
		if v, ok := values[peak.Name]; ok && v < values[level.Name] {
			t.Errorf("got a peak of %v, below the level %v of %s", v, values[level.Name], level.Name)
		}
	}
}

// TestRealChildHoldsNothing: a program that this process executes has none of the
// probe's descriptors, which would keep a removed group alive.
func TestRealChildHoldsNothing(t *testing.T) {
	if os.Getenv(insideVar) != "" {
		for _, e := range entries(t, "/proc/self/fd") {
			name, _ := os.Readlink("/proc/self/fd/" + e.Name())
			fmt.Println("descriptor", name)
		}
		return
	}
	watch(t, New(Options{}))
	watch(t, New(Options{ResetShared: true, NoReset: true}))
	watch(t, New(Options{PID: os.Getppid(), NoReset: true}))
	out, err := inside(t, os.Args[0], "TestRealChildHoldsNothing").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "descriptor ") {
		t.Fatalf("got %v, %s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "/cpu.cfs_") || strings.Contains(line, "/cpu.max") {
			continue // its own Go runtime's
		}
		for _, ours := range []string{"/sys/", "inotify", "eventfd:", "/statm", "/status", "/stat\n", "/io\n", "/cgroup\n", "clear_refs"} {
			if strings.Contains(line, "descriptor") && strings.Contains(line, ours) {
				t.Errorf("got %q in a child", line)
			}
		}
	}
}

// TestRealUnprivileged: a user without rights has an exact peak of its own
// process, and of others what the kernel shows; what is denied says so.
func TestRealUnprivileged(t *testing.T) {
	if os.Getenv(insideVar) != "" {
		r := watch(t, New(Options{})).Close()
		if _, prov := one(t, r, descPeak); prov != (probe.Provenance{Method: markReset}) {
			t.Errorf("got a peak by %+v", prov)
		}
		r = watch(t, New(Options{PID: os.Getppid()})).Close()
		if _, prov := one(t, r, descPeak); prov.Method == markReset {
			t.Errorf("got somebody else's peak by %+v", prov)
		}
		wantThere(t, r, descRSS, descCPU)
		if got := absent(r, descProcessIO.Name); !strings.Contains(got, "denied: open /proc/") {
			t.Errorf("got reason %q", got)
		}
		return
	}
	if os.Getuid() != 0 {
		t.Skip("needs root, to become another user")
	}
	settled(t, New(Options{})).Close()
	// The test's folders are its user's alone.
	dir, err := os.MkdirTemp("", "tidestaff-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	binary := filepath.Join(dir, "test")
	if err := errors.Join(os.Chmod(dir, 0o755), copyFile(binary, os.Args[0])); err != nil {
		t.Fatal(err)
	}
	cmd := inside(t, binary, "TestRealUnprivileged")
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if os.IsPermission(err) {
		t.Skipf("needs to execute a program from %s: %v", dir, err)
	}
	if err != nil || !strings.Contains(string(out), "PASS") {
		t.Errorf("got %v, %s", err, out)
	}
}

// copyFile makes a program of another.
func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
