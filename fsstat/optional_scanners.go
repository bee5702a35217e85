package fsstat

import "io"

// byteScanner is the stream as one that takes a byte back.
func (s *stream) byteScanner(bits int) io.Reader {
	r, sk, at, to, cl := (*streamByteScanner)(s), (*streamSeeker)(s), (*streamReaderAt)(s), (*streamWriterTo)(s), (*streamCloser)(s)
	switch bits {
	case hasSeeker:
		return struct {
			*streamByteScanner
			*streamSeeker
		}{r, sk}
	case hasReaderAt:
		return struct {
			*streamByteScanner
			*streamReaderAt
		}{r, at}
	case hasSeeker | hasReaderAt:
		return struct {
			*streamByteScanner
			*streamSeeker
			*streamReaderAt
		}{r, sk, at}
	case hasWriterTo:
		return struct {
			*streamByteScanner
			*streamWriterTo
		}{r, to}
	case hasSeeker | hasWriterTo:
		return struct {
			*streamByteScanner
			*streamSeeker
			*streamWriterTo
		}{r, sk, to}
	case hasReaderAt | hasWriterTo:
		return struct {
			*streamByteScanner
			*streamReaderAt
			*streamWriterTo
		}{r, at, to}
	case hasSeeker | hasReaderAt | hasWriterTo:
		return struct {
			*streamByteScanner
			*streamSeeker
			*streamReaderAt
			*streamWriterTo
		}{r, sk, at, to}
	case hasCloser:
		return struct {
			*streamByteScanner
			*streamCloser
		}{r, cl}
	case hasSeeker | hasCloser:
		return struct {
			*streamByteScanner
			*streamSeeker
			*streamCloser
		}{r, sk, cl}
	case hasReaderAt | hasCloser:
		return struct {
			*streamByteScanner
			*streamReaderAt
			*streamCloser
		}{r, at, cl}
	case hasSeeker | hasReaderAt | hasCloser:
		return struct {
			*streamByteScanner
			*streamSeeker
			*streamReaderAt
			*streamCloser
		}{r, sk, at, cl}
	case hasWriterTo | hasCloser:
		return struct {
			*streamByteScanner
			*streamWriterTo
			*streamCloser
		}{r, to, cl}
	case hasSeeker | hasWriterTo | hasCloser:
		return struct {
			*streamByteScanner
			*streamSeeker
			*streamWriterTo
			*streamCloser
		}{r, sk, to, cl}
	case hasReaderAt | hasWriterTo | hasCloser:
		return struct {
			*streamByteScanner
			*streamReaderAt
			*streamWriterTo
			*streamCloser
		}{r, at, to, cl}
	case hasSeeker | hasReaderAt | hasWriterTo | hasCloser:
		return struct {
			*streamByteScanner
			*streamSeeker
			*streamReaderAt
			*streamWriterTo
			*streamCloser
		}{r, sk, at, to, cl}
	}
	return r
}

// textReader is the stream as one of bytes and of runes, such as a bufio.Reader.
func (s *stream) textReader(bits int) io.Reader {
	r, sk, at, to, cl := (*streamTextReader)(s), (*streamSeeker)(s), (*streamReaderAt)(s), (*streamWriterTo)(s), (*streamCloser)(s)
	switch bits {
	case hasSeeker:
		return struct {
			*streamTextReader
			*streamSeeker
		}{r, sk}
	case hasReaderAt:
		return struct {
			*streamTextReader
			*streamReaderAt
		}{r, at}
	case hasSeeker | hasReaderAt:
		return struct {
			*streamTextReader
			*streamSeeker
			*streamReaderAt
		}{r, sk, at}
	case hasWriterTo:
		return struct {
			*streamTextReader
			*streamWriterTo
		}{r, to}
	case hasSeeker | hasWriterTo:
		return struct {
			*streamTextReader
			*streamSeeker
			*streamWriterTo
		}{r, sk, to}
	case hasReaderAt | hasWriterTo:
		return struct {
			*streamTextReader
			*streamReaderAt
			*streamWriterTo
		}{r, at, to}
	case hasSeeker | hasReaderAt | hasWriterTo:
		return struct {
			*streamTextReader
			*streamSeeker
			*streamReaderAt
			*streamWriterTo
		}{r, sk, at, to}
	case hasCloser:
		return struct {
			*streamTextReader
			*streamCloser
		}{r, cl}
	case hasSeeker | hasCloser:
		return struct {
			*streamTextReader
			*streamSeeker
			*streamCloser
		}{r, sk, cl}
	case hasReaderAt | hasCloser:
		return struct {
			*streamTextReader
			*streamReaderAt
			*streamCloser
		}{r, at, cl}
	case hasSeeker | hasReaderAt | hasCloser:
		return struct {
			*streamTextReader
			*streamSeeker
			*streamReaderAt
			*streamCloser
		}{r, sk, at, cl}
	case hasWriterTo | hasCloser:
		return struct {
			*streamTextReader
			*streamWriterTo
			*streamCloser
		}{r, to, cl}
	case hasSeeker | hasWriterTo | hasCloser:
		return struct {
			*streamTextReader
			*streamSeeker
			*streamWriterTo
			*streamCloser
		}{r, sk, to, cl}
	case hasReaderAt | hasWriterTo | hasCloser:
		return struct {
			*streamTextReader
			*streamReaderAt
			*streamWriterTo
			*streamCloser
		}{r, at, to, cl}
	case hasSeeker | hasReaderAt | hasWriterTo | hasCloser:
		return struct {
			*streamTextReader
			*streamSeeker
			*streamReaderAt
			*streamWriterTo
			*streamCloser
		}{r, sk, at, to, cl}
	}
	return r
}
