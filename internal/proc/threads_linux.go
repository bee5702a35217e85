package proc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// maxThreads bounds the descriptors that a Threads keeps. A Go process has few
// more threads than processors, unless many are blocked in system calls; of
// those beyond the limit only the number is known.
const maxThreads = 64

// Threads keeps the schedstat files of this process's threads open, and
// follows the threads as they come and go. It has one user at a time.
//
// Note: /proc/self/schedstat would be one file instead of many, but has the
// numbers of the main thread alone.
type Threads struct {
	dir    string
	task   handle
	open   []threadFile
	links  uint64 // of the folder when the threads were last listed: two more than threads
	exist  int
	waited time.Duration
	found  bool // the threads have been listed before
	over   bool // there were more than maxThreads then
	buf    []byte
	tids   []int // scratch
}

type threadFile struct {
	tid  int
	h    handle
	last time.Duration // waited at the last reading
}

// OpenThreads opens proc/self/task under root, which is "/" but for tests. The
// error matches fs.ErrNotExist where the kernel does not keep the counters
// (CONFIG_SCHED_INFO).
func OpenThreads(root string) (*Threads, error) {
	dir := filepath.Join(root, "proc/self/task")
	h, err := syscall.Open(dir, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, pathError("open", dir, err)
	}
	t := &Threads{dir: dir, task: h, buf: make([]byte, 8192)}
	if _, err := t.Read(); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// Read reads the counters of all threads. It costs about a microsecond a thread,
// and allocates only when threads have come.
func (t *Threads) Read() (Waits, error) {
	var st syscall.Stat_t
	if err := syscall.Fstat(t.task, &st); err != nil {
		return Waits{}, pathError("stat", t.dir, err)
	}
	ended := t.readOpen()
	if ended || uint64(st.Nlink) != t.links {
		if err := t.list(); err != nil {
			return Waits{}, err
		}
		t.links = uint64(st.Nlink)
	}
	return Waits{Waited: t.waited, Exist: t.exist, Read: len(t.open)}, nil
}

// readOpen adds what the known threads have waited since they were last read,
// and reports whether any has ended. What one of those had waited since then
// is lost: the kernel has dropped it.
func (t *Threads) readOpen() (ended bool) {
	t.open = slices.DeleteFunc(t.open, func(f threadFile) bool { return f.h < 0 })
	for i := range t.open {
		f := &t.open[i]
		if err := t.readOne(f, true); err != nil {
			_ = syscall.Close(f.h)
			f.h, ended = -1, true
		}
	}
	return ended
}

// readOne reads one thread's counter and, if it counts, adds what is new. The
// kernel's counter does not go down; should it seem to, nothing is added.
func (t *Threads) readOne(f *threadFile, counts bool) error {
	n, err := readHandle(f.h, t.buf)
	if err != nil {
		return err
	}
	bytesRead.Add(int64(n))
	s, err := ParseSchedstat(t.buf[:n])
	if err != nil {
		return err
	}
	if counts {
		t.waited += max(s.Waited-f.last, 0)
	}
	f.last = s.Waited
	return nil
}

// list finds the threads that exist and opens those that are new. What a new
// one has waited counts from its birth, unless it may have existed before.
func (t *Threads) list() error {
	t.open = slices.DeleteFunc(t.open, func(f threadFile) bool { return f.h < 0 })
	if err := t.findTIDs(); err != nil {
		return err
	}
	counts := t.found && !t.over
	for _, tid := range t.tids {
		if len(t.open) == maxThreads {
			break
		}
		if slices.ContainsFunc(t.open, func(f threadFile) bool { return f.tid == tid }) {
			continue
		}
		name := t.dir + "/" + strconv.Itoa(tid) + "/schedstat"
		h, err := openHandle(name, readOnly)
		if err == nil {
			f := threadFile{tid: tid, h: h}
			if err = t.readOne(&f, counts); err == nil {
				t.open = append(t.open, f)
				continue
			}
			_ = syscall.Close(h)
		}
		if !errors.Is(err, syscall.ENOENT) && !errors.Is(err, syscall.ESRCH) {
			return pathError("read", name, err)
		}
		// It has ended since it was listed.
	}
	if !t.found && len(t.open) == 0 {
		return fmt.Errorf("%s: %w", t.dir, syscall.ENOENT)
	}
	// One may have ended after its counter was read and before the list was made.
	t.exist, t.over, t.found = max(len(t.tids), len(t.open)), len(t.tids) > maxThreads, true
	return nil
}

// findTIDs lists the folder into tids without allocating, once the scratch is
// large enough. A directory entry is 8 bytes of inode, 8 of offset, 2 of
// length, 1 of type, and a name that ends with a zero.
func (t *Threads) findTIDs() error {
	t.tids = t.tids[:0]
	if _, err := syscall.Seek(t.task, 0, 0); err != nil {
		return pathError("seek", t.dir, err)
	}
	for {
		n, err := syscall.ReadDirent(t.task, t.buf)
		if err != nil {
			return pathError("list", t.dir, err)
		}
		if n == 0 {
			return nil
		}
		for b := t.buf[:n]; len(b) > 19; {
			size := int(binary.NativeEndian.Uint16(b[16:]))
			if size < 20 || size > len(b) {
				return fmt.Errorf("list %s: an entry of %d bytes", t.dir, size)
			}
			name := b[19:size]
			if i := slices.Index(name, 0); i >= 0 {
				name = name[:i]
			}
			if tid, ok := digits(name); ok {
				t.tids = append(t.tids, int(tid))
			}
			b = b[size:]
		}
	}
}

// Close closes all files. A nil Threads may be closed.
func (t *Threads) Close() {
	if t == nil {
		return
	}
	for _, f := range t.open {
		if f.h >= 0 {
			_ = syscall.Close(f.h)
		}
	}
	t.open = nil
	if t.task >= 0 {
		_ = syscall.Close(t.task)
		t.task = -1
	}
}
