package fsstat

import (
	"io"
	"io/fs"
)

// The optional interfaces of a stream, as bits.
const (
	hasSeeker = 1 << iota
	hasReaderAt
	hasWriterTo
	hasReadDir
	hasCloser = hasReadDir // files list, readers close
)

// dirReader is what fs.ReadDirFile adds to fs.File.
type dirReader interface {
	ReadDir(n int) ([]fs.DirEntry, error)
}

// optional are those of the interfaces that the original has, out of the ones that
// files and readers share.
func (s *stream) optional() (bits int) {
	if _, ok := s.inner.(io.Seeker); ok {
		bits |= hasSeeker
	}
	if _, ok := s.inner.(io.ReaderAt); ok {
		bits |= hasReaderAt
	}
	if _, ok := s.inner.(io.WriterTo); ok {
		bits |= hasWriterTo
	}
	return bits
}

// asFile is the stream as a file with exactly the interfaces of the original.
func (s *stream) asFile() fs.File {
	bits := s.optional()
	if _, ok := s.inner.(fs.ReadDirFile); ok {
		bits |= hasReadDir
	}
	f, sk, at, to, d := (*streamFile)(s), (*streamSeeker)(s), (*streamReaderAt)(s), (*streamWriterTo)(s), (*streamDir)(s)
	switch bits {
	case hasSeeker:
		return struct {
			fs.File
			io.Seeker
		}{f, sk}
	case hasReaderAt:
		return struct {
			fs.File
			io.ReaderAt
		}{f, at}
	case hasSeeker | hasReaderAt:
		return struct {
			fs.File
			io.Seeker
			io.ReaderAt
		}{f, sk, at}
	case hasWriterTo:
		return struct {
			fs.File
			io.WriterTo
		}{f, to}
	case hasSeeker | hasWriterTo:
		return struct {
			fs.File
			io.Seeker
			io.WriterTo
		}{f, sk, to}
	case hasReaderAt | hasWriterTo:
		return struct {
			fs.File
			io.ReaderAt
			io.WriterTo
		}{f, at, to}
	case hasSeeker | hasReaderAt | hasWriterTo:
		return struct {
			fs.File
			io.Seeker
			io.ReaderAt
			io.WriterTo
		}{f, sk, at, to}
	case hasReadDir:
		return struct {
			fs.File
			dirReader
		}{f, d}
	case hasSeeker | hasReadDir:
		return struct {
			fs.File
			io.Seeker
			dirReader
		}{f, sk, d}
	case hasReaderAt | hasReadDir:
		return struct {
			fs.File
			io.ReaderAt
			dirReader
		}{f, at, d}
	case hasSeeker | hasReaderAt | hasReadDir:
		return struct {
			fs.File
			io.Seeker
			io.ReaderAt
			dirReader
		}{f, sk, at, d}
	case hasWriterTo | hasReadDir:
		return struct {
			fs.File
			io.WriterTo
			dirReader
		}{f, to, d}
	case hasSeeker | hasWriterTo | hasReadDir:
		return struct {
			fs.File
			io.Seeker
			io.WriterTo
			dirReader
		}{f, sk, to, d}
	case hasReaderAt | hasWriterTo | hasReadDir:
		return struct {
			fs.File
			io.ReaderAt
			io.WriterTo
			dirReader
		}{f, at, to, d}
	case hasSeeker | hasReaderAt | hasWriterTo | hasReadDir:
		return struct {
			fs.File
			io.Seeker
			io.ReaderAt
			io.WriterTo
			dirReader
		}{f, sk, at, to, d}
	}
	return f
}

// asReader is the stream as a reader with exactly the interfaces of the original.
func (s *stream) asReader() io.Reader {
	bits := s.optional()
	if _, ok := s.inner.(io.Closer); ok {
		bits |= hasCloser
	}
	r, sk, at, to, cl := (*streamReader)(s), (*streamSeeker)(s), (*streamReaderAt)(s), (*streamWriterTo)(s), (*streamCloser)(s)
	switch bits {
	case hasSeeker:
		return struct {
			io.Reader
			io.Seeker
		}{r, sk}
	case hasReaderAt:
		return struct {
			io.Reader
			io.ReaderAt
		}{r, at}
	case hasSeeker | hasReaderAt:
		return struct {
			io.Reader
			io.Seeker
			io.ReaderAt
		}{r, sk, at}
	case hasWriterTo:
		return struct {
			io.Reader
			io.WriterTo
		}{r, to}
	case hasSeeker | hasWriterTo:
		return struct {
			io.Reader
			io.Seeker
			io.WriterTo
		}{r, sk, to}
	case hasReaderAt | hasWriterTo:
		return struct {
			io.Reader
			io.ReaderAt
			io.WriterTo
		}{r, at, to}
	case hasSeeker | hasReaderAt | hasWriterTo:
		return struct {
			io.Reader
			io.Seeker
			io.ReaderAt
			io.WriterTo
		}{r, sk, at, to}
	case hasCloser:
		return struct {
			io.Reader
			io.Closer
		}{r, cl}
	case hasSeeker | hasCloser:
		return struct {
			io.Reader
			io.Seeker
			io.Closer
		}{r, sk, cl}
	case hasReaderAt | hasCloser:
		return struct {
			io.Reader
			io.ReaderAt
			io.Closer
		}{r, at, cl}
	case hasSeeker | hasReaderAt | hasCloser:
		return struct {
			io.Reader
			io.Seeker
			io.ReaderAt
			io.Closer
		}{r, sk, at, cl}
	case hasWriterTo | hasCloser:
		return struct {
			io.Reader
			io.WriterTo
			io.Closer
		}{r, to, cl}
	case hasSeeker | hasWriterTo | hasCloser:
		return struct {
			io.Reader
			io.Seeker
			io.WriterTo
			io.Closer
		}{r, sk, to, cl}
	case hasReaderAt | hasWriterTo | hasCloser:
		return struct {
			io.Reader
			io.ReaderAt
			io.WriterTo
			io.Closer
		}{r, at, to, cl}
	case hasSeeker | hasReaderAt | hasWriterTo | hasCloser:
		return struct {
			io.Reader
			io.Seeker
			io.ReaderAt
			io.WriterTo
			io.Closer
		}{r, sk, at, to, cl}
	}
	return r
}
