package fsstat

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/tidestaff/tidestaff/probe"
)

// A brokenFS and its files panic, all the way.
type brokenFS struct{ fs.FS }

func (brokenFS) Open(string) (fs.File, error)          { panic("open") }
func (brokenFS) ReadFile(string) ([]byte, error)       { panic("readfile") }
func (brokenFS) ReadDir(string) ([]fs.DirEntry, error) { panic("readdir") }
func (brokenFS) Stat(string) (fs.FileInfo, error)      { panic("stat") }
func (brokenFS) ReadLink(string) (string, error)       { panic("readlink") }
func (brokenFS) Lstat(string) (fs.FileInfo, error)     { panic("lstat") }

type brokenReader struct{ io.Reader }

func (brokenReader) Read([]byte) (int, error)          { panic("read") }
func (brokenReader) ReadAt([]byte, int64) (int, error) { panic("readat") }
func (brokenReader) WriteTo(io.Writer) (int64, error)  { panic("writeto") }
func (brokenReader) Seek(int64, int) (int64, error)    { panic("seek") }
func (brokenReader) Close() error                      { panic("close") }

// Code of somebody else's that panics leaves nothing that seems to run.
func TestPanicsEnd(t *testing.T) {
	p := New(Options{})
	w := watch(t, p)
	v := p.As("test")
	fsys, r := v.FS(brokenFS{}), v.Reader("r", brokenReader{})
	for what, do := range map[string]func(){
		"Open":     func() { _, _ = fsys.Open("x") },
		"ReadFile": func() { _, _ = fs.ReadFile(fsys, "x") },
		"ReadDir":  func() { _, _ = fs.ReadDir(fsys, "x") },
		"Stat":     func() { _, _ = fs.Stat(fsys, "x") },
		"ReadLink": func() { _, _ = fs.ReadLink(fsys, "x") },
		"Lstat":    func() { _, _ = fs.Lstat(fsys, "x") },
		"OpenBy":   func() { _, _ = v.OpenBy("x", func() (*os.File, error) { panic("open") }) },
		"Read":     func() { _, _ = r.Read(nil) },
		"ReadAt":   func() { _, _ = r.(io.ReaderAt).ReadAt(nil, 0) },
		"WriteTo":  func() { _, _ = r.(io.WriterTo).WriteTo(io.Discard) },
		"Close":    func() { _ = r.(io.Closer).Close() },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: the panic is lost", what)
				}
			}()
			do()
		}()
		if running := p.Overlapping(nil, 0); len(running) > 0 {
			t.Errorf("%s: got %+v running, want nothing", what, running)
		}
	}
	if got := w.Close().CarriedOut; got != 0 {
		t.Errorf("got %d carried out, want 0", got)
	}
}

// What no sensible program does gets an error or nothing, and takes no service down.
func TestMisuse(t *testing.T) {
	zero := new(Probe)
	if _, err := zero.Watch(); !errors.Is(err, probe.ErrUnsupported) {
		t.Errorf("a probe that New did not make: got error %v, want %v", err, probe.ErrUnsupported)
	}
	path := tempFile(t, 10)
	if b, err := zero.As("test").ReadFile(path); len(b) != 10 || err != nil {
		t.Errorf("a probe that New did not make: got %d bytes and %v", len(b), err)
	}
	p := New(Options{MaxPaths: math.MaxInt})
	w := watch(t, p)
	if f, err := p.As("test").OpenBy(path, func() (*os.File, error) { return nil, nil }); f != nil || !errors.Is(err, errNoFile) {
		t.Errorf("an open of nothing: got %v and error %v, want %v", f, err, errNoFile)
	}
	dir := t.TempDir()
	for i := range defaultPaths + 200 {
		name := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		must[[]byte](t)(p.ReadFile(name))
	}
	if got := statsOf(t, w.Close()).Passes; got != (Passes{First: defaultPaths + 200}) {
		t.Errorf("no bound: got %+v, want none unknown", got)
	}
}
