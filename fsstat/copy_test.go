package fsstat

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"
)

const size = 1 << 20

// io.Copy and io.CopyN between files: the kernel copies wherever it does for
// package os, and where it does not, every read and write is counted.
func TestCopyFiles(t *testing.T) {
	const blocks = size / (32 << 10) // io.Copy's buffer
	kernel := Counts{Opens: 2, Reads: 1, BytesRead: size, KernelRead: size, Writes: 1, BytesWritten: size, KernelWritten: size}
	program := Counts{Opens: 2, Reads: blocks + 1, BytesRead: size, Writes: blocks, BytesWritten: size}
	limited := program // no read finds the end
	limited.Reads = blocks

	for _, tt := range []struct {
		name string
		flag int
		copy func(to, from *File) (int64, error)
		want Counts
	}{
		{"Copy", 0, func(to, from *File) (int64, error) { return io.Copy(to, from) }, kernel},
		{"ReadFrom", 0, func(to, from *File) (int64, error) { return to.ReadFrom(from) }, kernel},
		{"CopyN", 0, func(to, from *File) (int64, error) { return io.CopyN(to, from, size) }, kernel},
		{"Copy from os", 0, func(to, from *File) (int64, error) { return io.Copy(to, from.File) },
			Counts{Opens: 2, Writes: 1, BytesWritten: size, KernelWritten: size}},
		{"Copy to os", 0, func(to, from *File) (int64, error) { return io.Copy(to.File, from) },
			Counts{Opens: 2, Reads: 1, BytesRead: size, KernelRead: size}},
		{"CopyN from os", 0, func(to, from *File) (int64, error) { return io.CopyN(to, from.File, size) },
			Counts{Opens: 2, Writes: 1, BytesWritten: size, KernelWritten: size}},
		{"CopyN to os", 0, func(to, from *File) (int64, error) { return io.CopyN(to.File, from, size) },
			Counts{Opens: 2, Reads: blocks, BytesRead: size}},
		{"Copy, appending", os.O_APPEND, func(to, from *File) (int64, error) { return io.Copy(to, from) }, program},
		{"ReadFrom, appending", os.O_APPEND, func(to, from *File) (int64, error) { return to.ReadFrom(from) }, program},
		{"CopyN, appending", os.O_APPEND, func(to, from *File) (int64, error) { return io.CopyN(to, from, size) }, limited},
		{"Copy of a reader", 0, func(to, from *File) (int64, error) { return io.Copy(to, struct{ io.Reader }{from}) }, program},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files, check := counting(t)
			from := must[*File](t)(files.Open(tempFile(t, size)))
			defer from.Close()
			path := filepath.Join(t.TempDir(), "to")
			to := must[*File](t)(files.OpenFile(path, os.O_CREATE|os.O_WRONLY|tt.flag, 0o600))
			defer to.Close()
			if n, err := tt.copy(to, from); n != size || err != nil {
				t.Errorf("got %d bytes, error %v, want %d", n, err, size)
			}
			wantFile(t, path, content(size))
			check(tt.want)
		})
	}
}

func TestCopyNLeavesTheRest(t *testing.T) {
	files, _ := counting(t)
	from := must[*File](t)(files.Open(tempFile(t, 1000)))
	defer from.Close()
	to := must[*File](t)(files.Create(filepath.Join(t.TempDir(), "to")))
	defer to.Close()
	limited := &io.LimitedReader{R: from, N: 600}
	if n, err := to.ReadFrom(limited); n != 600 || err != nil || limited.N != 0 {
		t.Errorf("got %d bytes, error %v, %d left to the limit, want 600, none, 0", n, err, limited.N)
	}
	if n, err := io.CopyN(to, from, 600); n != 400 || err != io.EOF {
		t.Errorf("got %d bytes, error %v, want the other 400 and EOF", n, err)
	}
	wantFile(t, to.Name(), content(1000))
}

func TestCopyToMemory(t *testing.T) {
	files, check := counting(t)
	f := must[*File](t)(files.Open(tempFile(t, 1000)))
	defer f.Close()
	var b bytes.Buffer
	n := must[int64](t)(io.Copy(struct{ io.Writer }{&b}, f))
	if n != 1000 || !bytes.Equal(b.Bytes(), content(1000)) {
		t.Errorf("got %d bytes, or other ones, want 1000", n)
	}
	if n := must[int64](t)(io.Copy(io.Discard, f)); n != 0 {
		t.Errorf("got %d bytes at the end, want 0", n)
	}
	// Both find the end.
	check(Counts{Opens: 1, Reads: 3, BytesRead: 1000})
}

// sent is what arrives at the other end of a connection while send sends.
func sent(t *testing.T, network, address string, send func(io.Writer) (int64, error)) []byte {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Skipf("no %s sockets here: %v", network, err)
	}
	defer l.Close()
	result := make(chan error, 1)
	go func() {
		c, err := l.Accept()
		if err == nil {
			_, err = send(c)
			_ = c.Close()
		}
		result <- err
	}()
	c, err := net.Dial(network, l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	got, err := io.ReadAll(c)
	if err != nil {
		t.Error(err)
	}
	if err := <-result; err != nil {
		t.Error(err)
	}
	return got
}

