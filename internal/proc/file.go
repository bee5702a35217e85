package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync/atomic"
)

// ErrDetached is matched by errors.Is when a kept file belongs to a cgroup
// that has been removed (the kernel answers ENODEV), or when the process's own
// cgroup is listed as deleted. Rereading will not help.
var ErrDetached = errors.New("cgroup was removed")

// ErrEnded is matched by errors.Is when a kept file belongs to a process that has
// ended (the kernel answers ESRCH, and goes on doing so when its number belongs to
// another process).
var ErrEnded = errors.New("the process has ended")

// maxFile bounds how far a buffer grows for one file. The largest file that is
// reread, /proc/stat of a machine with thousands of CPUs and interrupts, stays
// far below it.
const maxFile = 16 << 20

// File is a kept descriptor of a file in /proc or in a cgroup file system.
//
// The kernel renders such a file anew for each read from offset 0. Keeping the
// descriptor saves the path walk of every sample, which costs ten times the
// rendering of a small file, and keeps working after the process has changed
// its root folder or user.
//
// The zero File is closed. A File must not be used from two goroutines at
// once; in particular Close must not race Read, because the descriptor's
// number may be somebody else's by then.
type File struct {
	path string
	mode access
	h    handle
	open bool
	buf  []byte
}

// bytesRead is what this package has read; see BytesRead.
var bytesRead atomic.Int64

// BytesRead is how many bytes the library has read at its looks, through this
// package. They are in the process's own counters of IO, though nobody but the
// person who measures has asked for them.
func BytesRead() int64 { return bytesRead.Load() }

// ReadFile is os.ReadFile for what is read at each look and cannot be kept open.
func ReadFile(path string) ([]byte, error) {
	b, err := os.ReadFile(path)
	bytesRead.Add(int64(len(b)))
	return b, err
}

// Open opens the file at path for reading. The descriptor is not inherited by
// programs that the process executes. The error is an [fs.PathError].
func Open(path string) (*File, error) { return open(path, readOnly) }

// OpenReadWrite opens the file at path for reading and writing. It is needed
// where a value is reset through the descriptor that reads it, as memory.peak
// is since Linux 6.12. A cgroup file system mounted read-only answers EROFS,
// and one that belongs to another user EACCES (which matches
// fs.ErrPermission).
func OpenReadWrite(path string) (*File, error) { return open(path, readWrite) }

// OpenWrite opens the file at path for writing only, as clear_refs must be: its
// owner may write but not read it.
func OpenWrite(path string) (*File, error) { return open(path, writeOnly) }

// access is how a file is opened.
type access uint8

const (
	readOnly access = iota
	readWrite
	writeOnly
)

func open(path string, a access) (*File, error) {
	h, err := openHandle(path, a)
	if err != nil {
		return nil, pathError("open", path, err)
	}
	return &File{path: path, mode: a, h: h, open: true}, nil
}

// Read returns the file's current content, read from offset 0. The bytes are
// valid until the next Read. It allocates only when the content has outgrown
// every earlier one.
//
// The error is an [fs.PathError]: fs.ErrPermission when the kernel checks at
// each read, errors.ErrUnsupported for a pressure file of a kernel that has
// pressure accounting switched off (EOPNOTSUPP), ErrDetached for a removed
// cgroup.
//
// Note: one read is asked for, not reads up to the end of the file. Each file
// that is worth keeping is a single record, which the kernel delivers whole
// if the buffer holds it, and two reads would see two instants. Files of many
// records (mountinfo, cpuinfo) are not for File.
func (f *File) Read() ([]byte, error) {
	if !f.open {
		return nil, &fs.PathError{Op: "read", Path: f.path, Err: fs.ErrClosed}
	}
	if f.buf == nil {
		f.buf = make([]byte, 1024)
	}
	for {
		n, err := readHandle(f.h, f.buf)
		if err != nil {
			return nil, pathError("read", f.path, err)
		}
		bytesRead.Add(int64(n))
		if n < len(f.buf) {
			return f.buf[:n], nil
		}
		if len(f.buf) >= maxFile {
			return nil, &fs.PathError{Op: "read", Path: f.path, Err: errTooLarge}
		}
		f.buf = make([]byte, 2*len(f.buf))
	}
}

var errTooLarge = fmt.Errorf("more than %d bytes", maxFile)

// Write writes p at offset 0 of a file that was opened with [OpenReadWrite] or
// [OpenWrite].
// The kernel takes each write as one command, so p is never empty: an empty
// write succeeds and does nothing.
func (f *File) Write(p []byte) error {
	if !f.open {
		return &fs.PathError{Op: "write", Path: f.path, Err: fs.ErrClosed}
	}
	if len(p) == 0 {
		return &fs.PathError{Op: "write", Path: f.path, Err: errEmptyWrite}
	}
	if err := writeHandle(f.h, p); err != nil {
		return pathError("write", f.path, err)
	}
	return nil
}

var errEmptyWrite = errors.New("empty write has no effect")

// Close closes the descriptor. Further calls do nothing. A nil File may be
// closed, so that an owner of optional files needs no test for each.
func (f *File) Close() error {
	if f == nil || !f.open {
		return nil
	}
	f.open = false
	f.buf = nil
	if err := closeHandle(f.h); err != nil {
		return pathError("close", f.path, err)
	}
	return nil
}

// Reopen opens the path anew, for an owner whose last Read failed. A descriptor
// of a controller's file is dead for good once the controller was switched off
// for the group, and switching it on again makes a new file in its place. If
// that fails, the File is as it was.
func (f *File) Reopen() error {
	h, err := openHandle(f.path, f.mode)
	if err != nil {
		return pathError("open", f.path, err)
	}
	if f.open {
		_ = closeHandle(f.h)
	}
	f.h, f.open = h, true
	return nil
}

// About says that an error is about the file's text.
func (f *File) About(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", f.path, err)
}

// pathError says which file an error is about, and makes the error number of
// a removed cgroup, and of a process that has ended,
// recognisable by its meaning.
func pathError(op, path string, err error) error {
	switch {
	case isNoDevice(err):
		err = fmt.Errorf("%w (%w)", ErrDetached, err)
	case isNoProcess(err):
		err = fmt.Errorf("%w (%w)", ErrEnded, err)
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}
