package fsstat

import (
	"io"
	"os"
)

// Reader is r with its reads counted under a name; an *os.File is a [File], and what
// the probe counts already is what it was. It keeps those of the interfaces
// io.Seeker, io.ReaderAt, io.WriterTo, io.Closer, io.ByteReader and io.ByteScanner
// that r has, and io.RuneScanner beside the last one. What comes byte by byte, or
// rune by rune, counts as bytes and as no read, since r has it in a buffer. How long
// reads take is not kept, since r may wait for anything.
func (v View) Reader(name string, r io.Reader) io.Reader {
	if f, ok := r.(*os.File); ok {
		return v.File(f)
	}
	if v.counts(r) {
		return r
	}
	s := &stream{inner: r, handle: handle{opener: v.settled(), name: name}}
	return s.asReader()
}

// counts says whether r is to be left as it is, which nobody counts or the probe
// does already.
func (v View) counts(r any) bool {
	if f, ok := r.(*File); v.probe == nil || ok && f == nil {
		return true
	}
	ours, ok := r.(counted)
	return ok && ours.countedBy(v.probe)
}

// ReaderAt is r with its reads counted under a name; an *os.File is a [File], and
// what the probe counts already is what it was.
func (v View) ReaderAt(name string, r io.ReaderAt) io.ReaderAt {
	if f, ok := r.(*os.File); ok {
		return v.File(f)
	}
	if v.counts(r) {
		return r
	}
	return soleReaderAt{(*streamReaderAt)(&stream{inner: r, handle: handle{opener: v.settled(), name: name}})}
}
