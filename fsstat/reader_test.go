package fsstat

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"reflect"
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

// sets are values with all sets of some interfaces of one method each, which can
// be asked for but not be called.
func sets(t *testing.T, of ...reflect.Type) func(yield func(any) bool) {
	t.Helper()
	return func(yield func(any) bool) {
		for bits := range 1 << len(of) {
			var fields []reflect.StructField
			for i, typ := range of {
				if bits>>i&1 == 1 {
					fields = append(fields, reflect.StructField{Name: typ.Name(), Type: typ, Anonymous: true})
				}
			}
			if !yield(reflect.New(reflect.StructOf(fields)).Elem().Interface()) {
				return
			}
		}
	}
}

// The methods of text readers, one by one.
type (
	OneByte  interface{ ReadByte() (byte, error) }
	BackByte interface{ UnreadByte() error }
	OneRune  interface{ ReadRune() (rune, int, error) }
	BackRune interface{ UnreadRune() error }
)

// Every set of interfaces that a reader can have is kept, bytes and runes
// included, so that nothing reads further ahead than it did.
func TestReaderSets(t *testing.T) {
	p := New(Options{})
	n := 0
	for r := range sets(t, reflect.TypeFor[io.Reader](), reflect.TypeFor[io.Seeker](), reflect.TypeFor[io.ReaderAt](), reflect.TypeFor[io.WriterTo](),
		reflect.TypeFor[io.Closer](), reflect.TypeFor[OneByte](), reflect.TypeFor[BackByte](), reflect.TypeFor[OneRune](), reflect.TypeFor[BackRune]()) {
		bare, ok := r.(io.Reader)
		if !ok {
			continue
		}
		n++
		has := func(r any) (has [8]bool) {
			_, has[0] = r.(io.Seeker)
			_, has[1] = r.(io.ReaderAt)
			_, has[2] = r.(io.WriterTo)
			_, has[3] = r.(io.Closer)
			_, has[4] = r.(io.ByteReader)
			_, has[5] = r.(io.ByteScanner)
			_, has[6] = r.(io.RuneReader)
			_, has[7] = r.(io.RuneScanner)
			return has
		}
		want := has(r)
		if !want[5] || !want[7] { // runes are kept beside bytes
			want[6], want[7] = false, false
		}
		wrapped := p.Reader("r", bare)
		if got := has(wrapped); got != want {
			t.Errorf("%T: got %v, want %v", r, got, want)
		}
		if p.Reader("again", wrapped) != wrapped {
			t.Errorf("%T: what is counted already is counted twice", r)
		}
	}
	if n != 256 {
		t.Errorf("got %d sets, want 256", n)
	}
}

// A decompressor reads no further of a wrapped reader of bytes than of a bare one:
// what follows is still there.
func TestGzipReadsNoFurther(t *testing.T) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	must[int](t)(w.Write(content(3000)))
	w.Close()
	packed := int64(b.Len())
	b.WriteString("what follows")
	p := New(Options{})
	window := watch(t, p)
	r := p.Reader("packed", bufio.NewReader(&b))
	z := must[*gzip.Reader](t)(gzip.NewReader(r))
	z.Multistream(false)
	if got := must[[]byte](t)(io.ReadAll(z)); !bytes.Equal(got, content(3000)) {
		t.Errorf("got %d bytes, or other ones, want 3000", len(got))
	}
	rest := must[[]byte](t)(io.ReadAll(r))
	if string(rest) != "what follows" {
		t.Errorf("got %q, want what follows", rest)
	}
	if s := statsOf(t, window.Close()); s.BytesRead != packed+int64(len(rest)) {
		t.Errorf("got %d bytes, want %d", s.BytesRead, packed+int64(len(rest)))
	}
}

// Bytes and runes one by one are bytes and no reads, and those taken back are
// counted once.
func TestSingleBytes(t *testing.T) {
	files, check := counting(t)
	r := files.Reader("text", bufio.NewReader(strings.NewReader("aäb"+"cdef"))).(interface {
		io.Reader
		io.ByteScanner
		io.RuneScanner
	})
	for range 2 {
		if b := must[byte](t)(r.ReadByte()); b != 'a' {
			t.Errorf("got %q, want a", b)
		}
		if err := r.UnreadByte(); err != nil {
			t.Error(err)
		}
	}
	must[byte](t)(r.ReadByte())
	for range 2 {
		if c, n, err := r.ReadRune(); c != 'ä' || n != 2 || err != nil {
			t.Errorf("got %q of %d bytes, %v, want ä", c, n, err)
		}
		if err := r.UnreadRune(); err != nil {
			t.Error(err)
		}
	}
	check(Counts{BytesRead: 3})
	if n := must[int](t)(r.Read(make([]byte, 4))); n != 4 {
		t.Errorf("got %d bytes, want 4", n)
	}
	check(Counts{Reads: 1, BytesRead: 2}) // the rune once more, and two after it
}

// What is counted already is counted once, whatever it is.
func TestReaderOfCounted(t *testing.T) {
	files, check := counting(t)
	f := must[*File](t)(files.Open(tempFile(t, 10)))
	defer f.Close()
	for _, r := range []io.Reader{f, files.Reader("x", strings.NewReader("")), (*File)(nil)} {
		if got := files.Reader("y", r); got != r {
			t.Errorf("got another reader of %T", r)
		}
		if at, ok := r.(io.ReaderAt); ok && files.ReaderAt("y", at) != at {
			t.Errorf("got another io.ReaderAt of %T", r)
		}
	}
	must[[]byte](t)(io.ReadAll(struct{ io.Reader }{files.Reader("y", f)}))
	check(Counts{Opens: 1, Reads: 2, BytesRead: 10})
	if at := files.ReaderAt("z", strings.NewReader("")); files.ReaderAt("z", at) != at {
		t.Error("got another io.ReaderAt of one")
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
