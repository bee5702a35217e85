package strace

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/fsstat"
	"github.com/tidestaff/tidestaff/fsstat/fshttp"
)

// The environment that makes of the test binary a program that works.
const (
	envWork = "TIDESTAFF_STRACE_WORK" // the name of the work
	envHow  = "TIDESTAFF_STRACE_HOW"  // "bare" or "wrapped"
	envDir  = "TIDESTAFF_STRACE_DIR"  // holds the files
)

// The files of the folder that works use.
const (
	large   = "large" // of largeLen bytes
	small   = "small" // of smallLen bytes
	out     = "out"   // made by the work
	sub     = "sub"   // a folder with three files
	missing = "missing"

	largeLen = 1 << 20
	smallLen = 1000
)

// A file is what *os.File and *fsstat.File have in common here.
type file interface {
	io.ReadWriteCloser
	io.ReaderAt
	io.ReaderFrom
	io.WriterTo
	io.Seeker
}

// An opener opens files, bare or wrapped.
type opener struct {
	files *fsstat.Probe // nil for bare
	dir   string
}

func (o opener) path(name string) string { return filepath.Join(o.dir, name) }

func (o opener) open(name string, flag int) (f file) {
	if o.files != nil {
		f = must(o.files.OpenFile(o.path(name), flag, 0o600))
	} else {
		f = must(os.OpenFile(o.path(name), flag, 0o600))
	}
	kept = append(kept, f)
	return f
}

// bare opens a file without the probe.
func (o opener) bare(name string, flag int) *os.File {
	f := must(os.OpenFile(o.path(name), flag, 0o600))
	kept = append(kept, f)
	return f
}

// kept are the files that were opened: the garbage collector would close them,
// now and then.
var kept []any

// lost is the one copy that a wrapped file cannot make in the kernel: package os
// recognises nothing within a limit but its own type.
const lost = "io.CopyN to a bare file"

func (o opener) create(flag int) file { return o.open(out, os.O_WRONLY|os.O_CREATE|flag) }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func must2[A, B any](a A, b B, err error) (A, B) {
	if err != nil {
		panic(err)
	}
	return a, b
}

