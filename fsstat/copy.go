package fsstat

import (
	"io"
	"io/fs"
	"syscall"
)

// A source is a File for io.Copy to read from and a sink one to write to, with
// what the other side may look for, but without WriteTo and ReadFrom: by those
// io.Copy would hand the copy back.
type (
	source struct{ readable }
	sink   struct{ writable }

	readable interface {
		fs.File
		io.ReaderAt
		io.Seeker
		syscall.Conn
	}
	writable interface {
		io.WriteCloser
		io.StringWriter
		io.WriterAt
		io.Seeker
	}
)

// WriteTo is that of *os.File, which io.Copy calls.
func (f *File) WriteTo(w io.Writer) (n int64, err error) {
	if to, ok := w.(*File); ok && to != nil && f != nil {
		return f.copyTo(to)
	}
	if f.counts().series == nil {
		return f.bare().WriteTo(w)
	}
	// Package os tries the kernel for whatever has a descriptor. Anything else
	// takes the reads that it would take from *os.File or, like an
	// http.ResponseWriter, passes the source on to a connection, which then
	// finds SyscallConn.
	if _, ok := w.(syscall.Conn); !ok {
		return io.Copy(w, source{f})
	}
	n, err = f.File.WriteTo(w)
	f.tally.copied(in, n, hasPosition(f), err)
	return n, err
}

// copyTo copies to a File, and counts on both sides.
func (f *File) copyTo(to *File) (n int64, err error) {
	if to.appends {
		return io.Copy(sink{to}, source{f})
	}
	n, err = f.File.WriteTo(to.File)
	kernel := hasPosition(f)
	f.tally.copied(in, n, kernel, err)
	to.tally.copied(out, n, kernel, nil)
	return n, err
}

// ReadFrom is that of *os.File, which io.Copy calls if the source has no
// WriteTo of its own, and io.CopyN always.
func (f *File) ReadFrom(r io.Reader) (n int64, err error) {
	limited, _ := r.(*io.LimitedReader)
	from := r
	if limited != nil {
		from = limited.R
	}
	_, descriptor := from.(syscall.Conn)
	switch ours, _ := from.(*File); {
	case f == nil:
		return f.bare().ReadFrom(r)
	case f.appends || !descriptor:
		// Nothing that package os would try the kernel for.
		return io.Copy(sink{f}, r)
	case ours == nil:
		n, err = f.File.ReadFrom(r)
	case limited == nil:
		n, err = f.File.ReadFrom(ours.File)
		ours.tally.copied(in, n, hasPosition(from), nil)
	default:
		// Package os recognises its own type only.
		bare := &io.LimitedReader{R: ours.File, N: limited.N}
		n, err = f.File.ReadFrom(bare)
		limited.N = bare.N
		ours.tally.copied(in, n, hasPosition(from), nil)
	}
	f.tally.copied(out, n, hasPosition(from), err)
	return n, err
}

// hasPosition tells a file, from which the kernel copies, from a pipe, a
// terminal or a connection. It sees through what package os hands around
// instead of an *os.File.
func hasPosition(r any) bool {
	if !seesKernel {
		return false
	}
	s, ok := r.(io.Seeker)
	if !ok {
		return false
	}
	_, err := s.Seek(0, io.SeekCurrent)
	return err == nil
}
