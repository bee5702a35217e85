package cgroup

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

// celled skips a test unless commands get a group with a peak of its own here.
func celled(t *testing.T) *Probe {
	t.Helper()
	p := New(Options{})
	c, err := p.StartCommand("", helper(t.Context(), "nothing"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Wait(); err != nil {
		t.Fatal(err)
	}
	if c.why != "" {
		t.Skipf("needs to make groups with a peak below its own: %s", c.why)
	}
	return p
}

// TestCellPeak: in a group of its own a command's peak and CPU time are exact,
// with all descendants, and nothing of the process that started it.
func TestCellPeak(t *testing.T) {
	p := celled(t)
	fat(t)
	for _, words := range []string{"hold 60", "parent hold 60"} {
		h := start(t, p, "", strings.Fields(words)...)
		dirs := h.cell.dirs
		u, err := h.end(t)
		if err != nil {
			t.Fatal(err)
		}
		wantMiB(t, u.Peak, 60)
		if got := u.Peak.Prov; got.How != probe.Exact || got.Method != peakFile1 && got.Method != peakFile2 || u.Peak.Reason != "" {
			t.Errorf("%s: got %+v, want it exact", words, u.Peak)
		}
		wantGone(t, dirs)
	}
	u, err := p.RunCommand("", helper(t.Context(), "burn", "200ms"))
	if err != nil {
		t.Fatal(err)
	}
	if !u.CPU.OK || u.CPU.V < 0.2 {
		t.Errorf("got CPU %+v, want at least 200 ms", u.CPU)
	}
}

// TestCellNested: a command that has made groups in its own leaves it as well,
// with the kernel's reason.
func TestCellNested(t *testing.T) {
	p := celled(t)
	h := start(t, p, "", "hold", "1")
	nested := filepath.Join(h.cell.dirs[0], "nested")
	if err := os.Mkdir(nested, 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := h.end(t)
	var left *LeftError
	if !errors.As(err, &left) || len(left.PIDs) > 0 || !errors.Is(err, syscall.EBUSY) || !strings.Contains(err.Error(), h.cell.dirs[0]) {
		t.Errorf("got %v, want the group left because it is busy", err)
	}
	if err := rmdir(nested); err != nil {
		t.Fatal(err)
	}
	p.nest.sweep()
	wantGone(t, h.cell.dirs)
}

// TestCellLeft: what outlives the command is left alone, in its group, and the
// error says where.
func TestCellLeft(t *testing.T) {
	p := celled(t)
	h := start(t, p, "", "leave", "hold", "1")
	pid, err := strconv.Atoi(h.said)
	if err != nil {
		t.Fatal(err)
	}
	u, err := h.Wait()
	var left *LeftError
	if !errors.As(err, &left) || !slices.Contains(left.PIDs, pid) || !slices.Equal(left.Dirs, h.cell.dirs) {
		t.Fatalf("got %v, want %v left with process %d", err, h.cell.dirs, pid)
	}
	if !u.Peak.OK || !u.CPU.OK {
		t.Errorf("got %+v, want what it took so far", u)
	}
	if err := syscall.Kill(pid, 0); err != nil {
		t.Errorf("the process that was left behind: %v", err)
	}
	h.in.Close() // it ends
	for limit := time.Now().Add(time.Minute); len(h.cell.processes(nil)) > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("the process does not end")
		}
	}
	if _, err := p.RunCommand("", helper(t.Context(), "nothing")); err != nil {
		t.Error(err)
	}
	wantGone(t, h.cell.dirs)
}

// TestCellNothingLeft: commands that end in every way, from several goroutines,
// leave no group, no descriptor and no goroutine behind.
func TestCellNothingLeft(t *testing.T) {
	p := celled(t)
	before, fds := groups(t), len(entries(t, "/proc/self/fd"))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 6 {
				name := []string{"nothing", "fail"}[i%2]
				if u, err := p.RunCommand("", helper(t.Context(), name)); (err != nil) != (name == "fail") || !u.Peak.OK {
					t.Errorf("%s: got %+v, %v", name, u, err)
				}
				if _, err := p.RunCommand("", exec.Command("/no/such/program")); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("got %v, want that the program is not there", err)
				}
			}
		})
	}
	wg.Wait()
	// Others may make some in the same place, which do not stay.
	added := func(dir string) bool { return !slices.Contains(before, dir) }
	for limit := time.Now().Add(time.Minute); slices.ContainsFunc(groups(t), added); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("got groups %v, had %v", groups(t), before)
		}
	}
	if got := len(entries(t, "/proc/self/fd")); got > fds {
		t.Errorf("got %d descriptors, had %d", got, fds)
	}
}