// works are what a program does with files. Each returns the bytes that came out
// at its end, if that is not the file "out".
var works = map[string]func(o opener) []byte{
	"io.Copy file to file": func(o opener) []byte {
		must(io.Copy(o.create(0), o.open(large, os.O_RDONLY)))
		return nil
	},
	"io.CopyN file to file": func(o opener) []byte {
		must(io.CopyN(o.create(0), o.open(large, os.O_RDONLY), largeLen/2))
		return nil
	},
	"io.Copy to one for appending": func(o opener) []byte {
		must(io.Copy(o.create(os.O_APPEND), o.open(large, os.O_RDONLY)))
		return nil
	},
	"io.Copy to memory": func(o opener) []byte {
		var b bytes.Buffer
		must(io.Copy(&b, o.open(large, os.O_RDONLY)))
		return b.Bytes()
	},
	"io.Copy from memory": func(o opener) []byte {
		must(io.Copy(o.create(0), strings.NewReader("some text")))
		return nil
	},
	"io.CopyBuffer file to file": func(o opener) []byte {
		must(io.CopyBuffer(o.create(0), o.open(large, os.O_RDONLY), make([]byte, 1000)))
		return nil
	},
	"io.Copy to a bare file": func(o opener) []byte {
		must(io.Copy(o.bare(out, os.O_WRONLY|os.O_CREATE), o.open(large, os.O_RDONLY)))
		return nil
	},
	"io.Copy from a bare file": func(o opener) []byte {
		must(io.Copy(o.create(0), o.bare(large, os.O_RDONLY)))
		return nil
	},
	"io.CopyN from a bare file": func(o opener) []byte {
		must(io.CopyN(o.create(0), o.bare(large, os.O_RDONLY), largeLen/2))
		return nil
	},
	lost: func(o opener) []byte {
		must(io.CopyN(o.bare(out, os.O_WRONLY|os.O_CREATE), o.open(large, os.O_RDONLY), largeLen/2))
		return nil
	},
	"io.Copy twice": func(o opener) []byte {
		from, to := o.open(large, os.O_RDONLY), o.create(0)
		must(io.Copy(to, from))
		must(from.Seek(0, io.SeekStart))
		must(io.Copy(to, from))
		return nil
	},
	"io.Copy of the rest": func(o opener) []byte {
		from := o.open(large, os.O_RDONLY)
		must(io.ReadFull(from, make([]byte, 1000)))
		must(io.Copy(o.create(0), from))
		return nil
	},
	"io.Copy of a section": func(o opener) []byte {
		must(io.Copy(o.create(0), io.NewSectionReader(o.open(large, os.O_RDONLY), 1000, 100_000)))
		return nil
	},
	"io.Copy by buffers": func(o opener) []byte {
		to := bufio.NewWriter(o.create(0))
		must(io.Copy(to, bufio.NewReader(o.open(large, os.O_RDONLY))))
		must(0, to.Flush())
		return nil
	},
	"io.Copy of nothing": func(o opener) []byte {
		from := o.open(small, os.O_RDONLY)
		must(from.Seek(0, io.SeekEnd))
		must(io.Copy(o.create(0), from))
		must(io.CopyN(o.create(0), from, 0))
		return nil
	},
	"io.Copy to a pipe": func(o opener) []byte {
		r, w := must2(os.Pipe())
		go func() {
			must(io.Copy(w, o.open(large, os.O_RDONLY)))
			w.Close()
		}()
		return must(io.ReadAll(r))
	},
	"io.Copy from a pipe": func(o opener) []byte {
		r, w := must2(os.Pipe())
		go func() {
			must(w.Write(make([]byte, 5000)))
			w.Close()
		}()
		must(io.Copy(o.create(0), r))
		return nil
	},
	"io.Copy of a file system's": func(o opener) []byte {
		fsys := os.DirFS(o.dir)
		if o.files != nil {
			fsys = o.files.FS(fsys)
		}
		f := must(fsys.Open(large))
		defer f.Close()
		must(io.Copy(o.create(0), f))
		return nil
	},
	"io.Copy of a root's": func(o opener) []byte {
		var f io.ReadCloser
		if o.files != nil {
			f = must(must(o.files.OpenRoot(o.dir)).Open(large))
		} else {
			f = must(must(os.OpenRoot(o.dir)).Open(large))
		}
		defer f.Close()
		must(io.Copy(o.create(0), f))
		return nil
	},
	"os.CopyFS": func(o opener) []byte {
		fsys := os.DirFS(o.dir)
		if o.files != nil {
			fsys = o.files.FS(fsys)
		}
		to := must(os.MkdirTemp("", "copy"))
		defer os.RemoveAll(to)
		must(0, os.CopyFS(to, fsys))
		return must(os.ReadFile(filepath.Join(to, large)))
	},
	"CopyFS": func(o opener) []byte {
		to := must(os.MkdirTemp("", "copy"))
		defer os.RemoveAll(to)
		if o.files != nil {
			must(0, o.files.CopyFS(to, os.DirFS(o.dir)))
		} else {
			must(0, os.CopyFS(to, os.DirFS(o.dir)))
		}
		return must(os.ReadFile(filepath.Join(to, large)))
	},
	"io.Copy to TCP": func(o opener) []byte {
		return received(tcp, func(c net.Conn) { must(io.Copy(c, o.open(large, os.O_RDONLY))) })
	},
	"io.CopyN to TCP": func(o opener) []byte {
		return received(tcp, func(c net.Conn) { must(io.CopyN(c, o.open(large, os.O_RDONLY), largeLen/2)) })
	},
	"io.Copy to a Unix socket": func(o opener) []byte {
		return received(unix, func(c net.Conn) { must(io.Copy(c, o.open(large, os.O_RDONLY))) })
	},
	"io.CopyN to a Unix socket": func(o opener) []byte {
		return received(unix, func(c net.Conn) { must(io.CopyN(c, o.open(large, os.O_RDONLY), largeLen/2)) })
	},
	"io.Copy from TCP": func(o opener) []byte {
		must(io.Copy(o.create(0), sent(tcp)))
		return nil
	},
	"io.CopyN from TCP": func(o opener) []byte {
		must(io.CopyN(o.create(0), sent(tcp), largeLen/2))
		return nil
	},
	"io.Copy from a Unix socket": func(o opener) []byte {
		must(io.Copy(o.create(0), sent(unix)))
		return nil
	},
	"http.FileServerFS": func(o opener) []byte {
		fsys := os.DirFS(o.dir)
		if o.files != nil {
			fsys = o.files.FS(fsys)
		}
		return answer(http.FileServerFS(fsys).ServeHTTP)
	},
	"http.ServeContent": func(o opener) []byte {
		return answer(func(w http.ResponseWriter, r *http.Request) {
			http.ServeContent(w, r, "x", time.Time{}, o.open(large, os.O_RDONLY))
		})
	},
	"http.FileServer": func(o opener) []byte {
		var dir http.FileSystem = http.Dir(o.dir)
		if o.files != nil {
			dir = fshttp.Dir(o.files.As("x"), o.dir)
		}
		return answer(http.FileServer(dir).ServeHTTP)
	},
	"exec.Cmd": func(o opener) []byte {
		in := o.open(small, os.O_RDONLY)
		if f, ok := in.(*fsstat.File); ok {
			in = f.File
		}
		cmd := exec.Command("cat")
		cmd.Stdin = in
		return must(cmd.Output())
	},
	"ReadFile": func(o opener) []byte {
		if o.files != nil {
			return must(o.files.ReadFile(o.path(large)))
		}
		return must(os.ReadFile(o.path(large)))
	},
	"DirFS": func(o opener) []byte {
		if o.files != nil {
			return must(fs.ReadFile(o.files.DirFS(o.dir), small))
		}
		return must(fs.ReadFile(os.DirFS(o.dir), small))
	},
	"Root": func(o opener) []byte {
		if o.files != nil {
			return must(must(o.files.OpenRoot(o.dir)).ReadFile(small))
		}
		return must(must(os.OpenRoot(o.dir)).ReadFile(small))
	},
	"WriteFile": func(o opener) []byte {
		err := error(nil)
		if o.files != nil {
			err = o.files.WriteFile(o.path(out), []byte("text"), 0o600)
		} else {
			err = os.WriteFile(o.path(out), []byte("text"), 0o600)
		}
		must(0, err)
		return nil
	},
	"ReadDir": func(o opener) []byte {
		if o.files != nil {
			return fmt.Append(nil, must(o.files.ReadDir(o.path(sub))))
		}
		return fmt.Append(nil, must(os.ReadDir(o.path(sub))))
	},
	"Stat": func(o opener) []byte {
		if o.files != nil {
			return fmt.Append(nil, must(o.files.Stat(o.path(small))).Size(), must(o.files.Lstat(o.path(small))).Size())
		}
		return fmt.Append(nil, must(os.Stat(o.path(small))).Size(), must(os.Lstat(o.path(small))).Size())
	},
	"open, write, close": func(o opener) []byte {
		f := o.create(0)
		must(f.Write([]byte("text")))
		must(0, f.Close())
		return nil
	},
	"Tree":  func(o opener) []byte { return fmt.Append(nil, must(fsstat.Tree(o.dir))) },
	"mixed": mixed,
}

