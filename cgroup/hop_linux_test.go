package cgroup

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// init is where a program is on its main thread: there the helper "main" enters a
// cell, and says on which thread it did.
func init() {
	if os.Getenv(helperVar) != "main" {
		return
	}
	onMain := func() bool { return syscall.Gettid() == os.Getpid() }
	p := New(Options{})
	c, outside := p.nest.open(p.opts, new(exec.Cmd))
	if outside != nil {
		fmt.Println(outside)
		os.Exit(1)
	}
	began, entered := onMain(), true
	outside, err := c.start(func() error {
		entered = onMain()
		return nil
	})
	fmt.Println(began, entered, outside, err, c.remove(nil))
	os.Exit(0)
}

// TestCellMainThread: a command can be started from the main thread, which may
// not leave the process's group.
func TestCellMainThread(t *testing.T) {
	if p := celled(t); version2(p) {
		t.Skip("needs version 1")
	}
	got, err := helper(t.Context(), "main").CombinedOutput()
	if want := "true false <nil> <nil> <nil>\n"; string(got) != want || err != nil {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

// version2 tells whether a probe's commands have groups of version 2.
func version2(p *Probe) bool {
	c, outside := p.nest.open(p.opts, new(exec.Cmd))
	if outside != nil {
		return false
	}
	defer c.remove(nil)
	c.close()
	return filepath.Base(c.peak.name) == peakFile2
}

// TestCellEnter: on version 1 the starting thread is in the groups for as long
// as it takes to start the command, and alone.
func TestCellEnter(t *testing.T) {
	p := celled(t)
	if version2(p) {
		t.Skip("needs version 1")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cell, outside := p.nest.open(p.opts, new(exec.Cmd))
	if outside != nil {
		t.Fatal(outside)
	}
	defer cell.remove(nil)
	where := func(of string) string {
		b, err := os.ReadFile("/proc/" + of + "/cgroup")
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	home, in := where("self"), filepath.Base(cell.dirs[0])
	outside, err := cell.start(func() error {
		if got := where("thread-self"); !strings.Contains(got, in) {
			t.Errorf("got %q for the starting thread, want it in %s", got, in)
		}
		if got := where("self"); got != home {
			t.Errorf("got %q for the process, want %q", got, home)
		}
		return nil
	})
	if outside != nil || err != nil {
		t.Errorf("got %v and %v", outside, err)
	}
	if got := where("thread-self"); got != home {
		t.Errorf("got %q for the thread that came back, want %q", got, home)
	}
}

// TestHopRefused: a thread that cannot enter a group starts the command where it
// is, and one that cannot come back is given up.
func TestHopRefused(t *testing.T) {
	file := func(closed bool) *os.File {
		f, err := os.Create(filepath.Join(t.TempDir(), "tasks"))
		if err != nil {
			t.Fatal(err)
		}
		if closed {
			f.Close()
		}
		return f
	}
	for _, tt := range []struct{ noIn, noBack bool }{{false, false}, {true, false}, {false, true}, {true, true}} {
		h := &hop{in: []*os.File{file(tt.noIn)}, back: []*os.File{file(tt.noBack)}}
		var tid, starts int
		var outside, err error
		boom := errors.New("no such program")
		done := make(chan struct{})
		go func() { // whose thread may end with it
			defer close(done)
			outside, err = h.start(func() error {
				tid, starts = syscall.Gettid(), starts+1
				return boom
			})
		}()
		<-done
		if err != boom || starts != 1 || (outside != nil) != tt.noIn {
			t.Errorf("%+v: got %v and %v from %d starts", tt, outside, err, starts)
		}
		for limit := time.Now().Add(time.Minute); tt.noBack && tid != os.Getpid(); time.Sleep(time.Millisecond) {
			if _, err := os.Stat("/proc/self/task/" + strconv.Itoa(tid)); err != nil {
				break
			}
			if time.Now().After(limit) {
				t.Fatalf("%+v: thread %d goes on outside its groups", tt, tid)
			}
		}
		h.close()
	}
}
