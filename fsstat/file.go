package fsstat

import (
	"io/fs"
	"os"
	"syscall"
)

// A File is an *os.File whose operations are counted, in the role of whoever
// opened it. It has all methods of *os.File. Where a function wants an *os.File
// itself, such as the Stdin of an exec.Cmd, give it the embedded one; what is
// done through that is not counted.
//
// As with package os, a failed open gives a nil File, whose methods declared
// here return os.ErrInvalid.
type File struct {
	*os.File
	tally   tally
	appends bool // opened with O_APPEND
}

// bare is the file of package os, nil for a nil File.
func (f *File) bare() *os.File {
	if f == nil {
		return nil
	}
	return f.File
}

// counts is the tally, that of a nil File counting nothing.
func (f *File) counts() tally {
	if f == nil {
		return tally{}
	}
	return f.tally
}

// Read is that of *os.File.
func (f *File) Read(b []byte) (n int, err error) {
	n, err = f.bare().Read(b)
	f.counts().moved(in, int64(n), err)
	return n, err
}

// ReadAt is that of *os.File.
func (f *File) ReadAt(b []byte, off int64) (n int, err error) {
	n, err = f.bare().ReadAt(b, off)
	f.counts().moved(in, int64(n), err)
	return n, err
}

// Write is that of *os.File.
func (f *File) Write(b []byte) (n int, err error) {
	n, err = f.bare().Write(b)
	f.counts().moved(out, int64(n), err)
	return n, err
}

// WriteString is that of *os.File.
func (f *File) WriteString(s string) (n int, err error) {
	n, err = f.bare().WriteString(s)
	f.counts().moved(out, int64(n), err)
	return n, err
}

// WriteAt is that of *os.File.
func (f *File) WriteAt(b []byte, off int64) (n int, err error) {
	n, err = f.bare().WriteAt(b, off)
	f.counts().moved(out, int64(n), err)
	return n, err
}

// Stat is that of *os.File.
func (f *File) Stat() (fs.FileInfo, error) {
	info, err := f.bare().Stat()
	f.counts().count(opStat, err)
	return info, err
}

// ReadDir is that of *os.File.
func (f *File) ReadDir(n int) ([]fs.DirEntry, error) {
	entries, err := f.bare().ReadDir(n)
	f.counts().count(opReadDir, err)
	return entries, err
}

// Readdir is that of *os.File.
func (f *File) Readdir(n int) ([]fs.FileInfo, error) {
	infos, err := f.bare().Readdir(n)
	f.counts().count(opReadDir, err)
	return infos, err
}

// Readdirnames is that of *os.File.
func (f *File) Readdirnames(n int) ([]string, error) {
	names, err := f.bare().Readdirnames(n)
	f.counts().count(opReadDir, err)
	return names, err
}

// Seek is that of *os.File. It is not counted.
func (f *File) Seek(offset int64, whence int) (int64, error) { return f.bare().Seek(offset, whence) }

// Close is that of *os.File. It is not counted, but its error is.
func (f *File) Close() error {
	err := f.bare().Close()
	if t := f.counts(); err != nil && t.series != nil {
		t.series.fail(err)
	}
	return err
}

// SyscallConn is that of *os.File. On Linux, bytes by which a function under
// the connection's Read moves the file's position are counted as read and as
// copied by the kernel: that is how package net sends a file.
func (f *File) SyscallConn() (syscall.RawConn, error) {
	c, err := f.bare().SyscallConn()
	if err != nil || f.tally.series == nil {
		return c, err
	}
	return countedConn(c, f.tally), nil
}
