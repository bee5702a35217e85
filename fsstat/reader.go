package fsstat

import (
	"io"
	"os"
)

// Reader is r with its reads counted under a name; an *os.File is a [File]. It
// keeps those of the interfaces io.Seeker, io.ReaderAt, io.WriterTo and io.Closer
// that r has. How long reads take is not kept, since r may wait for anything.
func (v View) Reader(name string, r io.Reader) io.Reader {
	if f, ok := r.(*os.File); ok {
		return v.File(f)
	}
	if v.probe == nil {
		return r
	}
	s := &stream{inner: r, handle: handle{opener: v.settled(), name: name}}
	return s.asReader()
}

// ReaderAt is r with its reads counted under a name; an *os.File is a [File].
func (v View) ReaderAt(name string, r io.ReaderAt) io.ReaderAt {
	if f, ok := r.(*os.File); ok {
		return v.File(f)
	}
	if v.probe == nil {
		return r
	}
	return (*streamReaderAt)(&stream{inner: r, handle: handle{opener: v.settled(), name: name}})
}
