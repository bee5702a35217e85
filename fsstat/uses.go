package fsstat

import (
	"io/fs"
	"os"
	"time"
)

// These are the methods of *os.File that neither read nor write nor look at the
// file. They pass on and are not counted; but a file that is opened for one of
// them is not opened in vain. And those of a nil File give os.ErrInvalid, as those
// of a nil *os.File do: the embedded one of a nil File would be a panic.

// used is the file of package os, for something that is not counted.
func (f *File) used() *os.File {
	if f != nil {
		f.use()
	}
	return f.bare()
}

// Chdir is that of *os.File. It is not counted.
func (f *File) Chdir() error { return f.used().Chdir() }

// Chmod is that of *os.File. It is not counted.
func (f *File) Chmod(mode fs.FileMode) error { return f.used().Chmod(mode) }

// Chown is that of *os.File. It is not counted.
func (f *File) Chown(uid, gid int) error { return f.used().Chown(uid, gid) }

// Fd is that of *os.File. What is done with the descriptor is not seen.
func (f *File) Fd() uintptr { return f.used().Fd() }

// SetDeadline is that of *os.File. It is not counted.
func (f *File) SetDeadline(t time.Time) error { return f.used().SetDeadline(t) }

// SetReadDeadline is that of *os.File. It is not counted.
func (f *File) SetReadDeadline(t time.Time) error { return f.used().SetReadDeadline(t) }

// SetWriteDeadline is that of *os.File. It is not counted.
func (f *File) SetWriteDeadline(t time.Time) error { return f.used().SetWriteDeadline(t) }

// Sync is that of *os.File. It is not counted.
func (f *File) Sync() error { return f.used().Sync() }

// Truncate is that of *os.File. It counts as a write of nothing.
func (f *File) Truncate(size int64) error {
	c := f.open().beginWrite(f.bare())
	err := f.bare().Truncate(size)
	c.end()
	c.moved(out, 0, err)
	return err
}

// Truncate is os.Truncate. It counts as a write of nothing.
func (v View) Truncate(name string, size int64) error {
	c := v.begin(callWrite)
	err := os.Truncate(name, size)
	c.end()
	c.on(name, err).moved(out, 0, err)
	return err
}
