package fsstat

import (
	"errors"
	"io"
	"io/fs"
	"syscall"
)

// A source is a File for io.Copy to read from and a sink one to write to, with
// what the other side may look for, but without WriteTo and ReadFrom: by those
// io.Copy would hand the copy back. Every read and write is then counted.
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

// A route is the way that package os copies.
type route int

const (
	// unknown may be either. Package os makes the copy; it is counted as one
	// read and one write, and as none of the kernel's.
	unknown route = iota
	// byProgram is by reads and writes: io.Copy makes the same ones, counted.
	byProgram
	// byKernel is in the kernel. Package os makes the copy.
	byKernel
)

// WriteTo is that of *os.File, which io.Copy calls.
func (f *File) WriteTo(w io.Writer) (n int64, err error) {
	if !f.open().watched() {
		// A File that w may be counts in its ReadFrom.
		return f.bare().WriteTo(w)
	}
	if to, ok := w.(*File); ok && to != nil {
		return f.copyTo(to)
	}
	// Package os tries the kernel for whatever has a descriptor. Anything else
	// takes the reads that it would take from *os.File or, like an
	// http.ResponseWriter, passes the source on to a connection, which then
	// finds SyscallConn.
	how := byProgram
	if c, ok := w.(syscall.Conn); ok {
		how = routeTo(f.File, c)
	}
	if how == byProgram {
		return io.Copy(w, source{f})
	}
	read, p := f.beginCopy(w)
	n, err = f.File.WriteTo(w)
	read.end()
	read.copied(in, n, how == byKernel, err)
	f.went(read.tally, p, n)
	p.streamed(read.tally, n)
	return n, err
}

// beginCopy begins a copy out of the file to something, which is one read.
func (f *File) beginCopy(to any) (call, *pass) {
	if !f.open().watched() {
		return call{}, nil
	}
	p := f.passNow(f.File)
	k := kindOfCopy(to)
	if p == streamPass {
		k = untimed
	}
	return f.begin(k), p
}

// kindOfCopy is the kind of a copy whose other side is something: one that cannot
// say what it is, such as a connection, is no file, and may be waited for.
func kindOfCopy(other any) callKind {
	if staterOf(other) == nil {
		return untimed
	}
	return callCopy
}

// staterOf is what says what something is, nil if nothing does.
func staterOf(v any) stater {
	if f, ok := v.(*File); ok {
		return f.bare() // its own would be counted
	}
	s, _ := v.(stater)
	return s
}

// sides are the errors of a copy's two sides. A copy that fails before its first
// byte is what failed alone: nothing was read, or nothing written.
func sides(n int64, err error) (read, written bool, readErr, writeErr error) {
	failed, ok := errors.AsType[*fs.PathError](err)
	if ok && failed.Op == "read" || errors.Is(err, syscall.EISDIR) { // no folder is open for writing
		return true, n > 0, err, nil
	}
	return n > 0 || err == nil, true, nil, err
}

// copyTo copies to a File, and counts on both sides.
func (f *File) copyTo(to *File) (n int64, err error) {
	how := byProgram
	if !to.appends {
		how = routeTo(f.File, to.File)
	}
	if how == byProgram {
		return io.Copy(sink{to}, source{f})
	}
	read, p := f.beginCopy(to)
	written := to.beginFill(read, f)
	n, err = f.File.WriteTo(to.File)
	read.end()
	written.end()
	count(read, written, n, how == byKernel, err)
	f.went(read.tally, p, n)
	p.streamed(read.tally, n)
	return n, err
}

// count counts both sides of a copy; the zero call is none.
func count(read, written call, n int64, kernel bool, err error) {
	hasRead, hasWritten, readErr, writeErr := sides(n, err)
	if hasRead {
		read.copied(in, n, kernel, readErr)
	}
	if hasWritten {
		written.copied(out, n, kernel, writeErr)
	}
}

// beginFill begins a copy into the file from something, which is one write. Its
// time is that of the read, if that is timed.
func (f *File) beginFill(read call, from any) call {
	if !f.open().watched() {
		return call{}
	}
	f.change()
	if read.series != nil {
		return f.begin(untimed)
	}
	return f.begin(kindOfCopy(from))
}

// ReadFrom is that of *os.File, which io.Copy calls if the source has no
// WriteTo of its own, and io.CopyN always.
func (f *File) ReadFrom(r io.Reader) (n int64, err error) {
	if f == nil {
		return f.bare().ReadFrom(r)
	}
	limited, _ := r.(*io.LimitedReader)
	from := r
	if limited != nil {
		from = limited.R
	}
	ours, _ := from.(*File)
	if s, ok := from.(source); ok {
		ours, _ = s.readable.(*File) // handed on by what io.Copy copied to
	}
	how := unknown
	if f.watched() || ours.open().watched() {
		how = f.routeFrom(from, limited)
	}
	if how == byProgram {
		return io.Copy(sink{f}, r)
	}
	var read call
	var p *pass
	if ours != nil {
		// Package os recognises its own type only.
		r = ours.File
		read, p = ours.beginCopy(f)
		if limited != nil {
			r = &io.LimitedReader{R: ours.File, N: limited.N}
		}
	}
	written := f.beginFill(read, from)
	n, err = f.File.ReadFrom(r)
	written.end()
	read.end()
	if bare, ok := r.(*io.LimitedReader); ok {
		limited.N = bare.N
	}
	count(read, written, n, how == byKernel, err)
	if p != nil {
		ours.went(read.tally, p, n)
		p.streamed(read.tally, n)
	}
	return n, err
}

// routeFrom is the route of a copy to the file from what is, or is not, within
// a limit.
func (f *File) routeFrom(from io.Reader, limited *io.LimitedReader) route {
	if f.appends || limited != nil && limited.N <= 0 {
		return byProgram
	}
	switch ours := from.(type) {
	case *File:
		from = ours.bare()
	case source:
		return f.routeFrom(ours.readable.(*File), limited)
	}
	if c, ok := from.(syscall.Conn); ok {
		return routeFrom(c, f.File)
	}
	return byProgram
}
