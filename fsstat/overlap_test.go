package fsstat

import (
	"os"
	"sync"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// blocked is a File that gives nothing to read until release.
func blocked(t *testing.T, v View) (f *File, release func()) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return v.File(r), func() { w.Close() }
}

// running waits until an operation that began is visible.
func running(t *testing.T, p *Probe) []probe.Overlap {
	t.Helper()
	for range 10_000 {
		if all := p.Overlapping(nil, 0); len(all) > 0 {
			return all
		}
		time.Sleep(time.Millisecond)
	}
	return nil
}

// A read that waits is what explains a stall, while it runs. It counts in no
// window that is closed before it ends.
func TestOverlapping(t *testing.T) {
	for _, tt := range []struct {
		name  string
		begin func(*File)
	}{
		{"Read", func(f *File) { _, _ = f.Read(make([]byte, 1)) }},
		{"WriteTo", func(f *File) { _, _ = f.WriteTo(os.Stderr) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := New(Options{})
			w := watch(t, p)
			f, release := blocked(t, p.As("tail"))
			var reader sync.WaitGroup
			defer reader.Wait()
			defer release()
			reader.Go(func() { tt.begin(f) })
			all := running(t, p)
			if len(all) != 1 || all[0].Activity != "file operation" || all[0].Role != "tail" || all[0].Name == "" || !all[0].Running {
				t.Errorf("got %+v, want one running file operation of the role tail, with a name", all)
			}
			r := w.Close()
			if s := statsOf(t, r); r.CarriedOut != 1 || s.Reads != 0 {
				t.Errorf("got %d carried out, %d reads, want 1, 0", r.CarriedOut, s.Reads)
			}
			release()
			reader.Wait()
			if got := p.Overlapping(nil, 0); len(got) != 0 {
				t.Errorf("after its end: got %+v, want nothing that runs", got)
			}
		})
	}
}

func TestFeedsOps(t *testing.T) {
	if queries, reads := New(Options{}).FeedsOps(); queries || !reads {
		t.Errorf("got %v, %v, want false, true", queries, reads)
	}
}
