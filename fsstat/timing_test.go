package fsstat

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
)

// timed are how many calls were timed, by what they were.
func timed(r *probe.Reading) map[string]uint64 {
	n := map[string]uint64{}
	for m := range r.Find(descDuration.Name) {
		if m.Dist.Count() > 0 {
			n[m.Attr(AttrOperation)] += m.Dist.Count()
		}
	}
	return n
}

// Every call is timed, as what it is; a ReadFile and a copy are one each.
func TestDurations(t *testing.T) {
	p := New(Options{})
	w := watch(t, p)
	files := p.As("test")
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := files.WriteFile(path, content(1000), 0o600); err != nil {
		t.Fatal(err)
	}
	must[[]byte](t)(files.ReadFile(path))
	must[os.FileInfo](t)(files.Stat(path))
	must[[]os.DirEntry](t)(files.ReadDir(dir))
	f := must[*File](t)(files.Open(path))
	must[int](t)(f.Read(make([]byte, 10)))
	must[int](t)(f.ReadAt(make([]byte, 10), 0))
	to := must[*File](t)(files.Create(path + ".copy"))
	must[int](t)(to.Write([]byte("x")))
	must[int64](t)(to.ReadFrom(f))
	f.Close()
	to.Close()
	want := map[string]uint64{"writefile": 1, "readfile": 1, "stat": 1, "readdir": 1, "open": 2, "read": 2, "write": 1, "copy": 1}
	if !seesKernel {
		want = nil // what a copy is made of is another thing elsewhere
	}
	r := w.Close()
	if diff := cmp.Diff(want, timed(r)); diff != "" && want != nil {
		t.Errorf("durations (-want +got):\n%s", diff)
	}
	for m := range r.Find(descDuration.Name) {
		if m.Prov.How != probe.Exact {
			t.Errorf("%s: got %v, want that each was timed", m.Attr(AttrOperation), m.Prov)
		}
	}
}

// With TimeEvery all reads count and some are timed, which is said.
func TestTimeEvery(t *testing.T) {
	for every, want := range map[int]uint64{0: 100, 1: 100, 10: 10, -1: 0} {
		p := New(Options{TimeEvery: every})
		w := watch(t, p)
		f := must[*File](t)(p.As("test").OpenFile(tempFile(t, 100), os.O_RDWR, 0))
		for i := range 50 {
			must[int](t)(f.ReadAt(make([]byte, 1), int64(i)))
			must[int](t)(f.WriteAt([]byte("x"), int64(i)))
		}
		f.Close()
		r := w.Close()
		got := timed(r)
		if n := got["read"] + got["write"]; n != want || got["open"] != 1 {
			t.Errorf("every %d: got %v timed, want %d reads and writes, 1 open", every, got, want)
		}
		if s := statsOf(t, r); s.Reads != 50 || s.Writes != 50 || s.BytesRead != 50 {
			t.Errorf("every %d: got %+v, want all 50 counted", every, s.Counts)
		}
		for m := range r.Find(descDuration.Name) {
			sampled := m.Prov.How == probe.Sampled
			if often := m.Attr(AttrOperation) != "open"; sampled != (often && every > 1) {
				t.Errorf("every %d: %s: got provenance %+v", every, m.Attr(AttrOperation), m.Prov)
			}
		}
	}
}

// TimeEvery is over all reads of a role, not over those of each file: most files
// are read once or twice.
func TestTimeEveryOverFiles(t *testing.T) {
	p := New(Options{TimeEvery: 10})
	w := watch(t, p)
	path := tempFile(t, 100)
	for range 100 {
		f := must[*File](t)(p.As("test").Open(path))
		must[int](t)(f.Read(make([]byte, 1)))
		f.Close()
	}
	if got := timed(w.Close()); got["read"] != 10 {
		t.Errorf("got %v timed, want 10 reads", got)
	}
}

// What waits at a pipe is no time of a file, though it can be seen waiting.
func TestPipeUntimed(t *testing.T) {
	for _, options := range []Options{{}, {NoIdentity: true}} {
		pipeUntimed(t, New(options))
	}
}

func pipeUntimed(t *testing.T, p *Probe) {
	w := watch(t, p)
	r, wr, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from, to := p.As("test").File(r), p.As("test").File(wr)
	must[int](t)(to.Write([]byte("text")))
	must[int](t)(to.Write([]byte("text")))
	must[int](t)(from.Read(make([]byte, 2)))
	to.Close()
	must[int64](t)(io.Copy(io.Discard, from))
	from.Close()
	reading := w.Close()
	if s := statsOf(t, reading); s.BytesRead != 8 || s.BytesWritten != 8 {
		t.Errorf("got %+v, want 8 bytes each way", s.Counts)
	}
	if got := timed(reading); len(got) != 0 {
		t.Errorf("got %v timed, want nothing", got)
	}
}
