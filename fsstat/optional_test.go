package fsstat

import (
	"fmt"
	"io"
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// filePart is an open file without optional interfaces, dirPart one that lists.
type (
	filePart struct{ readPart }
	dirPart  struct{}
)

func (filePart) Stat() (fs.FileInfo, error)        { return nil, errOwn }
func (filePart) Close() error                      { return nil }
func (dirPart) ReadDir(int) ([]fs.DirEntry, error) { return nil, io.EOF }

// oneFile is a file system that opens nothing but its file.
type oneFile struct{ fs.File }

func (o oneFile) Open(string) (fs.File, error) { return o.File, nil }

// A wrapped file has the interfaces of the original and no others, in each of
// their combinations.
func TestFileInterfaces(t *testing.T) {
	p := New(Options{})
	watch(t, p)
	seen := map[string]bool{}
	for _, inner := range openFiles() {
		got := must[fs.File](t)(p.FS(oneFile{inner}).Open("x"))
		if diff := cmp.Diff(interfaces(inner), interfaces(got)); diff != "" {
			t.Errorf("%T (-bare +wrapped):\n%s", inner, diff)
		}
		seen[fmt.Sprint(interfaces(got))] = true
		if d, ok := got.(fs.ReadDirFile); ok {
			if _, err := d.ReadDir(1); err != io.EOF {
				t.Errorf("ReadDir: got error %v, want EOF", err)
			}
		}
		if s, ok := got.(io.Seeker); ok && must[int64](t)(s.Seek(0, 0)) != 7 {
			t.Error("Seek: got another position")
		}
		if _, err := got.Stat(); err != errOwn {
			t.Errorf("Stat: got error %v, want %v", err, errOwn)
		}
	}
	if len(seen) != 16 {
		t.Errorf("got %d combinations, want 16", len(seen))
	}
}

// openFiles are files with all combinations of the optional interfaces.
func openFiles() []fs.File {
	return []fs.File{
		struct {
			filePart
		}{},
		struct {
			filePart
			seekPart
		}{},
		struct {
			filePart
			atPart
		}{},
		struct {
			filePart
			seekPart
			atPart
		}{},
		struct {
			filePart
			toPart
		}{},
		struct {
			filePart
			seekPart
			toPart
		}{},
		struct {
			filePart
			atPart
			toPart
		}{},
		struct {
			filePart
			seekPart
			atPart
			toPart
		}{},
		struct {
			filePart
			dirPart
		}{},
		struct {
			filePart
			seekPart
			dirPart
		}{},
		struct {
			filePart
			atPart
			dirPart
		}{},
		struct {
			filePart
			seekPart
			atPart
			dirPart
		}{},
		struct {
			filePart
			toPart
			dirPart
		}{},
		struct {
			filePart
			seekPart
			toPart
			dirPart
		}{},
		struct {
			filePart
			atPart
			toPart
			dirPart
		}{},
		struct {
			filePart
			seekPart
			atPart
			toPart
			dirPart
		}{},
	}
}
