package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/tidestaff/tidestaff/internal/proc"
)

// A wake calls a function, in a goroutine of its own, when the kernel says that
// something has happened to the memory of a group.
type wake struct {
	method string
	fd     *os.File
	quit   chan struct{}
	done   sync.WaitGroup
}

// newWake asks to be notified: on version 2 by inotify, since each change of
// memory.events counts as a modification of the file, at most one in 10 ms; on
// version 1, unless the folder is not to be written to, by an eventfd that is
// registered with the group. It is nil where neither is to be had.
//
// A goroutine that waits for the kernel stops the fake clock of testing/synctest
// for good, so there is no notification under that clock, which begins in 2000.
func newWake(g proc.Group, write bool, f func(method string)) *wake {
	if time.Now().Year() < firstYear {
		return nil
	}
	var (
		fd     int
		err    error
		method string
	)
	switch {
	case g.Version == 2:
		method = "inotify"
		fd, err = watchFile(filepath.Join(g.Dir, "memory.events"))
	case write:
		method = "eventfd"
		fd, err = registerOOM(g.Dir)
	default:
		return nil
	}
	if err != nil {
		return nil
	}
	w := &wake{method: method, fd: os.NewFile(uintptr(fd), method), quit: make(chan struct{})}
	w.done.Go(func() { w.loop(f) })
	return w
}

// firstYear is one in which this package did not exist.
const firstYear = 2020

// watchFile makes an inotify descriptor for one file.
func watchFile(name string) (int, error) {
	fd, err := syscall.InotifyInit1(syscall.IN_CLOEXEC | syscall.IN_NONBLOCK)
	if err != nil {
		return -1, err
	}
	if _, err := syscall.InotifyAddWatch(fd, name, syscall.IN_MODIFY); err != nil {
		_ = syscall.Close(fd)
		return -1, err
	}
	return fd, nil
}

// registerOOM makes an eventfd that is signalled when the group's memory has run
// out. The kernel keeps it registered for as long as it is open.
func registerOOM(dir string) (int, error) {
	control, err := os.Open(filepath.Join(dir, "memory.oom_control"))
	if err != nil {
		return -1, err
	}
	defer control.Close()
	fd, _, e := syscall.Syscall(syscall.SYS_EVENTFD2, 0, syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
	if e != 0 {
		return -1, e
	}
	// Not os.WriteFile: it would try to create and to truncate.
	register, err := os.OpenFile(filepath.Join(dir, "cgroup.event_control"), os.O_WRONLY, 0)
	if err == nil {
		_, err = fmt.Fprintf(register, "%d %d", fd, control.Fd())
		_ = register.Close()
	}
	if err != nil {
		_ = syscall.Close(int(fd))
		return -1, err
	}
	return int(fd), nil
}

// again are the times after a notification at which to look once more: version 1
// notifies when memory has run out, and counts a kill when it has been done. later
// are more of them, on a machine so busy that it takes so long; another notification
// comes before those.
var (
	again = [...]time.Duration{time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond}
	later = [...]time.Duration{time.Second, 10 * time.Second}
)

// loop waits in the network poller, so that no thread is held, until stop
// closes the descriptor.
func (w *wake) loop(f func(method string)) {
	var b [4096]byte     // what it says is of no interest
	looked := len(later) // how many of those are behind
	for {
		var deadline time.Time // none
		if looked < len(later) {
			deadline = time.Now().Add(later[looked])
		}
		_ = w.fd.SetReadDeadline(deadline) // the read tells of one that is closed
		_, err := w.fd.Read(b[:])
		switch {
		case err == nil:
			f(w.method)
			if !w.again(f) {
				return
			}
			looked = 0
		case errors.Is(err, os.ErrDeadlineExceeded):
			f(w.method)
			looked++
		default:
			return
		}
	}
}

// again looks after each of those times; false if there is no more to look for.
func (w *wake) again(f func(method string)) bool {
	for _, d := range again {
		select {
		case <-w.quit:
			return false
		case <-time.After(d):
			f(w.method)
		}
	}
	return true
}

// stop ends the notification and waits for its goroutine. A nil wake may be
// stopped.
func (w *wake) stop() {
	if w == nil {
		return
	}
	close(w.quit)
	_ = w.fd.Close()
	w.done.Wait()
}
