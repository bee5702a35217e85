package fsstat

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
)

// A pipe has no position: nothing in it is taken for copied by the kernel.
func TestNamedPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skipf("no named pipes here: %v", err)
	}
	var writer sync.WaitGroup
	writer.Go(func() {
		if err := os.WriteFile(path, content(5000), 0); err != nil {
			t.Error(err)
		}
	})
	files, check := counting(t)
	f := must[*File](t)(files.Open(path))
	defer f.Close()
	to := must[*File](t)(files.Create(filepath.Join(t.TempDir(), "to")))
	defer to.Close()
	if n := must[int64](t)(io.Copy(to, f)); n != 5000 {
		t.Errorf("got %d bytes, want 5000", n)
	}
	writer.Wait()
	wantFile(t, to.Name(), content(5000))
	// The program copies, and its second read finds the end.
	check(Counts{Opens: 2, Reads: 2, BytesRead: 5000, Writes: 1, BytesWritten: 5000})
}

// While one goroutine sends by position, reads at offsets are counted apart.
func TestSyscallConnBesideReadAt(t *testing.T) {
	files, check := counting(t)
	f := must[*File](t)(files.Open(tempFile(t, size)))
	defer f.Close()
	var readers sync.WaitGroup
	for i := range 4 {
		readers.Go(func() {
			b := make([]byte, 100)
			for j := range 50 {
				if _, err := f.ReadAt(b, int64(i*1000+j)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	got := sent(t, "tcp", "127.0.0.1:0", func(w io.Writer) (int64, error) { return io.CopyN(w, f, size) })
	readers.Wait()
	if !bytes.Equal(got, content(size)) {
		t.Errorf("got %d bytes, or other ones, want %d", len(got), size)
	}
	check(Counts{Opens: 1, Reads: 201, BytesRead: size + 200*100, KernelRead: size})
}

// What somebody does with the descriptor without moving the position is none of
// the probe's business.
func TestSyscallConnControl(t *testing.T) {
	files, check := counting(t)
	f := must[*File](t)(files.Open(tempFile(t, 10)))
	defer f.Close()
	c := must[syscall.RawConn](t)(f.SyscallConn())
	calls := 0
	use := func(uintptr) { calls++ }
	ready := func(uintptr) bool { calls++; return true }
	for _, err := range []error{c.Control(use), c.Read(ready), c.Write(ready)} {
		if err != nil {
			t.Error(err)
		}
	}
	if calls != 3 {
		t.Errorf("got %d calls, want 3", calls)
	}
	check(Counts{Opens: 1})
}
