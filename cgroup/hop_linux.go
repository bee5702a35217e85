package cgroup

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
)

// A hop starts a process in version 1 groups. Version 1 has no clone into a
// group, but a thread may be in another one than its process, and what it forks
// begins where it is. So the thread that starts the command enters the groups,
// forks, and comes back.
//
// That misses nothing and charges nothing of ours: until it executes its
// program, the child shares our memory, which is charged to the group of the
// process's leader; from then on it has its own, charged to its group. It costs
// two writes of 30 to 200 µs for each hierarchy.
//
// Note: moving the child after its start is the usual way. What it has
// allocated by then stays charged to the group that it came from. Stopping it at
// its exec by ptrace would help and would take the rights of set-uid programs
// away.
type hop struct{ in, back []*os.File } // task files, of the cells and of our own groups

// below makes a group below dir, and opens what start needs.
func (h *hop) below(dir string) (string, error) {
	back, err := openTasks(dir)
	if err != nil {
		return "", err
	}
	name, err := os.MkdirTemp(dir, "tidestaff-")
	if err != nil {
		_ = back.Close()
		return "", err
	}
	in, err := openTasks(name)
	if err != nil {
		_ = back.Close()
		_ = rmdir(name)
		return "", err
	}
	h.in, h.back = append(h.in, in), append(h.back, back)
	return name, nil
}

func openTasks(dir string) (*os.File, error) {
	return os.OpenFile(filepath.Join(dir, "tasks"), os.O_WRONLY, 0)
}

func (h *hop) close() {
	for i := range h.in {
		_, _ = h.in[i].Close(), h.back[i].Close()
	}
}

// start runs start on a thread that is in the groups meanwhile, or outside if
// the thread cannot go there. It is the caller's own thread, which may have been
// prepared for what it starts (its namespaces, say). Only the main thread may not
// leave, since the memory of the whole process is charged to where it is:
// another one takes its place.
func (h *hop) start(start func() error) (outside, err error) {
	runtime.LockOSThread()
	if syscall.Gettid() != os.Getpid() {
		return h.visit(start)
	}
	defer runtime.UnlockOSThread()
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		outside, err = h.visit(start)
	}()
	<-done
	return outside, err
}

// visit enters the groups, starts and comes back. If the way back is closed,
// the thread stays locked, so that it ends with its goroutine and no other one
// ever runs in the wrong group.
func (h *hop) visit(start func() error) (outside, err error) {
	tid := strconv.Itoa(syscall.Gettid())
	if outside = atHome(tid); outside != nil {
		runtime.UnlockOSThread()
		return outside, start()
	}
	if outside = move(h.in, tid); outside == nil {
		err = start()
	}
	if move(h.back, tid) == nil {
		runtime.UnlockOSThread()
	}
	if outside != nil {
		err = start()
	}
	return outside, err
}

var errAway = errors.New("the starting thread is in other groups than its process")

// atHome tells whether a thread is where it would be brought back to: in its
// process's groups.
func atHome(tid string) error {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return err
	}
	is, err := os.ReadFile("/proc/self/task/" + tid + "/cgroup")
	if err == nil && !bytes.Equal(own, is) {
		err = errAway
	}
	return err
}

// move writes a thread into task files, into all even if one refuses.
func move(to []*os.File, tid string) error {
	var errs []error
	for _, f := range to {
		_, err := f.WriteString(tid)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
