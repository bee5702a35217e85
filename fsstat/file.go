package fsstat

import (
	"io/fs"
	"os"
	"sync/atomic"
	"syscall"

	"github.com/tidestaff/tidestaff/probe"
)

// A File is an *os.File whose operations are counted while the probe is
// watched, in the role of whoever opened it or, if nobody watched then, of
// whoever first uses it while somebody does. It has all methods of *os.File.
// Where a function wants an *os.File itself, such as the Stdin of an exec.Cmd,
// give it the embedded one; what is done through that is not counted.
//
// As with package os, a failed open gives a nil File, whose methods declared
// here return os.ErrInvalid.
type File struct {
	*os.File
	opener  View                        // what it was opened through
	label   atomic.Pointer[probe.Label] // nil until an operation is watched
	appends bool                        // opened with O_APPEND
}

// bare is the file of package os, nil for a nil File.
func (f *File) bare() *os.File {
	if f == nil {
		return nil
	}
	return f.File
}

// watched says whether an operation that begins now is counted.
func (f *File) watched() bool { return f != nil && f.opener.watched() }

// begin begins an operation. Who does it is found out once, for the windows
// that are opened later as well.
func (f *File) begin() call {
	if !f.watched() {
		return call{}
	}
	l := f.label.Load()
	if l == nil {
		f.label.CompareAndSwap(nil, f.opener.who())
		l = f.label.Load()
	}
	return f.opener.probe.begin(l, f.opener.op)
}

// Read is that of *os.File.
func (f *File) Read(b []byte) (n int, err error) {
	c := f.begin()
	n, err = f.bare().Read(b)
	c.end()
	c.moved(in, int64(n), err)
	return n, err
}

// ReadAt is that of *os.File.
func (f *File) ReadAt(b []byte, off int64) (n int, err error) {
	c := f.begin()
	n, err = f.bare().ReadAt(b, off)
	c.end()
	c.moved(in, int64(n), err)
	return n, err
}

// Write is that of *os.File.
func (f *File) Write(b []byte) (n int, err error) {
	c := f.begin()
	n, err = f.bare().Write(b)
	c.end()
	c.moved(out, int64(n), err)
	return n, err
}

// WriteString is that of *os.File.
func (f *File) WriteString(s string) (n int, err error) {
	c := f.begin()
	n, err = f.bare().WriteString(s)
	c.end()
	c.moved(out, int64(n), err)
	return n, err
}

// WriteAt is that of *os.File.
func (f *File) WriteAt(b []byte, off int64) (n int, err error) {
	c := f.begin()
	n, err = f.bare().WriteAt(b, off)
	c.end()
	c.moved(out, int64(n), err)
	return n, err
}

// Stat is that of *os.File.
func (f *File) Stat() (fs.FileInfo, error) {
	c := f.begin()
	info, err := f.bare().Stat()
	c.end()
	c.count(opStat, err)
	return info, err
}

// ReadDir is that of *os.File.
func (f *File) ReadDir(n int) ([]fs.DirEntry, error) {
	c := f.begin()
	entries, err := f.bare().ReadDir(n)
	c.end()
	c.count(opReadDir, err)
	return entries, err
}

// Readdir is that of *os.File.
func (f *File) Readdir(n int) ([]fs.FileInfo, error) {
	c := f.begin()
	infos, err := f.bare().Readdir(n)
	c.end()
	c.count(opReadDir, err)
	return infos, err
}

// Readdirnames is that of *os.File.
func (f *File) Readdirnames(n int) ([]string, error) {
	c := f.begin()
	names, err := f.bare().Readdirnames(n)
	c.end()
	c.count(opReadDir, err)
	return names, err
}

// Seek is that of *os.File. It is not counted.
func (f *File) Seek(offset int64, whence int) (int64, error) { return f.bare().Seek(offset, whence) }

// Close is that of *os.File. It is not counted, but its error is.
func (f *File) Close() error {
	c := f.begin()
	err := f.bare().Close()
	c.end()
	c.failed(err)
	return err
}

// SyscallConn is that of *os.File. On Linux, bytes by which a function under
// the connection's Read moves the file's position are counted as read and as
// copied by the kernel: that is how package net sends a file.
func (f *File) SyscallConn() (syscall.RawConn, error) {
	c, err := f.bare().SyscallConn()
	if err != nil || f.opener.probe == nil {
		return c, err
	}
	return countedConn(c, f), nil
}
