package fsstat

import (
	"io"
	"io/fs"
	"sync/atomic"
)

// A stream is somebody's own file or reader. What it gives away has exactly the
// optional interfaces that the original has: a missing one is found by its
// absence, such as the Seeker that http.ServeContent needs.
type stream struct {
	inner any
	handle

	lastRune, back atomic.Int64 // bytes: of the last rune, and of what was taken back
}

// Each of these types is a stream with the methods of one interface.
type (
	streamFile     stream
	streamDir      stream
	streamReader   stream
	streamSeeker   stream
	streamReaderAt stream
	streamWriterTo stream
	streamCloser   stream

	streamByteReader  stream // Read and that of io.ByteReader
	streamByteScanner stream // and that of io.ByteScanner
	streamTextReader  stream // and those of io.RuneScanner
)

// counted is what a probe counts already.
type counted interface{ countedBy(*Probe) bool }

// countedBy says whether the probe counts what is read, as for each type here that
// is given away.
func (h *handle) countedBy(p *Probe) bool { return h.opener.probe == p }

func (s *streamFile) countedBy(p *Probe) bool        { return s.handle.countedBy(p) }
func (s *streamReader) countedBy(p *Probe) bool      { return s.handle.countedBy(p) }
func (s *streamByteReader) countedBy(p *Probe) bool  { return s.handle.countedBy(p) }
func (s *streamByteScanner) countedBy(p *Probe) bool { return s.handle.countedBy(p) }
func (s *streamTextReader) countedBy(p *Probe) bool  { return s.handle.countedBy(p) }

// A soleReaderAt is nothing but that.
type soleReaderAt struct{ *streamReaderAt }

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
	defer c.end()
	n, err := s.inner.(io.Reader).Read(b)
	c.end()
	fresh := s.fresh(int64(n))
	c.moved(in, fresh, err)
	c.series.fromElsewhere(fresh)
	s.went(c.tally, p, fresh)
	return n, err
}

// buffered counts n bytes that ReadByte and its like have brought. They find them
// in a buffer: it is no read, and least of all a small one. Bytes that were taken
// back are not counted again.
func (s *stream) buffered(n int) {
	fresh := s.fresh(int64(n))
	if !s.watched() {
		return
	}
	p := s.passNow(s.about())
	t, _ := s.tally()
	t.buffered(fresh)
	t.series.fromElsewhere(fresh)
	s.went(t, p, fresh)
}

// fresh is how many of the next n bytes had not been taken back.
func (s *stream) fresh(n int64) int64 {
	back := s.back.Load()
	if back <= 0 || n <= 0 {
		return n
	}
	again := min(back, n)
	s.back.Add(-again)
	return n - again
}

func (s *stream) readByte() (byte, error) {
	b, err := s.inner.(io.ByteReader).ReadByte()
	if err == nil {
		s.buffered(1)
	}
	return b, err
}

func (s *stream) unreadByte() error {
	err := s.inner.(io.ByteScanner).UnreadByte()
	if err == nil {
		s.back.Add(1)
	}
	return err
}

// ReadByte implements [io.ByteReader].
func (s *streamByteReader) ReadByte() (byte, error) { return (*stream)(s).readByte() }

// ReadByte implements [io.ByteReader].
func (s *streamByteScanner) ReadByte() (byte, error) { return (*stream)(s).readByte() }

// UnreadByte implements [io.ByteScanner].
func (s *streamByteScanner) UnreadByte() error { return (*stream)(s).unreadByte() }

// ReadByte implements [io.ByteReader].
func (s *streamTextReader) ReadByte() (byte, error) { return (*stream)(s).readByte() }

// UnreadByte implements [io.ByteScanner].
func (s *streamTextReader) UnreadByte() error { return (*stream)(s).unreadByte() }

// ReadRune implements [io.RuneReader].
func (s *streamTextReader) ReadRune() (r rune, size int, err error) {
	r, size, err = s.inner.(io.RuneReader).ReadRune()
	s.lastRune.Store(int64(size))
	(*stream)(s).buffered(size)
	return r, size, err
}

// UnreadRune implements [io.RuneScanner].
func (s *streamTextReader) UnreadRune() error {
	err := s.inner.(io.RuneScanner).UnreadRune()
	if err == nil {
		s.back.Add(s.lastRune.Load())
	}
	return err
}

// Read implements [io.Reader].
func (s *streamByteReader) Read(b []byte) (int, error) { return (*stream)(s).Read(b) }

// Read implements [io.Reader].
func (s *streamByteScanner) Read(b []byte) (int, error) { return (*stream)(s).Read(b) }

// Read implements [io.Reader].
func (s *streamTextReader) Read(b []byte) (int, error) { return (*stream)(s).Read(b) }

// Read implements [io.Reader].
func (s *streamReader) Read(b []byte) (int, error) { return (*stream)(s).Read(b) }

// Read implements [fs.File].
func (s *streamFile) Read(b []byte) (int, error) { return (*stream)(s).Read(b) }

// Stat implements [fs.File].
func (s *streamFile) Stat() (fs.FileInfo, error) {
	c := s.beginStat()
	defer c.end()
	info, err := s.inner.(fs.File).Stat()
	c.end()
	c.count(opStat, err)
	return info, err
}

// Close implements [io.Closer].
func (s *stream) Close() error {
	c := s.close()
	defer c.end()
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
	defer c.end()
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
		s.back.Store(0)
		s.moved(at)
	}
	return at, err
}

// ReadAt implements [io.ReaderAt].
func (s *streamReaderAt) ReadAt(b []byte, off int64) (int, error) {
	c, p := s.beginRead((*stream)(s).about())
	defer c.end()
	n, err := s.inner.(io.ReaderAt).ReadAt(b, off)
	c.end()
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
	defer c.end()
	n, err := s.inner.(io.WriterTo).WriteTo(w)
	c.end()
	fresh := (*stream)(s).fresh(n)
	c.copied(in, fresh, false, err)
	c.series.fromElsewhere(fresh)
	s.went(c.tally, p, fresh)
	return n, err
}
