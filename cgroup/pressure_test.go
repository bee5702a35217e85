package cgroup

import (
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
)

// A fakeText is a kernel file with a fixed text, or with an error at each read.
type fakeText struct {
	text  string
	err   error
	reads int
}

func (f *fakeText) Read() ([]byte, error) {
	f.reads++
	if f.err != nil {
		return nil, &fs.PathError{Op: "read", Path: "cpu.pressure", Err: f.err}
	}
	return []byte(f.text), nil
}
func (f *fakeText) Write([]byte) error { return syscall.EBADF }
func (f *fakeText) Close() error       { return nil }

// TestPressure: the totals are counters in seconds, and an old kernel's CPU has
// no "full" rather than one of zero.
func TestPressure(t *testing.T) {
	p := New(Options{Root: "testdata/nothing", Interval: -1})
	pr := p.newPressure()
	cpu := &fakeText{text: "some avg10=0.10 avg60=0.02 avg300=0.00 total=1000000\n"}
	both := &fakeText{text: "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n"}
	pr.files = []file{cpu, both, both}
	if err := pr.sample(); err != nil {
		t.Fatal(err)
	}
	w, err := p.core.Watch()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	p.core.Absent(descPressure.Name, "")
	cpu.text = "some avg10=9.10 avg60=0.02 avg300=0.00 total=3500000\nnew avg10=1 total=1\n"
	both.text = "some avg10=0.00 total=250000\nfull avg10=0.00 total=7\n"
	if err := pr.sample(); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"cpu some = 2.5", "io full = 0", "io some = 0.25", "memory full = 0", "memory some = 0.25",
	}
	var r probe.Reading
	w.Read(&r)
	var got []string
	for _, l := range lines(&r, descPressure.Name) {
		got = append(got, strings.TrimSpace(l))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestPressureOff: a kernel that has the files and keeps no pressure says so at
// the first read, and is not asked again.
func TestPressureOff(t *testing.T) {
	p := New(Options{Root: "testdata/nothing", Interval: -1})
	pr := p.newPressure()
	f := &fakeText{err: syscall.EOPNOTSUPP}
	pr.files = []file{f, f, f}
	s := &source{metrics: pressureDescs, sample: pr.sample, reopen: func() error { return pr.off }}
	w := watch(t, p)
	p.mu.Lock()
	p.add(s, nil)
	p.mu.Unlock()
	var r probe.Reading
	for range 3 {
		w.Read(&r)
		if got := absent(&r, descPressure.Name); !strings.Contains(got, "switched off in this kernel") {
			t.Errorf("got reason %q", got)
		}
	}
	if f.reads != 1 {
		t.Errorf("got %d reads, want one", f.reads)
	}
}
