package fsstat

import "io"

// asReader is the stream as a reader with exactly the interfaces of the original;
// of those for single bytes and runes, with what goes together.
func (s *stream) asReader() io.Reader {
	bits := s.optional()
	if _, ok := s.inner.(io.Closer); ok {
		bits |= hasCloser
	}
	_, scans := s.inner.(io.ByteScanner)
	_, text := s.inner.(io.RuneScanner)
	_, bytes := s.inner.(io.ByteReader)
	switch {
	case scans && text:
		return s.textReader(bits)
	case scans:
		return s.byteScanner(bits)
	case bytes:
		return s.byteReader(bits)
	}
	return s.plainReader(bits)
}

// plainReader is the stream as a reader of nothing but Read.
func (s *stream) plainReader(bits int) io.Reader {
	r, sk, at, to, cl := (*streamReader)(s), (*streamSeeker)(s), (*streamReaderAt)(s), (*streamWriterTo)(s), (*streamCloser)(s)
	switch bits {
	case hasSeeker:
		return struct {
			*streamReader
			*streamSeeker
		}{r, sk}
	case hasReaderAt:
		return struct {
			*streamReader
			*streamReaderAt
		}{r, at}
	case hasSeeker | hasReaderAt:
		return struct {
			*streamReader
			*streamSeeker
			*streamReaderAt
		}{r, sk, at}
	case hasWriterTo:
		return struct {
			*streamReader
			*streamWriterTo
		}{r, to}
	case hasSeeker | hasWriterTo:
		return struct {
			*streamReader
			*streamSeeker
			*streamWriterTo
		}{r, sk, to}
	case hasReaderAt | hasWriterTo:
		return struct {
			*streamReader
			*streamReaderAt
			*streamWriterTo
		}{r, at, to}
	case hasSeeker | hasReaderAt | hasWriterTo:
		return struct {
			*streamReader
			*streamSeeker
			*streamReaderAt
			*streamWriterTo
		}{r, sk, at, to}
	case hasCloser:
		return struct {
			*streamReader
			*streamCloser
		}{r, cl}
	case hasSeeker | hasCloser:
		return struct {
			*streamReader
			*streamSeeker
			*streamCloser
		}{r, sk, cl}
	case hasReaderAt | hasCloser:
		return struct {
			*streamReader
			*streamReaderAt
			*streamCloser
		}{r, at, cl}
	case hasSeeker | hasReaderAt | hasCloser:
		return struct {
			*streamReader
			*streamSeeker
			*streamReaderAt
			*streamCloser
		}{r, sk, at, cl}
	case hasWriterTo | hasCloser:
		return struct {
			*streamReader
			*streamWriterTo
			*streamCloser
		}{r, to, cl}
	case hasSeeker | hasWriterTo | hasCloser:
		return struct {
			*streamReader
			*streamSeeker
			*streamWriterTo
			*streamCloser
		}{r, sk, to, cl}
	case hasReaderAt | hasWriterTo | hasCloser:
		return struct {
			*streamReader
			*streamReaderAt
			*streamWriterTo
			*streamCloser
		}{r, at, to, cl}
	case hasSeeker | hasReaderAt | hasWriterTo | hasCloser:
		return struct {
			*streamReader
			*streamSeeker
			*streamReaderAt
			*streamWriterTo
			*streamCloser
		}{r, sk, at, to, cl}
	}
	return r
}

// byteReader is the stream as one of single bytes, which decompressors read no further of than they need.
func (s *stream) byteReader(bits int) io.Reader {
	r, sk, at, to, cl := (*streamByteReader)(s), (*streamSeeker)(s), (*streamReaderAt)(s), (*streamWriterTo)(s), (*streamCloser)(s)
	switch bits {
	case hasSeeker:
		return struct {
			*streamByteReader
			*streamSeeker
		}{r, sk}
	case hasReaderAt:
		return struct {
			*streamByteReader
			*streamReaderAt
		}{r, at}
	case hasSeeker | hasReaderAt:
		return struct {
			*streamByteReader
			*streamSeeker
			*streamReaderAt
		}{r, sk, at}
	case hasWriterTo:
		return struct {
			*streamByteReader
			*streamWriterTo
		}{r, to}
	case hasSeeker | hasWriterTo:
		return struct {
			*streamByteReader
			*streamSeeker
			*streamWriterTo
		}{r, sk, to}
	case hasReaderAt | hasWriterTo:
		return struct {
			*streamByteReader
			*streamReaderAt
			*streamWriterTo
		}{r, at, to}
	case hasSeeker | hasReaderAt | hasWriterTo:
		return struct {
			*streamByteReader
			*streamSeeker
			*streamReaderAt
			*streamWriterTo
		}{r, sk, at, to}
	case hasCloser:
		return struct {
			*streamByteReader
			*streamCloser
		}{r, cl}
	case hasSeeker | hasCloser:
		return struct {
			*streamByteReader
			*streamSeeker
			*streamCloser
		}{r, sk, cl}
	case hasReaderAt | hasCloser:
		return struct {
			*streamByteReader
			*streamReaderAt
			*streamCloser
		}{r, at, cl}
	case hasSeeker | hasReaderAt | hasCloser:
		return struct {
			*streamByteReader
			*streamSeeker
			*streamReaderAt
			*streamCloser
		}{r, sk, at, cl}
	case hasWriterTo | hasCloser:
		return struct {
			*streamByteReader
			*streamWriterTo
			*streamCloser
		}{r, to, cl}
	case hasSeeker | hasWriterTo | hasCloser:
		return struct {
			*streamByteReader
			*streamSeeker
			*streamWriterTo
			*streamCloser
		}{r, sk, to, cl}
	case hasReaderAt | hasWriterTo | hasCloser:
		return struct {
			*streamByteReader
			*streamReaderAt
			*streamWriterTo
			*streamCloser
		}{r, at, to, cl}
	case hasSeeker | hasReaderAt | hasWriterTo | hasCloser:
		return struct {
			*streamByteReader
			*streamSeeker
			*streamReaderAt
			*streamWriterTo
			*streamCloser
		}{r, sk, at, to, cl}
	}
	return r
}
