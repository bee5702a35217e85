package fsstat

import (
	"io"
	"io/fs"
)

// A stream is somebody's own file or reader. What it gives away has exactly the
// optional interfaces that the original has: a missing one is found by its
// absence, such as the Seeker that http.ServeContent needs.
type stream struct {
	inner any
	handle
}

// Each of these types is a stream with the methods of one interface.
type (
	streamReader   stream
	streamFile     stream
	streamDir      stream
	streamSeeker   stream
	streamReaderAt stream
	streamWriterTo stream
	streamCloser   stream
)

// noStat says nothing of what it stands for.
type noStat struct{}

// Stat implements stater.
func (noStat) Stat() (fs.FileInfo, error) { return nil, nil }

// about is what can say more of the stream.
func (s *stream) about() stater {
	if f, ok := s.inner.(stater); ok {
		return f
	}
	s.pass.CompareAndSwap(nil, streamPass) // it may come from anywhere
	return noStat{}
}

// Read implements [io.Reader].
func (s *stream) Read(b []byte) (int, error) {
	c, p := s.beginRead(s.about())
	n, err := s.inner.(io.Reader).Read(b)
	s.end(&c, s.about())
	c.moved(in, int64(n), err)
	c.series.fromElsewhere(int64(n))
	s.went(c.tally, p, int64(n))
	return n, err
}

// Read implements [io.Reader].
func (s *streamReader) Read(b []byte) (int, error) { return (*stream)(s).Read(b) }

// Read implements [fs.File].
func (s *streamFile) Read(b []byte) (int, error) { return (*stream)(s).Read(b) }

// Stat implements [fs.File].
func (s *streamFile) Stat() (fs.FileInfo, error) {
	c := s.beginStat()
	info, err := s.inner.(fs.File).Stat()
	c.end()
	c.count(opStat, err)
	return info, err
}

// Close implements [io.Closer].
func (s *stream) Close() error {
	c := s.close(nil)
	err := s.inner.(io.Closer).Close()
	c.end()
	c.failed(err)
	return err
}

// Close implements [fs.File].
func (s *streamFile) Close() error { return (*stream)(s).Close() }

// Close implements [io.Closer].
func (s *streamCloser) Close() error { return (*stream)(s).Close() }

// ReadDir implements [fs.ReadDirFile].
func (s *streamDir) ReadDir(n int) ([]fs.DirEntry, error) {
	c := s.beginList()
	entries, err := s.inner.(fs.ReadDirFile).ReadDir(n)
	c.end()
	if err == io.EOF {
		c.count(opReadDir, nil)
	} else {
		c.count(opReadDir, err)
	}
	return entries, err
}

// Seek implements [io.Seeker].
func (s *streamSeeker) Seek(offset int64, whence int) (int64, error) {
	s.use()
	at, err := s.inner.(io.Seeker).Seek(offset, whence)
	if err == nil {
		s.moved(at)
	}
	return at, err
}

// ReadAt implements [io.ReaderAt].
func (s *streamReaderAt) ReadAt(b []byte, off int64) (int, error) {
	c, p := s.beginRead((*stream)(s).about())
	n, err := s.inner.(io.ReaderAt).ReadAt(b, off)
	s.end(&c, (*stream)(s).about())
	c.moved(in, int64(n), err)
	c.series.fromElsewhere(int64(n))
	p.read(c.tally, off, int64(n))
	return n, err
}

// WriteTo implements [io.WriterTo]. It counts as one read.
func (s *streamWriterTo) WriteTo(w io.Writer) (int64, error) {
	var c call
	var p *pass
	if s.watched() {
		p = s.passNow((*stream)(s).about())
		c = s.begin(p.kind)
	}
	n, err := s.inner.(io.WriterTo).WriteTo(w)
	c.end()
	c.copied(in, n, false, err)
	c.series.fromElsewhere(n)
	s.went(c.tally, p, n)
	return n, err
}
