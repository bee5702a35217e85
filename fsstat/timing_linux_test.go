package fsstat

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// waited is for how long the calls here have somebody else wait.
const waited = 30 * time.Millisecond

// fifo is the path of a new FIFO, and what others do with its other end once they
// have waited.
func fifo(t *testing.T, flag int, do func(*os.File)) (path string, done func()) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skipf("no FIFO here: %v", err)
	}
	ended := make(chan error, 1)
	go func() {
		time.Sleep(waited)
		f, err := os.OpenFile(path, flag, 0)
		if err == nil {
			do(f)
			err = f.Close()
		}
		ended <- err
	}()
	return path, func() {
		t.Helper()
		if err := <-ended; err != nil && !errors.Is(err, os.ErrClosed) {
			t.Error(err)
		}
	}
}

// The time that an open, a write or a read waits for the other end of a FIFO is
// none of a file, whether identities are asked for or not.
func TestFIFOUntimed(t *testing.T) {
	drain := func(f *os.File) {
		time.Sleep(waited)
		_, _ = io.Copy(io.Discard, f)
	}
	large := strings.Repeat("x", 1<<20) // more than a FIFO holds
	for _, none := range []bool{false, true} {
		p := New(Options{NoIdentity: none})
		files := p.As("test")
		for what, do := range map[string]func(){
			"Open and Write": func() {
				path, done := fifo(t, os.O_RDONLY, drain)
				f := must[*File](t)(files.OpenFile(path, os.O_WRONLY, 0))
				must[int](t)(f.WriteString(large))
				must[int](t)(f.Write([]byte(large)))
				f.Close()
				done()
			},
			"WriteFile": func() {
				path, done := fifo(t, os.O_RDONLY, drain)
				if err := files.WriteFile(path, []byte(large), 0); err != nil {
					t.Error(err)
				}
				done()
			},
			"Open and Read": func() {
				path, done := fifo(t, os.O_WRONLY, func(f *os.File) {
					for range 2 {
						time.Sleep(waited)
						_, _ = f.WriteString("text")
					}
				})
				f := must[*File](t)(files.Open(path))
				must[[]byte](t)(io.ReadAll(f))
				f.Close()
				done()
			},
			"ReadFile": func() {
				path, done := fifo(t, os.O_WRONLY, func(f *os.File) { time.Sleep(waited); _, _ = f.WriteString("text") })
				must[[]byte](t)(files.ReadFile(path))
				done()
			},
			"in a folder": func() {
				path, done := fifo(t, os.O_WRONLY, func(f *os.File) { time.Sleep(waited); _, _ = f.WriteString("text") })
				f, err := files.DirFS(filepath.Dir(path)).Open(filepath.Base(path))
				if err != nil {
					t.Fatal(err)
				}
				must[[]byte](t)(io.ReadAll(f))
				f.Close()
				done()
			},
		} {
			w := watch(t, p)
			do()
			if got := timed(w.Close()); len(got) != 0 {
				t.Errorf("%s, NoIdentity %v: got %v timed, want nothing", what, none, got)
			}
		}
	}
}

// The time that a copy waits for the other end of a connection is none of a file,
// whichever way it goes.
func TestConnectionUntimed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skipf("no TCP here: %v", err)
	}
	defer l.Close()
	const large = 1 << 20
	path := tempFile(t, large)
	p := New(Options{})
	for what, do := range map[string]func(c net.Conn){
		"to it": func(c net.Conn) {
			f := must[*File](t)(p.As("test").Open(path))
			defer f.Close()
			must[int64](t)(f.WriteTo(c))
		},
		"to it, so many bytes": func(c net.Conn) {
			f := must[*File](t)(p.As("test").Open(path))
			defer f.Close()
			must[int64](t)(io.CopyN(c, f, large))
		},
		"from it": func(c net.Conn) {
			f := must[*File](t)(p.As("test").Create(path + ".new"))
			defer f.Close()
			must[int64](t)(f.ReadFrom(c))
		},
	} {
		c := must[net.Conn](t)(net.Dial("tcp", l.Addr().String()))
		other := must[net.Conn](t)(l.Accept())
		var end sync.WaitGroup
		end.Go(func() {
			defer other.Close()
			time.Sleep(waited)
			if what == "from it" {
				_, _ = other.Write(make([]byte, 100))
				time.Sleep(waited)
				return
			}
			_, _ = io.Copy(io.Discard, other)
		})
		w := watch(t, p)
		do(c)
		c.Close()
		end.Wait()
		if got := timed(w.Close()); got["copy"] != 0 {
			t.Errorf("%s: got %v timed, want no copy", what, got)
		}
	}
}
