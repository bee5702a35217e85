package fsstat

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
)

// A dirWatch has the kernel tell of opens in folders, by inotify.
type dirWatch struct {
	spent func(n int) // bytes that were read for it

	file   atomic.Pointer[os.File] // nil while nothing is watched
	reader sync.WaitGroup
	buf    [16 << 10]byte // for drain
}

// A dirEvent is what the kernel tells: the open of a file in a folder, the end of
// that folder's watch, or the loss of events.
type dirEvent struct {
	watch       int32
	name        string
	ended, lost bool
}

// openEvents are what is asked for. Closes are no news, but keep the kernel from
// taking two opens of one file, one after the other, for one.
const openEvents = syscall.IN_OPEN | syscall.IN_CLOSE | syscall.IN_ONLYDIR

// open begins to watch, with no folder yet.
func (w *dirWatch) open() error {
	fd, err := syscall.InotifyInit1(syscall.IN_CLOEXEC | syscall.IN_NONBLOCK)
	if err != nil {
		return fmt.Errorf("inotify: %w", err)
	}
	w.file.Store(os.NewFile(uintptr(fd), "inotify"))
	return nil
}

// control calls f with the descriptor.
func (w *dirWatch) control(f func(fd int)) error {
	file := w.file.Load()
	if file == nil {
		return fs.ErrClosed
	}
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Control(func(fd uintptr) { f(int(fd)) })
}

// add is the kernel's number for a folder that is watched from now on. One that is
// watched already has the same one.
func (w *dirWatch) add(dir string) (n int32, err error) {
	controlled := w.control(func(fd int) {
		var id int
		id, err = syscall.InotifyAddWatch(fd, dir, openEvents)
		n = int32(id)
	})
	if err = errors.Join(controlled, err); err != nil {
		return 0, fmt.Errorf("inotify: %w", err)
	}
	return n, nil
}

// remove ends the watch of a folder, if there is one.
func (w *dirWatch) remove(n int32) {
	if n != 0 {
		_ = w.control(func(fd int) { _, _ = syscall.InotifyRmWatch(fd, uint32(n)) })
	}
}

// follow calls look whenever there is something told, so that the kernel's queue
// does not overflow.
func (w *dirWatch) follow(look func()) {
	raw, err := w.file.Load().SyscallConn()
	if err != nil {
		return
	}
	w.reader.Go(func() {
		_ = raw.Read(func(uintptr) bool {
			look()
			return false // wait for more, until the file is closed
		})
	})
}

// close ends all watches. What it returns waits for that.
func (w *dirWatch) close() (wait func()) {
	file := w.file.Swap(nil)
	return func() {
		if file != nil {
			_ = file.Close()
			w.reader.Wait()
		}
	}
}

// drain reads and tells until there is nothing more.
func (w *dirWatch) drain(tell func(dirEvent)) {
	_ = w.control(func(fd int) {
		for {
			n, err := syscall.Read(fd, w.buf[:])
			if err == syscall.EINTR {
				continue
			}
			if n <= 0 {
				return
			}
			w.spent(n)
			parseEvents(w.buf[:n], tell)
		}
	})
}

// parseEvents takes events apart. Those of folders, and closes, say nothing here.
func parseEvents(b []byte, tell func(dirEvent)) {
	for len(b) >= syscall.SizeofInotifyEvent {
		// struct inotify_event: watch, mask, cookie, length of the name.
		e := dirEvent{watch: int32(binary.NativeEndian.Uint32(b))}
		mask := binary.NativeEndian.Uint32(b[4:])
		end := min(syscall.SizeofInotifyEvent+int(binary.NativeEndian.Uint32(b[12:])), len(b))
		e.name = string(bytes.TrimRight(b[syscall.SizeofInotifyEvent:end], "\x00"))
		e.lost, e.ended = mask&syscall.IN_Q_OVERFLOW != 0, mask&syscall.IN_IGNORED != 0
		b = b[end:]
		if e.lost || e.ended || mask&syscall.IN_OPEN != 0 && mask&syscall.IN_ISDIR == 0 && e.name != "" {
			tell(e)
		}
	}
}

// realPath is where an open file is, by the kernel's word, or, without one at
// hand, where a name leads to.
func realPath(name string, file syscall.Conn) (string, error) {
	path := ""
	if file != nil {
		if raw, err := file.SyscallConn(); err == nil {
			_ = raw.Control(func(fd uintptr) { path, _ = os.Readlink("/proc/self/fd/" + strconv.Itoa(int(fd))) })
		}
	}
	if !filepath.IsAbs(path) { // a pipe, or no /proc
		return filepath.EvalSymlinks(name)
	}
	// What the kernel adds to the name of one that was removed may also be in a name.
	if bare, ok := strings.CutSuffix(path, " (deleted)"); ok {
		if err := syscall.Access(path, 0); err != nil {
			path = bare
		}
	}
	return path, nil
}

// A fileID tells a file from others.
type fileID struct{ dev, ino uint64 }

// idOf asks without a word to the log of package testing: it is not the program
// that looks.
func idOf(path string) (fileID, error) {
	var st syscall.Stat_t
	for {
		err := syscall.Stat(path, &st)
		switch err {
		case nil:
			return fileID{uint64(st.Dev), st.Ino}, nil
		case syscall.EINTR:
		default:
			return fileID{}, &fs.PathError{Op: "stat", Path: path, Err: err}
		}
	}
}
