package proc

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, name, data string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestFileRereads: each Read sees the present content from its start, whatever
// its length was before.
func TestFileRereads(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	write(t, name, "")
	f, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, want := range []string{"1\n", strings.Repeat("x", 1024), strings.Repeat("y", 10_000), "", "2\n"} {
		write(t, name, want)
		got, err := f.Read()
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("got %d bytes, want %d", len(got), len(want))
		}
	}
}

func TestFileReadAllocs(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	write(t, name, "12345\n")
	f, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	read := func() {
		if b, err := f.Read(); err != nil || len(b) != 6 {
			t.Fatalf("got %q, %v", b, err)
		}
	}
	read() // makes the buffer
	if got := testing.AllocsPerRun(100, read); got != 0 {
		t.Errorf("got %v allocations a read, want 0", got)
	}
}

func TestFileErrors(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "absent")
	if _, err := Open(name); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), name) {
		t.Errorf("absent: got %v, want fs.ErrNotExist with the path", err)
	}
	name = filepath.Join(dir, "f")
	write(t, name, "1")
	f, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Write([]byte("2")); err == nil {
		t.Error("write to a file opened for reading: got no error")
	}
	for range 2 {
		if err := f.Close(); err != nil {
			t.Errorf("close: got %v", err)
		}
	}
	if _, err := f.Read(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("read after close: got %v, want fs.ErrClosed", err)
	}
	if err := f.Write([]byte("2")); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("write after close: got %v, want fs.ErrClosed", err)
	}
	if err := (*File)(nil).Close(); err != nil {
		t.Errorf("close of nil: got %v", err)
	}
}

func TestFileWrite(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	write(t, name, "123")
	f, err := OpenReadWrite(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Write([]byte("5")); err != nil {
		t.Fatal(err)
	}
	if got, err := f.Read(); err != nil || !bytes.Equal(got, []byte("523")) {
		t.Errorf("got %q, %v, want 523", got, err)
	}
	if err := f.Write(nil); !errors.Is(err, errEmptyWrite) {
		t.Errorf("empty write: got %v, want a refusal", err)
	}
}

func TestOpenWrite(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	write(t, name, "1")
	f, err := OpenWrite(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Write([]byte("5")); err != nil {
		t.Fatal(err)
	}
	if b, err := f.Read(); err == nil {
		t.Errorf("read of a file opened for writing: got %q", b)
	}
	if b, err := os.ReadFile(name); err != nil || string(b) != "5" {
		t.Errorf("got %q, %v, want 5", b, err)
	}
}

// TestFileReopen: another file in the old one's place is seen after Reopen, and
// as long as there is none the old one stays.
func TestFileReopen(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	write(t, name, "1")
	f, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.Rename(name, name+".away"); err != nil {
		t.Skipf("needs to rename an open file: %v", err)
	}
	if err := f.Reopen(); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), name) {
		t.Errorf("got %v, want fs.ErrNotExist with the path", err)
	}
	write(t, name, "2")
	for _, want := range []string{"1", "2"} {
		if b, err := f.Read(); err != nil || string(b) != want {
			t.Errorf("got %q, %v, want %s", b, err, want)
		}
		if err := f.Reopen(); err != nil {
			t.Error(err)
		}
	}
}