// mixed is a bit of everything that is counted.
func mixed(o opener) []byte {
	for range 3 {
		must(o.files.ReadFile(o.path(large)))
		must(o.files.ReadFile(o.path(small)))
		must(o.files.Stat(o.path(small)))
	}
	_, _ = o.files.ReadFile(o.path(missing))
	_, _ = o.files.Stat(o.path(missing))
	f := o.open(large, os.O_RDONLY)
	b := make([]byte, 700)
	for i := range 20 {
		must(f.Read(b))
		must(f.ReadAt(b, int64(i*1000)))
	}
	must(f.Seek(largeLen-100, io.SeekStart))
	must(io.ReadAll(f))
	to := o.create(0)
	must(to.Write(b))
	must(io.WriteString(to, "text"))
	must(0, f.Close())
	must(0, to.Close())
	must(io.Copy(o.create(0), o.open(large, os.O_RDONLY)))
	must(io.CopyN(o.create(0), o.open(small, os.O_RDONLY), 300))
	must(0, o.files.WriteFile(o.path(out), b, 0o600))
	must(o.files.ReadDir(o.path(sub)))
	return nil
}

// tcp and unix listen.
func tcp() net.Listener { return must(net.Listen("tcp", "127.0.0.1:0")) }

func unix() net.Listener {
	dir := must(os.MkdirTemp("", "socket"))
	kept = append(kept, dir) // until the program ends
	return must(net.Listen("unix", filepath.Join(dir, "s")))
}

// received is what comes out at the other end of a connection.
func received(listen func() net.Listener, send func(net.Conn)) []byte {
	l := listen()
	go func() {
		c := must(l.Accept())
		send(c)
		c.Close()
	}()
	c := must(net.Dial(l.Addr().Network(), l.Addr().String()))
	return must(io.ReadAll(c))
}

// sent is a connection out of which a megabyte comes.
func sent(listen func() net.Listener) net.Conn {
	l := listen()
	go func() {
		c := must(l.Accept())
		must(c.Write(make([]byte, largeLen)))
		c.Close()
	}()
	return must(net.Dial(l.Addr().Network(), l.Addr().String()))
}

// answer is what a server sends for the large file.
func answer(h http.HandlerFunc) []byte {
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	go func() { _ = http.Serve(l, h) }()
	resp := must(http.Get("http://" + l.Addr().String() + "/" + large))
	return must(io.ReadAll(resp.Body))
}

// A result is what a work leaves behind.
type result struct {
	Output []byte
	Stats  fsstat.Stats
}

// TestMain does the work that the environment asks for, if it does.
func TestMain(m *testing.M) {
	name := os.Getenv(envWork)
	if name == "" {
		os.Exit(m.Run())
	}
	o := opener{dir: os.Getenv(envDir)}
	if os.Getenv(envHow) == "bare" {
		report(result{Output: works[name](o)})
		return
	}
	o.files = fsstat.New(fsstat.Options{})
	w := must(o.files.Watch())
	output := works[name](o)
	for _, dir := range kept {
		if dir, ok := dir.(string); ok {
			_ = os.RemoveAll(dir)
		}
	}
	s, _ := fsstat.StatsOf(w.Close())
	report(result{output, s})
}

func report(r result) { must(os.Stdout.Write(must(json.Marshal(r)))) }
