package fshttp_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/fsstat"
	"github.com/tidestaff/tidestaff/fsstat/fshttp"
)

// site is a folder with files to serve.
func site(t testing.TB) (dir string, large []byte) {
	t.Helper()
	dir = t.TempDir()
	large = bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	for name, b := range map[string][]byte{"page.html": []byte("<p>hello"), "large.bin": large, "sub/index.html": []byte("<p>index")} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, large
}

// What is served is what http.Dir serves.
func TestDirSameAsHTTP(t *testing.T) {
	dir, _ := site(t)
	p := fsstat.New(fsstat.Options{})
	w, err := p.Watch()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for kind, v := range map[string]fsstat.View{"probe": p.As("static"), "none": {}} {
		got := httptest.NewServer(http.FileServer(fshttp.Dir(v, dir)))
		want := httptest.NewServer(http.FileServer(http.Dir(dir)))
		for _, path := range []string{"/", "/page.html", "/large.bin", "/sub/", "/sub", "/gone", "/page.html/x", "/../x", "/a%00b", "/%2e%2e/x"} {
			if diff := cmp.Diff(get(t, want, path), get(t, got, path)); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", kind, path, diff)
			}
		}
		got.Close()
		want.Close()
	}
}

// get is an answer: status, headers that say what it is, body.
func get(t *testing.T, s *httptest.Server, path string) string {
	t.Helper()
	resp, err := s.Client().Get(s.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintln(resp.Status, resp.Header["Content-Type"], resp.Header["Content-Length"], resp.Header["Last-Modified"], len(b), string(b[:min(len(b), 100)]))
}

// A file goes out by sendfile, and its bytes are counted.
func TestDirKernel(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("what the kernel copies is not counted here")
	}
	dir, large := site(t)
	p := fsstat.New(fsstat.Options{})
	w, err := p.Watch()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.FileServer(fshttp.Dir(p.As("static"), dir)))
	get(t, server, "/large.bin")
	get(t, server, "/gone")
	server.Close() // waits for what the handlers still do
	s, ok := fsstat.StatsOf(w.Close())
	if !ok {
		t.Fatal("nothing was counted")
	}
	got := s.Roles["static"]
	// .bin tells the type, or else 512 bytes are read once more to find it.
	if got.KernelRead < int64(len(large))-1024 || got.Opens != 2 || got.Errors["ENOENT"] != 1 {
		t.Errorf("got %+v, want about %d bytes by the kernel, 2 opens, one of nothing", got, len(large))
	}
}

func ExampleDir() {
	files := fsstat.New(fsstat.Options{})
	handler := http.FileServer(fshttp.Dir(files.As("static"), "public"))
	fmt.Println(handler != nil)
	// Output: true
}

// The empty folder is the working one, as it is to http.Dir.
func TestDirEmpty(t *testing.T) {
	p := fsstat.New(fsstat.Options{})
	w, err := p.Watch()
	if err != nil {
		t.Fatal(err)
	}
	_, err = fshttp.Dir(p.As("static"), "").Open("/gone.html")
	if err == nil {
		t.Fatal("got a file that does not exist")
	}
	s, _ := fsstat.StatsOf(w.Close())
	if len(s.Paths) != 1 || s.Paths[0].Path != "gone.html" {
		t.Errorf("got the paths %+v, want gone.html", s.Paths)
	}
}
