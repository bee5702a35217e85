package fsstat

import (
	"io"
	"syscall"
)

// seesKernel says that bytes which the kernel copies can be told from others.
const seesKernel = true

// countedConn is c with a Read that counts by how far the file's position
// moves: a sendfile from the file moves it by the bytes that were sent. The
// descriptor's read lock is held meanwhile, so that no Read of another
// goroutine is counted twice; a ReadAt does not move the position.
func countedConn(c syscall.RawConn, f *File) syscall.RawConn { return &rawConn{c, f} }

type rawConn struct {
	syscall.RawConn
	file *File
}

// Read implements [syscall.RawConn].
func (c *rawConn) Read(f func(fd uintptr) (done bool)) error {
	if !c.file.open().watched() {
		return c.RawConn.Read(f)
	}
	p := c.file.passNow(c.file.File)
	return c.RawConn.Read(func(fd uintptr) bool {
		before, err := syscall.Seek(int(fd), 0, io.SeekCurrent)
		if err != nil {
			return f(fd) // no position: a pipe, a terminal
		}
		read := c.file.begin(untimed) // it waits for whom it is sent to
		done := f(fd)
		read.end()
		if after, err := syscall.Seek(int(fd), 0, io.SeekCurrent); err == nil && after > before {
			read.copied(in, after-before, true, nil)
			c.file.went(read.tally, p, after-before)
		}
		return done
	})
}
