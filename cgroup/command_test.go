package cgroup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// outside is a probe whose commands have no groups.
func outside() *Probe { return New(Options{Root: "testdata/nothing"}) }

// fat makes this process larger than any command of the tests: what a command
// is said to have taken must not have our own in it.
func fat(t *testing.T) {
	t.Helper()
	if err := spikeMiB("300"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resident = nil })
}

// wantMiB wants a value between what was allocated and that with the room that
// a Go program takes by itself, which with the race detector is more than it
// allocates.
func wantMiB(t *testing.T, v Value, allocated float64) {
	t.Helper()
	const room = 150
	if got := v.V / mib; !v.OK || got < allocated || got > allocated+room {
		t.Errorf("got a peak of %.1f MiB, %+v, with %v allocated", got, v, allocated)
	}
}

// TestCommandPolled: without a group of its own, a command's peak is the
// largest mark that was seen of it, and says so. The process that started it is
// larger, and is not in it.
func TestCommandPolled(t *testing.T) {
	needsProc(t)
	fat(t)
	u, err := start(t, outside(), "", "hold", "60").end(t)
	if err != nil {
		t.Fatal(err)
	}
	wantMiB(t, u.Peak, 60)
	got := u.Peak.Prov
	if got.How != probe.Sampled || got.Method != "VmHWM polled" || got.Samples < 1 || got.MaxGap <= 0 {
		t.Errorf("got %+v, want it sampled, with looks and a gap", got)
	}
	if !strings.Contains(u.Peak.Reason, errFixture.Error()) {
		t.Errorf("got reason %q, want why there was no group", u.Peak.Reason)
	}
	if !u.CPU.OK || u.CPU.Prov.Method != "wait4" {
		t.Errorf("got CPU %+v, want wait4's", u.CPU)
	}
	if want := filepath.Base(os.Args[0]); u.Name != want || u.Duration <= 0 {
		t.Errorf("got %q and %v, want %q and a duration", u.Name, u.Duration, want)
	}
}

// TestCommandPolledDescendants: the largest process of a command may be one
// that it started.
func TestCommandPolledDescendants(t *testing.T) {
	needsProc(t)
	if _, err := os.Stat("/proc/thread-self/children"); err != nil {
		t.Skip("needs a kernel with CONFIG_PROC_CHILDREN")
	}
	u, err := start(t, outside(), "", "parent", "parent", "hold", "60").end(t)
	if err != nil {
		t.Fatal(err)
	}
	wantMiB(t, u.Peak, 60)
}

// TestCommandRows: each command has its row in the windows that were open when
// it began, with how its peak is known.
func TestCommandRows(t *testing.T) {
	needsProc(t)
	p := outside()
	early := start(t, p, "unwatched", "hold", "1")
	w := watch(t, p)
	if _, err := early.end(t); err != nil {
		t.Fatal(err)
	}
	for _, n := range []string{"30", "50"} {
		if _, err := start(t, p, "hold", "hold", n).end(t); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.RunCommand("fail", helper(t.Context(), "fail")); err == nil {
		t.Error("got no error of a command that fails")
	}
	if _, err := p.RunCommand("missing", exec.Command(filepath.Join(t.TempDir(), "none"))); err == nil {
		t.Error("got no error of a program that is not there")
	}
	r := w.Close()
	for _, tt := range []struct {
		name       string
		n, failed  float64
		durations  uint64
		polledPeak bool
	}{{"hold", 2, 0, 2, true}, {"fail", 1, 1, 1, false}, {"missing", 0, 1, 1, false}, {"unwatched", 0, 0, 0, false}} {
		a := probe.Attr{Key: AttrCommand, Value: tt.name}
		for m := range r.Find(descCommandDuration.Name, a) {
			if got := m.Dist.Count(); got != tt.durations {
				t.Errorf("%s: got %d durations, want %d", tt.name, got, tt.durations)
			}
			tt.durations = 0
		}
		for m := range r.Find(descCommandCPU.Name, a) {
			if got := m.Dist.Count(); float64(got) != tt.n {
				t.Errorf("%s: got %d CPU times, want %v", tt.name, got, tt.n)
			}
		}
		for m := range r.Find(descCommandFailures.Name, a) {
			if m.Value != tt.failed {
				t.Errorf("%s: got %v failures, want %v", tt.name, m.Value, tt.failed)
			}
		}
		if tt.durations != 0 {
			t.Errorf("%s: got no row", tt.name)
		}
		for m := range r.Find(descCommandPeak.Name, a) {
			if tt.polledPeak && (m.Value < 50*mib || m.Prov.How != probe.Sampled || m.Prov.Method != "VmHWM polled") {
				t.Errorf("%s: got a peak of %v, %+v", tt.name, m.Value, m.Prov)
			}
			tt.polledPeak = false
		}
		if tt.polledPeak {
			t.Errorf("%s: got no peak", tt.name)
		}
	}
}

// TestCommandFails: the error is the command's own, as its own Run has it, and
// what it took is there all the same.
func TestCommandFails(t *testing.T) {
	var stderr strings.Builder
	cmd := helper(t.Context(), "fail")
	cmd.Stderr = &stderr
	u, err := Run(cmd)
	if e, ok := err.(*exec.ExitError); !ok || e.ExitCode() != 3 {
		t.Errorf("got %T %v, want the command's status 3", err, err)
	}
	if !u.CPU.OK || u.Duration <= 0 || !strings.Contains(stderr.String(), "this is why") {
		t.Errorf("got %+v and %q, want what it took and said", u, stderr.String())
	}
}

// TestCommandContext: a context that ends ends the command, and only waits for it.
func TestCommandContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cmd := helper(ctx, "hold", "1")
	in, err := cmd.StdinPipe() // kept open
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	c, err := New(Options{}).StartCommand("", cmd)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	u, err := c.Wait()
	if !errors.Is(err, context.Canceled) && !strings.Contains(fmt.Sprint(err), "killed") {
		t.Errorf("got %v, want that it was killed", err)
	}
	if again, err2 := c.Wait(); again != u || err2 != err {
		t.Errorf("second Wait: got %+v, %v, want the first one's result", again, err2)
	}
	if c.cell != nil {
		wantGone(t, c.cell.dirs)
	}
}

