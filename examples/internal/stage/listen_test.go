package stage_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tidestaff/tidestaff/examples/internal/stage"
)

// TestListenIn wants a Unix socket where its path has room, and no file of it at
// the end.
func TestListenIn(t *testing.T) {
	dir, err := os.MkdirTemp("", "s") // short, unlike that of a test
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	long := filepath.Join(dir, strings.Repeat("x", 110))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{dir: "unix", long: "tcp"} {
		if runtime.GOOS == "windows" {
			want = "tcp"
		}
		l, err := stage.ListenIn(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := l.Addr().Network(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		l.Close()
		if left, err := filepath.Glob(filepath.Join(in, "socket")); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	}
	if runtime.GOOS == "windows" {
		return
	}
	if _, err := stage.ListenIn(filepath.Join(dir, "nowhere")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want that the folder does not exist", err)
	}
}
