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
//
// Note: a type's methods are fixed when it is compiled, and neither a type
// parameter nor a type of package reflect can be embedded with them. So each set
// of interfaces is a type that is written down, here and for readers; the tests
// hold them against all sets.
func (s *stream) asFile() fs.File {
	bits := s.optional()
	if _, ok := s.inner.(fs.ReadDirFile); ok {
		bits |= hasReadDir
	}
	f, sk, at, to, d := (*streamFile)(s), (*streamSeeker)(s), (*streamReaderAt)(s), (*streamWriterTo)(s), (*streamDir)(s)
	switch bits {
	case hasSeeker:
		return struct {
			*streamFile
			*streamSeeker
		}{f, sk}
	case hasReaderAt:
		return struct {
			*streamFile
			*streamReaderAt
		}{f, at}
	case hasSeeker | hasReaderAt:
		return struct {
			*streamFile
			*streamSeeker
			*streamReaderAt
		}{f, sk, at}
	case hasWriterTo:
		return struct {
			*streamFile
			*streamWriterTo
		}{f, to}
	case hasSeeker | hasWriterTo:
		return struct {
			*streamFile
			*streamSeeker
			*streamWriterTo
		}{f, sk, to}
	case hasReaderAt | hasWriterTo:
		return struct {
			*streamFile
			*streamReaderAt
			*streamWriterTo
		}{f, at, to}
	case hasSeeker | hasReaderAt | hasWriterTo:
		return struct {
			*streamFile
			*streamSeeker
			*streamReaderAt
			*streamWriterTo
		}{f, sk, at, to}
	case hasReadDir:
		return struct {
			*streamFile
			*streamDir
		}{f, d}
	case hasSeeker | hasReadDir:
		return struct {
			*streamFile
			*streamSeeker
			*streamDir
		}{f, sk, d}
	case hasReaderAt | hasReadDir:
		return struct {
			*streamFile
			*streamReaderAt
			*streamDir
		}{f, at, d}
	case hasSeeker | hasReaderAt | hasReadDir:
		return struct {
			*streamFile
			*streamSeeker
			*streamReaderAt
			*streamDir
		}{f, sk, at, d}
	case hasWriterTo | hasReadDir:
		return struct {
			*streamFile
			*streamWriterTo
			*streamDir
		}{f, to, d}
	case hasSeeker | hasWriterTo | hasReadDir:
		return struct {
			*streamFile
			*streamSeeker
			*streamWriterTo
			*streamDir
		}{f, sk, to, d}
	case hasReaderAt | hasWriterTo | hasReadDir:
		return struct {
			*streamFile
			*streamReaderAt
			*streamWriterTo
			*streamDir
		}{f, at, to, d}
	case hasSeeker | hasReaderAt | hasWriterTo | hasReadDir:
		return struct {
			*streamFile
			*streamSeeker
			*streamReaderAt
			*streamWriterTo
			*streamDir
		}{f, sk, at, to, d}
	}
	return f
}