// A file goes to a connection by sendfile, and its bytes are counted.
func TestSend(t *testing.T) {
	if !seesKernel {
		t.Skip("what the kernel copies is not counted here")
	}
	for _, tt := range []struct {
		name, network string
		send          func(io.Writer, *File) (int64, error)
		want          int
	}{
		{"Copy", "tcp", func(w io.Writer, f *File) (int64, error) { return io.Copy(w, f) }, size},
		{"CopyN", "tcp", func(w io.Writer, f *File) (int64, error) { return io.CopyN(w, f, size/2) }, size / 2},
		{"ReadFrom", "tcp", func(w io.Writer, f *File) (int64, error) { return w.(io.ReaderFrom).ReadFrom(f) }, size},
		{"Copy", "unix", func(w io.Writer, f *File) (int64, error) { return io.Copy(w, f) }, size},
	} {
		t.Run(tt.name+" to "+tt.network, func(t *testing.T) {
			address := "127.0.0.1:0"
			if tt.network == "unix" {
				address = filepath.Join(t.TempDir(), "socket")
			}
			files, check := counting(t)
			f := must[*File](t)(files.Open(tempFile(t, size)))
			defer f.Close()
			got := sent(t, tt.network, address, func(w io.Writer) (int64, error) { return tt.send(w, f) })
			if !bytes.Equal(got, content(size)[:tt.want]) {
				t.Errorf("got %d bytes, or other ones, want %d", len(got), tt.want)
			}
			n := int64(tt.want)
			check(Counts{Opens: 1, Reads: 1, BytesRead: n, KernelRead: n})
		})
	}
}

// http.ServeContent and ServeFile's range requests keep sendfile.
func TestServeContent(t *testing.T) {
	if !seesKernel {
		t.Skip("what the kernel copies is not counted here")
	}
	files, check := counting(t)
	path := tempFile(t, size)
	served := make(chan struct{}, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() { served <- struct{}{} }()
		f, err := files.Open(path)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		defer f.Close()
		http.ServeContent(w, r, "content.bin", time.Time{}, f)
	}))
	defer server.Close()

	get := func(ranged string) []byte {
		t.Helper()
		req := must[*http.Request](t)(http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil))
		if ranged != "" {
			req.Header.Set("Range", ranged)
		}
		resp := must[*http.Response](t)(server.Client().Do(req))
		defer resp.Body.Close()
		return must[[]byte](t)(io.ReadAll(resp.Body))
	}
	// The response's first 512 bytes go through the program, so that its
	// header is only sent when there is something to send.
	if got := get(""); !bytes.Equal(got, content(size)) {
		t.Errorf("got %d bytes, or other ones, want %d", len(got), size)
	}
	<-served
	check(Counts{Opens: 1, Reads: 2, BytesRead: size, KernelRead: size - 512})
	if got := get("bytes=1000-300999"); !bytes.Equal(got, content(size)[1000:301000]) {
		t.Errorf("got %d bytes, or other ones, want 300000", len(got))
	}
	<-served
	check(Counts{Opens: 1, Reads: 2, BytesRead: 300_000, KernelRead: 300_000 - 512})
}

// A copy that fails before its first byte is one operation that failed: nothing
// was read from what cannot be written to, and nothing written of what cannot be
// read.
func TestFailedCopy(t *testing.T) {
	if !seesKernel {
		t.Skip("what a copy is made of is another thing elsewhere")
	}
	path, dir := tempFile(t, 1000), t.TempDir()
	for _, tt := range []struct {
		what string
		from string
		flag int // of what is written to
		bare bool
		want Counts
	}{
		{"out of a folder", dir, os.O_WRONLY, false, Counts{Opens: 2, Reads: 1, Errors: map[string]int64{"EISDIR": 1}}},
		{"out of a bare folder", dir, os.O_WRONLY, true, Counts{Opens: 1}},
		{"into what is for reading", path, os.O_RDONLY, false, Counts{Opens: 2, Writes: 1, Errors: map[string]int64{"EBADF": 1}}},
		{"from a bare file into that", path, os.O_RDONLY, true, Counts{Opens: 1, Writes: 1, Errors: map[string]int64{"EBADF": 1}}},
	} {
		for name, do := range map[string]func(to *File, from io.Reader) (int64, error){
			"ReadFrom": func(to *File, from io.Reader) (int64, error) { return to.ReadFrom(from) },
			"Copy":     func(to *File, from io.Reader) (int64, error) { return io.Copy(to, from) },
		} {
			files, check := counting(t)
			to := must[*File](t)(files.OpenFile(path+".to", os.O_CREATE|tt.flag, 0o600))
			var from io.ReadCloser
			if tt.bare {
				from = must[*os.File](t)(os.Open(tt.from))
			} else {
				from = must[*File](t)(files.Open(tt.from))
			}
			if n, err := do(to, from); n != 0 || err == nil {
				t.Errorf("%s %s: got %d, %v, want an error", name, tt.what, n, err)
			}
			from.Close()
			to.Close()
			check(tt.want)
			if t.Failed() {
				t.Fatal(name, " ", tt.what)
			}
		}
	}
}
