package fsstat

import (
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
	read, p := f.beginCopy()
	n, err = f.File.WriteTo(w)
	read.end()
	read.copied(in, n, how == byKernel, err)
	f.went(read.tally, p, n)
	return n, err
}

// beginCopy begins a copy out of the file, which is one read.
func (f *File) beginCopy() (call, *pass) {
	if !f.open().watched() {
		return call{}, nil
	}
	p := f.passNow(f.File)
	k := callCopy
	if p == streamPass {
		k = untimed
	}
	return f.begin(k), p
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
	read, p := f.beginCopy()
	written := to.beginFill(read)
	n, err = f.File.WriteTo(to.File)
	read.end()
	written.end()
	read.copied(in, n, how == byKernel, err)
	written.copied(out, n, how == byKernel, nil)
	f.went(read.tally, p, n)
	return n, err
}

// beginFill begins a copy into the file, which is one write. Its time is that of
// the read, if that is timed.
func (f *File) beginFill(read call) call {
	if !f.open().watched() {
		return call{}
	}
	f.use()
	if read.series != nil {
		return f.begin(untimed)
	}
	return f.begin(callCopy)
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
		read, p = ours.beginCopy()
		if limited != nil {
			r = &io.LimitedReader{R: ours.File, N: limited.N}
		}
	}
	written := f.beginFill(read)
	n, err = f.File.ReadFrom(r)
	written.end()
	read.end()
	if bare, ok := r.(*io.LimitedReader); ok {
		limited.N = bare.N
	}
	read.copied(in, n, how == byKernel, nil)
	written.copied(out, n, how == byKernel, err)
	if p != nil {
		ours.went(read.tally, p, n)
	}
	return n, err
}

// routeFrom is the route of a copy to the file from what is, or is not, within
// a limit.
func (f *File) routeFrom(from io.Reader, limited *io.LimitedReader) route {
	if f.appends || limited != nil && limited.N <= 0 {
		return byProgram
	}
	if ours, ok := from.(*File); ok {
		from = ours.bare()
	}
	if c, ok := from.(syscall.Conn); ok {
		return routeFrom(c, f.File)
	}
	return byProgram
}
