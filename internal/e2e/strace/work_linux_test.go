package strace

import (
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

// kept are the files that were opened: the garbage collector would close them,
// now and then.
var kept []file

func (o opener) create(flag int) file { return o.open(out, os.O_WRONLY|os.O_CREATE|flag) }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
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
	"io.Copy to TCP": func(o opener) []byte {
		return received(func(c *net.TCPConn) { must(io.Copy(c, o.open(large, os.O_RDONLY))) })
	},
	"io.CopyN to TCP": func(o opener) []byte {
		return received(func(c *net.TCPConn) { must(io.CopyN(c, o.open(large, os.O_RDONLY), largeLen/2)) })
	},
	"io.Copy from TCP": func(o opener) []byte {
		to := o.create(0)
		l := must(net.Listen("tcp", "127.0.0.1:0"))
		go func() {
			c := must(l.Accept())
			must(c.Write(make([]byte, largeLen)))
			c.Close()
		}()
		c := must(net.Dial("tcp", l.Addr().String()))
		must(io.Copy(to, c))
		return nil
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

// received is what comes out at the other end of a connection.
func received(send func(*net.TCPConn)) []byte {
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	go func() {
		c := must(l.Accept()).(*net.TCPConn)
		send(c)
		c.Close()
	}()
	c := must(net.Dial("tcp", l.Addr().String()))
	return must(io.ReadAll(c))
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
	s, _ := fsstat.StatsOf(w.Close())
	report(result{output, s})
}

func report(r result) { must(os.Stdout.Write(must(json.Marshal(r)))) }
