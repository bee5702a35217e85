package fsstat

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// A part is one optional interface, of which readers of all kinds are made.
type (
	seekPart  struct{}
	atPart    struct{}
	toPart    struct{}
	closePart struct{}
	readPart  struct{}
)

func (readPart) Read([]byte) (int, error)        { return 0, io.EOF }
func (seekPart) Seek(int64, int) (int64, error)  { return 7, nil }
func (atPart) ReadAt([]byte, int64) (int, error) { return 3, io.EOF }
func (toPart) WriteTo(io.Writer) (int64, error)  { return 5, nil }
func (closePart) Close() error                   { return errOwn }

// A wrapped reader has the interfaces of the original and no others, in each of
// their combinations.
func TestReaderInterfaces(t *testing.T) {
	p := New(Options{})
	watch(t, p)
	parts := func(r any) (has [4]bool) {
		_, has[0] = r.(io.Seeker)
		_, has[1] = r.(io.ReaderAt)
		_, has[2] = r.(io.WriterTo)
		_, has[3] = r.(io.Closer)
		return has
	}
	seen := map[[4]bool]bool{}
	for _, r := range readers() {
		got := p.Reader("r", r)
		if diff := cmp.Diff(parts(r), parts(got)); diff != "" {
			t.Errorf("%T (-bare +wrapped):\n%s", r, diff)
		}
		seen[parts(r)] = true
		if s, ok := got.(io.Seeker); ok {
			if at, err := s.Seek(0, 0); at != 7 || err != nil {
				t.Errorf("Seek: got %d, %v, want 7", at, err)
			}
		}
		if s, ok := got.(io.ReaderAt); ok {
			if n, err := s.ReadAt(nil, 0); n != 3 || err != io.EOF {
				t.Errorf("ReadAt: got %d, %v, want 3, EOF", n, err)
			}
		}
		if s, ok := got.(io.WriterTo); ok {
			if n, err := s.WriteTo(nil); n != 5 || err != nil {
				t.Errorf("WriteTo: got %d, %v, want 5", n, err)
			}
		}
		if s, ok := got.(io.Closer); ok && s.Close() != errOwn {
			t.Errorf("Close: got another error, want %v", errOwn)
		}
	}
	if len(seen) != 16 {
		t.Errorf("got %d combinations, want 16", len(seen))
	}
}

func TestReader(t *testing.T) {
	if err := iotest.TestReader(New(Options{}).Reader("bytes", bytes.NewReader(content(3000))), content(3000)); err != nil {
		t.Error(err)
	}
	files, check := counting(t)
	r := files.Reader("text", struct{ io.Reader }{strings.NewReader("0123456789")})
	if b := must[[]byte](t)(io.ReadAll(r)); len(b) != 10 {
		t.Errorf("got %q", b)
	}
	at := files.ReaderAt("section", io.NewSectionReader(strings.NewReader("0123456789"), 2, 5))
	if n, err := at.ReadAt(make([]byte, 8), 1); n != 4 || err != io.EOF {
		t.Errorf("got %d, %v, want 4, EOF", n, err)
	}
	check(Counts{Reads: 3, BytesRead: 14})

	f := must[*os.File](t)(os.Open(tempFile(t, 10)))
	defer f.Close()
	if _, ok := files.Reader("name", f).(*File); !ok {
		t.Error("a Reader of an *os.File is no File")
	}
	if r := (*Probe)(nil).Reader("name", f); must[int64](t)(io.Copy(io.Discard, r)) != 10 {
		t.Error("a nil probe does not pass on")
	}
	if r := strings.NewReader(""); (*Probe)(nil).Reader("name", r) != io.Reader(r) {
		t.Error("a nil probe does not return the reader itself")
	}
}

// readers are readers with all combinations of the optional interfaces.
func readers() []io.Reader {
	return []io.Reader{
		struct {
			readPart
		}{},
		struct {
			readPart
			seekPart
		}{},
		struct {
			readPart
			atPart
		}{},
		struct {
			readPart
			seekPart
			atPart
		}{},
		struct {
			readPart
			toPart
		}{},
		struct {
			readPart
			seekPart
			toPart
		}{},
		struct {
			readPart
			atPart
			toPart
		}{},
		struct {
			readPart
			seekPart
			atPart
			toPart
		}{},
		struct {
			readPart
			closePart
		}{},
		struct {
			readPart
			seekPart
			closePart
		}{},
		struct {
			readPart
			atPart
			closePart
		}{},
		struct {
			readPart
			seekPart
			atPart
			closePart
		}{},
		struct {
			readPart
			toPart
			closePart
		}{},
		struct {
			readPart
			seekPart
			toPart
			closePart
		}{},
		struct {
			readPart
			atPart
			toPart
			closePart
		}{},
		struct {
			readPart
			seekPart
			atPart
			toPart
			closePart
		}{},
	}
}