// wantGone wants the folders of a cell to have been removed.
func wantGone(t *testing.T, dirs []string) {
	t.Helper()
	for _, d := range dirs {
		if _, err := os.Stat(d); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", d, err)
		}
	}
}

// TestCommandPeakAbsent: where nothing was seen, the peak is absent with a
// reason, until there is one.
func TestCommandPeakAbsent(t *testing.T) {
	p := outside()
	w := watch(t, p)
	p.record("x", &Usage{Peak: Value{Reason: "never seen"}}, false)
	var r probe.Reading
	w.Read(&r)
	if got := absent(&r, descCommandPeak.Name); got != "never seen" {
		t.Errorf("got reason %q", got)
	}
	p.record("x", &Usage{Peak: Value{V: 5, OK: true}}, false)
	p.record("x", &Usage{Peak: Value{Reason: "never seen"}}, false)
	w.Read(&r)
	if got := absent(&r, descCommandPeak.Name); got != "" {
		t.Errorf("got reason %q for a peak that is there", got)
	}
	if v, _ := one(t, &r, descCommandPeak); v != 5 {
		t.Errorf("got a peak of %v, want 5", v)
	}
}

// TestUsageString: a lower bound and an unknown do not look like a number that is
// known.
func TestUsageString(t *testing.T) {
	exact := Usage{Name: "git upload-pack", Duration: 205*time.Millisecond + 4*time.Microsecond,
		CPU:  Value{V: 0.19831, OK: true, Prov: probe.Provenance{Method: "cpu.stat"}},
		Peak: Value{V: 25.4 * mib, OK: true, Prov: probe.Provenance{Method: "memory.peak"}}}
	polled := exact
	polled.Peak = Value{V: 6.6 * mib, OK: true, Reason: "read-only file system",
		Prov: probe.Provenance{How: probe.Sampled, Method: "VmHWM polled", Samples: 130, MaxGap: 34 * time.Millisecond}}
	killed := exact
	killed.OOMKills = Value{V: 1, OK: true}
	for _, tt := range []struct {
		u    Usage
		want string
	}{
		{exact, "git upload-pack: 205ms, CPU 198.31ms (cpu.stat), peak 25.4 MiB (memory.peak)"},
		{polled, "git upload-pack: 205ms, CPU 198.31ms (cpu.stat), peak at least 6.6 MiB (VmHWM polled, 130 looks at most 34ms apart; read-only file system)"},
		{killed, "git upload-pack: 205ms, CPU 198.31ms (cpu.stat), peak 25.4 MiB (memory.peak), 1 process killed for want of memory"},
		{Usage{Name: "x", Peak: Value{Reason: "gone"}}, "x: 0s, peak unknown: gone"},
	} {
		if got := tt.u.String(); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

// TestNoLooks: a command that was never seen has no peak of zero.
func TestNoLooks(t *testing.T) {
	l := &looks{quit: make(chan struct{})}
	if got := l.stop(); got.OK || got.Reason == "" {
		t.Errorf("got %+v, want a reason", got)
	}
}

// TestLooksEnd: polling ends with the command, also if nobody waits for it.
func TestLooksEnd(t *testing.T) {
	needsProc(t)
	h := start(t, outside(), "", "hold", "1")
	h.in.Close()
	h.looks.done.Wait()
	if u, err := h.Wait(); err != nil || !u.Peak.OK {
		t.Errorf("got %+v, %v", u, err)
	}
}

// needsProc skips a test where processes cannot be looked at.
func needsProc(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skipf("needs /proc: %v", err)
	}
}

// TestDescendants: they are found through every thread, in any depth.
func TestDescendants(t *testing.T) {
	needsProc(t)
	h := start(t, outside(), "", "parent", "parent", "hold", "1")
	pids := descendants(nil, h.cmd.Process.Pid)
	h.end(t)
	if len(pids) != 3 || pids[0] != h.cmd.Process.Pid || len(slices.Compact(slices.Sorted(slices.Values(pids)))) != 3 {
		t.Errorf("got %v, want the command and two below it", pids)
	}
}
