package fsstat

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// A dirWatch has the kernel tell of opens in folders, by inotify.
type dirWatch struct {
	spent func(n int) // bytes that were read for it

	mu      sync.Mutex
	file    *os.File
	dirs    map[int32]string
	tell    func(path string)
	touched map[string]bool // told of since they were last looked at
	buf     [16 << 10]byte

	reader sync.WaitGroup
}

// openEvents are what is asked for. Closes are no news, but keep the kernel from
// taking two opens of one file, one after the other, for one.
const openEvents = syscall.IN_OPEN | syscall.IN_CLOSE | syscall.IN_ONLYDIR

// open begins to watch, with no folder yet. tell is called for each open, under
// the lock.
func (w *dirWatch) open(tell func(path string)) error {
	fd, err := syscall.InotifyInit1(syscall.IN_CLOEXEC | syscall.IN_NONBLOCK)
	if err != nil {
		return fmt.Errorf("inotify: %w", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.file, w.tell = os.NewFile(uintptr(fd), "inotify"), tell
	w.dirs, w.touched = map[int32]string{}, map[string]bool{}
	return nil
}

func (w *dirWatch) add(dir string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	raw, err := w.file.SyscallConn()
	if err != nil {
		return err
	}
	var id int
	controlErr := raw.Control(func(fd uintptr) { id, err = syscall.InotifyAddWatch(int(fd), dir, openEvents) })
	if err == nil {
		err = controlErr
	}
	if err != nil {
		return fmt.Errorf("inotify: watch %q: %w", dir, err)
	}
	w.dirs[int32(id)] = dir
	return nil
}

// follow reads what the kernel tells, as it comes, so that its queue does not
// overflow.
func (w *dirWatch) follow() {
	raw, err := w.file.SyscallConn()
	if err != nil {
		return
	}
	w.reader.Go(func() {
		_ = raw.Read(func(fd uintptr) bool {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.read(int(fd))
			return false // wait for more, until the file is closed
		})
	})
}

func (w *dirWatch) close() {
	w.mu.Lock()
	f := w.file
	w.file = nil // for a look at the same time
	w.mu.Unlock()
	if f != nil {
		_ = f.Close()
		w.reader.Wait()
	}
}

// drain reads what there is, and then calls look with the paths of which
// something was told.
func (w *dirWatch) drain(look func(touched map[string]bool)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == nil {
		return
	}
	if raw, err := w.file.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { w.read(int(fd)) })
	}
	look(w.touched)
}

// read reads and tells until there is nothing more.
func (w *dirWatch) read(fd int) {
	for {
		n, err := syscall.Read(fd, w.buf[:])
		if err == syscall.EINTR {
			continue
		}
		if n <= 0 {
			return
		}
		w.spent(n)
		w.parse(w.buf[:n])
	}
}

// parse takes events apart. Those of folders, and closes, say nothing here.
func (w *dirWatch) parse(b []byte) {
	for len(b) >= syscall.SizeofInotifyEvent {
		// struct inotify_event: watch, mask, cookie, length of the name.
		id, mask := int32(binary.NativeEndian.Uint32(b)), binary.NativeEndian.Uint32(b[4:])
		end := min(syscall.SizeofInotifyEvent+int(binary.NativeEndian.Uint32(b[12:])), len(b))
		name := string(bytes.TrimRight(b[syscall.SizeofInotifyEvent:end], "\x00"))
		b = b[end:]
		switch {
		case mask&syscall.IN_Q_OVERFLOW != 0:
			w.tell("")
		case mask&syscall.IN_OPEN != 0 && mask&syscall.IN_ISDIR == 0 && name != "":
			w.tell(filepath.Join(w.dirs[id], name))
		}
	}
}
