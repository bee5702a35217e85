package fsstat

import (
	"io/fs"
	"os"
	"syscall"
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
	handle
	appends bool // opened with O_APPEND
}

// bare is the file of package os, nil for a nil File.
func (f *File) bare() *os.File {
	if f == nil {
		return nil
	}
	return f.File
}

// open is the handle, nil for a nil File.
func (f *File) open() *handle {
	if f == nil {
		return nil
	}
	return &f.handle
}

// Read is that of *os.File.
func (f *File) Read(b []byte) (n int, err error) {
	c, p := f.open().beginRead(f.bare())
	n, err = f.bare().Read(b)
	c.end()
	c.moved(in, int64(n), err)
	f.open().went(c.tally, p, int64(n))
	p.streamed(c.tally, int64(n))
	return n, err
}

// ReadAt is that of *os.File.
func (f *File) ReadAt(b []byte, off int64) (n int, err error) {
	c, p := f.open().beginRead(f.bare())
	n, err = f.bare().ReadAt(b, off)
	c.end()
	c.moved(in, int64(n), err)
	p.read(c.tally, off, int64(n))
	p.streamed(c.tally, int64(n))
	return n, err
}

// Write is that of *os.File.
func (f *File) Write(b []byte) (n int, err error) {
	c := f.open().beginWrite(f.bare())
	n, err = f.bare().Write(b)
	c.end()
	c.moved(out, int64(n), err)
	return n, err
}

// WriteString is that of *os.File.
func (f *File) WriteString(s string) (n int, err error) {
	c := f.open().beginWrite(f.bare())
	n, err = f.bare().WriteString(s)
	c.end()
	c.moved(out, int64(n), err)
	return n, err
}

// WriteAt is that of *os.File.
func (f *File) WriteAt(b []byte, off int64) (n int, err error) {
	c := f.open().beginWrite(f.bare())
	n, err = f.bare().WriteAt(b, off)
	c.end()
	c.moved(out, int64(n), err)
	return n, err
}

// Stat is that of *os.File.
func (f *File) Stat() (fs.FileInfo, error) {
	c := f.open().beginStat()
	info, err := f.bare().Stat()
	c.end()
	c.count(opStat, err)
	return info, err
}

// ReadDir is that of *os.File.
func (f *File) ReadDir(n int) ([]fs.DirEntry, error) {
	c := f.open().beginList()
	entries, err := f.bare().ReadDir(n)
	c.end()
	c.count(opReadDir, err)
	return entries, err
}

// Readdir is that of *os.File.
func (f *File) Readdir(n int) ([]fs.FileInfo, error) {
	c := f.open().beginList()
	infos, err := f.bare().Readdir(n)
	c.end()
	c.count(opReadDir, err)
	return infos, err
}

// Readdirnames is that of *os.File.
func (f *File) Readdirnames(n int) ([]string, error) {
	c := f.open().beginList()
	names, err := f.bare().Readdirnames(n)
	c.end()
	c.count(opReadDir, err)
	return names, err
}

// Seek is that of *os.File. It is not counted.
func (f *File) Seek(offset int64, whence int) (int64, error) {
	at, err := f.used().Seek(offset, whence)
	if err == nil {
		f.moved(at)
	}
	return at, err
}

// Close is that of *os.File. It is not counted, but its error is.
func (f *File) Close() error {
	c := f.open().close()
	err := f.bare().Close()
	c.end()
	c.failed(err)
	return err
}

// SyscallConn is that of *os.File. On Linux, bytes by which a function under
// the connection's Read moves the file's position are counted as read and as
// copied by the kernel: that is how package net sends a file.
func (f *File) SyscallConn() (syscall.RawConn, error) {
	c, err := f.used().SyscallConn()
	if err != nil || f.opener.probe == nil {
		return c, err
	}
	return countedConn(c, f), nil
}
