package fsstat

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
)

// counting is a probe in the role "test" and a function that checks what it
// counted since the last check.
func counting(t *testing.T) (files View, check func(want Counts)) {
	t.Helper()
	p := New(Options{})
	w := watch(t, p)
	return p.As("test"), func(want Counts) {
		t.Helper()
		var r probe.Reading
		w.Next(&r)
		got := statsOf(t, &r)
		if !seesKernel {
			want.KernelRead, want.KernelWritten = 0, 0
		}
		if diff := cmp.Diff(want, got.Counts); diff != "" {
			t.Errorf("counts (-want +got):\n%s", diff)
		}
	}
}

func watch(t testing.TB, p *Probe) *probe.Window {
	t.Helper()
	w, err := p.Watch()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func statsOf(t *testing.T, r *probe.Reading) Stats {
	t.Helper()
	s, ok := StatsOf(r)
	if !ok {
		t.Fatal("the reading has no file operations in it")
	}
	return s
}

// content is size bytes that do not repeat.
func content(size int) []byte {
	b := make([]byte, size)
	rnd := rand.NewChaCha8([32]byte{1})
	_, _ = rnd.Read(b)
	return b
}

// tempFile is the path of a new file of size bytes.
func tempFile(t testing.TB, size int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, content(size), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// must is v, unless there is an error.
func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// wantFile checks what is in a file.
func wantFile(t *testing.T, path string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: got %d bytes, want other %d bytes", path, len(got), len(want))
	}
}

// sameError checks that two errors are alike in type, text and what they wrap.
func sameError(t *testing.T, what string, got, want error) {
	t.Helper()
	if got == want {
		return
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got error %#v, want %#v", what, got, want)
	}
}
