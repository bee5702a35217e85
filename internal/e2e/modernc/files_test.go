package modernc

import (
	"bytes"
	"context"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/fsstat"
	"github.com/tidestaff/tidestaff/lag"
	"github.com/tidestaff/tidestaff/probe"
)

// slowFile is a disk that takes its time.
type slowFile struct {
	io.Reader
	wait time.Duration
}

func (f slowFile) Read(p []byte) (int, error) {
	time.Sleep(f.wait)
	return f.Reader.Read(p)
}

// TestStallNamesFile has a loop wait for somebody who reads a file: its stall names the
// file operation and the role.
func TestStallNamesFile(t *testing.T) {
	var loop sync.Mutex
	files := fsstat.New(fsstat.Options{})
	w, err := probe.NewSet(files, lag.New(lag.Options{
		Interval: 10 * time.Millisecond,
		Through:  func(beat func()) { loop.Lock(); defer loop.Unlock(); beat() },
	})).Watch()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()

	probe.Do(context.Background(), "background:reload", func(context.Context) {
		loop.Lock()
		defer loop.Unlock()
		file := slowFile{bytes.NewReader(make([]byte, 100)), time.Second}
		if _, err := files.Reader("rules.conf", file).Read(make([]byte, 100)); err != nil {
			t.Error(err)
		}
	})
	reads := func(o probe.Overlap) bool {
		return o.Role == "background:reload" && o.Duration > 900*time.Millisecond
	}
	stalls := lag.StallsOf(w.Close()) // a busy machine may have made others
	if !slices.ContainsFunc(stalls, func(s lag.Stall) bool { return s.Loop && slices.ContainsFunc(s.Overlaps, reads) }) {
		t.Errorf("got %+v, want one of the loop with the read of the reload in flight", stalls)
	}
}