// groups are the folders that commands have below any of our groups. Those of
// tests, here and in other packages that are tested beside, have a word more in
// their names, and stay as long as the test.
func groups(t *testing.T) (made []string) {
	t.Helper()
	c, err := proc.Detect("/")
	if err != nil {
		t.Fatal(err)
	}
	for _, controller := range []string{"memory", "cpuacct", ""} {
		if g, err := c.Lookup(controller); err == nil {
			dirs, _ := filepath.Glob(filepath.Join(g.Dir, "tidestaff-[0-9]*"))
			made = append(made, dirs...)
		}
	}
	return made
}

func entries(t *testing.T, dir string) []os.DirEntry {
	t.Helper()
	e, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestCell2: on version 2 a command starts in its group. Without the memory
// controller its CPU time is its own, and its memory is polled, group wide.
func TestCell2(t *testing.T) {
	groups, err := proc.Detect("/")
	if err != nil {
		t.Skip(err)
	}
	own, err := groups.Lookup("")
	if err != nil {
		t.Skipf("needs a version 2 hierarchy: %v", err)
	}
	p := New(Options{CommandGroup: own.Dir})
	h := start(t, p, "", "parent", "hold", "60")
	if h.cell == nil {
		h.end(t)
		t.Skipf("needs to start processes in groups below %s: %s", own.Dir, h.why)
	}
	if h.cmd.SysProcAttr != nil {
		t.Error("the caller's SysProcAttr was changed")
	}
	if got := h.cell.processes(nil); len(got) != 2 || !slices.Contains(got, h.cmd.Process.Pid) {
		t.Errorf("got processes %v, want %d and its child", got, h.cmd.Process.Pid)
	}
	dirs := h.cell.dirs
	u, err := h.end(t)
	if err != nil {
		t.Fatal(err)
	}
	wantMiB(t, u.Peak, 60)
	wantGone(t, dirs)
	if !u.CPU.OK || u.CPU.V <= 0 || u.CPU.Prov.Method != cpuFile2 {
		t.Errorf("got CPU %+v, want that of %s", u.CPU, cpuFile2)
	}
	if countsMemory(own.Dir) != (u.Peak.Prov.How == probe.Exact) {
		t.Errorf("got %+v, want it exact with the memory controller only", u.Peak)
	}
}

// TestCellRefused: where no group can be made the command runs all the same,
// and the reason is told.
func TestCellRefused(t *testing.T) {
	chosen := helper(t.Context(), "nothing")
	chosen.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: -1}
	for _, tt := range []struct {
		name, why string
		opts      Options
		cmd       *exec.Cmd
	}{
		{"no such folder", "no such file", Options{CommandGroup: "/no/such/group"}, helper(t.Context(), "nothing")},
		{"no cgroup", "start a process", Options{CommandGroup: t.TempDir()}, helper(t.Context(), "nothing")},
		{"the caller's own", errChosen.Error(), Options{}, chosen},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := New(tt.opts)
			_, err := p.nest.open(p.opts, tt.cmd)
			if err == nil || !strings.Contains(err.Error(), tt.why) {
				t.Errorf("got %v, want %s", err, tt.why)
			}
			if tt.cmd == chosen {
				return
			}
			u, err := p.RunCommand("", tt.cmd)
			if err != nil || !strings.Contains(u.Peak.Reason, tt.why) {
				t.Errorf("got %+v, %v, want reason %s", u, err, tt.why)
			}
			if tt.opts.CommandGroup != "/no/such/group" && len(entries(t, tt.opts.CommandGroup)) > 0 {
				t.Error("something is left in the folder")
			}
		})
	}
}

// TestParent2: cells are made below the process's own group; beside it only if
// the group above was delegated and has the controller.
func TestParent2(t *testing.T) {
	for _, tt := range []struct {
		name       string
		own, above string // subtree_control
		delegate   string
		want       string
	}{
		{"nothing", "", "", "", "svc/leaf"},
		{"own", "cpu memory", "memory", "1", "svc/leaf"},
		{"above, somebody's", "", "memory pids", "", "svc/leaf"},
		{"above, delegated", "", "memory pids", "1", "svc"},
		{"above, delegated without the controller", "", "cpu", "1", "svc/leaf"},
		{"above, delegation taken back", "", "memory", "0", "svc/leaf"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			mount := t.TempDir()
			svc := filepath.Join(mount, "svc")
			own := proc.Group{Version: 2, Mount: mount, Dir: filepath.Join(svc, "leaf")}
			if err := os.MkdirAll(own.Dir, 0o755); err != nil {
				t.Fatal(err)
			}
			rewrite(t, svc, "cgroup.subtree_control", tt.above+"\n")
			rewrite(t, own.Dir, "cgroup.subtree_control", tt.own+"\n")
			if os.Geteuid() != 0 && tt.delegate != "1" {
				t.Skip("the folder's owner is no sign of delegation only for root")
			}
			if tt.delegate != "" {
				if err := syscall.Setxattr(svc, "user.delegate", []byte(tt.delegate), 0); err != nil {
					t.Skipf("needs extended attributes: %v", err)
				}
			}
			if got := parent2(own); got != filepath.Join(mount, tt.want) {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}
