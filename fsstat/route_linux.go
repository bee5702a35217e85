package fsstat

import (
	"fmt"
	"io"
	"os"
	"reflect"
	"sync"
	"syscall"

	"github.com/tidestaff/tidestaff/internal/proc"
)

// routeTo is the route by which the WriteTo of a file copies to what has a
// descriptor.
func routeTo(from *os.File, to syscall.Conn) route {
	if file, ok := to.(*os.File); ok {
		return between(from, file)
	}
	if _, ok := to.(interface{ Fd() uintptr }); ok {
		// Somebody's type around an *os.File. Package os reads, but for a
		// ReadFrom that may be the inner one's.
		if _, ok := to.(io.ReaderFrom); ok {
			return unknown
		}
		return byProgram
	}
	if !isStream(to) {
		return byProgram
	}
	src, ok := stateOf(from)
	switch {
	case !ok || !src.opened(syscall.O_RDONLY):
		return unknown // for package os to say what is wrong
	case src.isRegular() && src.at < src.Size:
		return byKernel // sendfile
	}
	return byProgram
}

// routeFrom is the route by which the ReadFrom of a file copies from what has a
// descriptor.
func routeFrom(from syscall.Conn, to *os.File) route {
	if _, ok := from.(*os.File); ok || reflect.TypeOf(from).PkgPath() == "os" {
		// Its own type, or what package os hands around instead of it.
		return between(from, to)
	}
	if _, ok := from.(interface{ Fd() uintptr }); ok {
		return byProgram // somebody's type around an *os.File
	}
	return unknown // a connection, from which package os may splice
}

// between is the route from a file to a file: copy_file_range, if the kernel
// does it. It does between regular files of one file system, for what the
// source says that it holds; the files of /proc say that they are empty. Between
// two file systems it depends on what those are.
func between(from, to syscall.Conn) route {
	src, okFrom := stateOf(from)
	dst, okTo := stateOf(to)
	switch {
	case !okFrom || !okTo || !src.opened(syscall.O_RDONLY) || !dst.opened(syscall.O_WRONLY) || src.isDir():
		return unknown // for package os to say what is wrong
	case !src.isRegular() || !dst.isRegular() || dst.flags&syscall.O_APPEND != 0:
		return byProgram
	case src.at >= src.Size || !copiesRanges():
		return byProgram
	case src.Dev == dst.Dev && src.Ino != dst.Ino:
		return byKernel
	}
	return unknown
}

// copiesRanges says whether package os uses copy_file_range at all: from Linux
// 5.3 on.
var copiesRanges = sync.OnceValue(func() bool {
	release, err := proc.KernelRelease("/")
	if err != nil {
		return true
	}
	var major, minor int
	_, err = fmt.Sscanf(release, "%d.%d", &major, &minor)
	return err != nil || major > 5 || major == 5 && minor >= 3
})

// A state is what the kernel says of an open file.
type state struct {
	syscall.Stat_t
	flags int   // of open
	at    int64 // the position, of a regular file
}

// stateOf asks the kernel; false if it cannot, for one of a closed file.
func stateOf(c syscall.Conn) (s state, ok bool) {
	raw, err := c.SyscallConn()
	if err != nil {
		return s, false
	}
	err = raw.Control(func(fd uintptr) {
		flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, fd, syscall.F_GETFL, 0)
		if s.flags = int(flags); errno != 0 || syscall.Fstat(int(fd), &s.Stat_t) != nil {
			return
		}
		ok = true
		if s.isRegular() {
			s.at, err = syscall.Seek(int(fd), 0, io.SeekCurrent)
			ok = err == nil
		}
	})
	return s, ok && err == nil
}

func (s *state) isRegular() bool { return s.Mode&syscall.S_IFMT == syscall.S_IFREG }
func (s *state) isDir() bool     { return s.Mode&syscall.S_IFMT == syscall.S_IFDIR }

// opened says whether the file was opened for the access, or for both.
func (s *state) opened(access int) bool {
	has := s.flags & syscall.O_ACCMODE
	return has == access || has == syscall.O_RDWR
}

// isStream recognises a connection of package net to which package os sends by
// sendfile, also within somebody's own type: TCP, or a Unix stream.
func isStream(c syscall.Conn) (is bool) {
	raw, err := c.SyscallConn()
	if err != nil || reflect.TypeOf(raw).String() != "*net.rawConn" {
		return false
	}
	err = raw.Control(func(fd uintptr) {
		kind, err := syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_TYPE)
		is = err == nil && kind == syscall.SOCK_STREAM
	})
	return is && err == nil
}
