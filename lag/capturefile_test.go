package lag

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestCaptureBase(t *testing.T) {
	start := time.Date(2026, 11, 30, 12, 3, 7, 412e6, time.FixedZone("", 3600))
	for _, tt := range []struct {
		whose, want string
	}{
		{"scheduler", "tidestaff-stall-20261130T110307.412Z-scheduler-17"},
		{"loop-../etc/пароль", "tidestaff-stall-20261130T110307.412Z-loop-.._etc_______-17"},
		{strings.Repeat("x", 99), "tidestaff-stall-20261130T110307.412Z-" + strings.Repeat("x", 40) + "-17"},
	} {
		got := captureBase(start, tt.whose, 17)
		if got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.whose, got, tt.want)
		}
		if !captureName.MatchString(got + ".trace") {
			t.Errorf("%q is not recognised as ours", got+".trace")
		}
	}
}

// names are the files in a folder.
func names(t *testing.T, dir string) (found []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		found = append(found, e.Name())
	}
	return found
}

// TestStorePrunes: the oldest of ours go first, what is not ours stays.
func TestStorePrunes(t *testing.T) {
	ours := func(minute int) string {
		return fmt.Sprintf("tidestaff-stall-20261130T12%02d00.000Z-scheduler-1.trace", minute)
	}
	foreign := []string{"tidestaff-stall-notes.txt", "x.trace", "x" + ours(0), ours(0) + ".gz", "tidestaff-stall-20261130T120000.000Z-scheduler-1.pprof"}
	for _, tt := range []struct {
		name     string
		files    int
		bytes    int64
		have     int // of 10 bytes each
		want     []int
		newIsOld bool
	}{
		{"room", 5, 1000, 3, []int{1, 2, 3, 30}, false},
		{"full by number", 3, 1000, 3, []int{2, 3, 30}, false},
		{"full by bytes", 9, 29, 3, []int{3, 30}, false},
		{"one", 1, 1000, 3, []int{30}, false},
		{"the new one is the oldest", 2, 1000, 3, []int{0, 3}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := store{filepath.Join(t.TempDir(), "a", "b"), tt.files, tt.bytes}
			if err := os.MkdirAll(filepath.Join(s.dir, ours(0)+"-folder"), 0o700); err != nil {
				t.Fatal(err)
			}
			put := func(name string) {
				if err := os.WriteFile(filepath.Join(s.dir, name), []byte("0123456789"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for _, f := range foreign {
				put(f)
			}
			for i := range tt.have {
				put(ours(i + 1))
			}
			name := ours(30)
			if tt.newIsOld {
				name = ours(0)
			}
			if _, n, err := s.write(strings.TrimSuffix(name, ".trace"), "trace", func(w io.Writer) error { _, err := w.Write(make([]byte, 10)); return err }); n != 10 || err != nil {
				t.Errorf("got %d bytes, error %v, want 10", n, err)
			}
			var got []int
			for i := range 60 {
				if _, err := os.Stat(filepath.Join(s.dir, ours(i))); err == nil {
					got = append(got, i)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("captures left (-want +got):\n%s\nof %q", diff, names(t, s.dir))
			}
			for _, f := range append(foreign, ours(0)+"-folder") {
				if _, err := os.Stat(filepath.Join(s.dir, f)); err != nil {
					t.Errorf("%s is gone: %v", f, err)
				}
			}
		})
	}
}

// A capture never overwrites a file: another probe may have had a stall of the same
// number at the same time.
func TestStoreKeeps(t *testing.T) {
	s := store{t.TempDir(), 9, 1000}
	base := captureBase(time.UnixMilli(0), "scheduler", 1)
	for i, text := range []string{"first", "second", "third"} {
		path, _, err := s.write(base, "trace", func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
		if err != nil {
			t.Fatal(err)
		}
		if name := filepath.Base(path); !captureName.MatchString(name) {
			t.Errorf("%q is not recognised as ours", name)
		}
		if got, err := os.ReadFile(path); string(got) != text {
			t.Errorf("got %q, error %v, want the file %q", got, err, text)
		}
		if got := len(names(t, s.dir)); got != i+1 {
			t.Errorf("got %d files, want %d", got, i+1)
		}
	}
}

// The captures of one stall do not push each other out: its event names them.
func TestStoreOwn(t *testing.T) {
	for _, tt := range []struct {
		files int
		bytes int64
	}{{1, 1000}, {9, 15}} {
		s := store{t.TempDir(), tt.files, tt.bytes}
		ten := func(w io.Writer) error { _, err := w.Write(make([]byte, 10)); return err }
		first, _, err := s.write("tidestaff-stall-20261130T120000.000Z-scheduler-1", "goroutines", ten)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.write("tidestaff-stall-20261130T120000.000Z-scheduler-1", "trace", ten); !errors.Is(err, errOwn) {
			t.Errorf("%+v: got error %v, want %v", tt, err, errOwn)
		}
		if got := names(t, s.dir); len(got) != 1 || got[0] != filepath.Base(first) {
			t.Errorf("%+v: got files %q, want only %s", tt, got, first)
		}
	}
}
