package lag

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/pprof"
	"runtime/trace"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// wantTrace checks that a capture is an execution trace.
func wantTrace(t *testing.T, f CaptureFile) {
	t.Helper()
	text, err := os.ReadFile(f.Path)
	if err != nil || !bytes.HasPrefix(text, []byte("go 1.")) || int64(len(text)) != f.Bytes {
		t.Errorf("%+v: got %d bytes that begin with %q, error %v, want a trace", f, len(text), text[:min(len(text), 16)], err)
	}
}

// stallLoop holds a lock from which the loop waits until enough has happened, or for
// five seconds, on a goroutine with a label.
func stallLoop(lock *sync.Mutex, enough func() bool) {
	var wg sync.WaitGroup
	wg.Go(func() {
		pprof.Do(context.Background(), pprof.Labels("holder", "the nightly job"), func(context.Context) {
			lock.Lock()
			defer lock.Unlock()
			for limit := time.Now().Add(5 * time.Second); !enough() && time.Now().Before(limit); {
				time.Sleep(time.Millisecond)
			}
		})
	})
	wg.Wait()
}

// showsHolder tells whether a file is a profile in which the goroutine with the
// label is. One that is being written is not.
func showsHolder(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return false
	}
	text, err := io.ReadAll(z)
	return err == nil && bytes.Contains(text, []byte("the nightly job"))
}

// captureLock has the loop wait for the lock until that shows in a profile, and gives
// the stall that the profile belongs to. A stall that a busy machine makes just before
// is captured too, and the lock's may become a part of it; then it is held again.
func captureLock(t *testing.T, lock *sync.Mutex, o Options) Stall {
	t.Helper()
	o.Capture.Dir = dirIn(t)
	p := New(o)
	w := watch(t, p)
	shown := false
	for range 12 {
		stallLoop(lock, func() bool {
			files, _ := filepath.Glob(filepath.Join(o.Capture.Dir, "*."+kindGoroutines))
			age, _ := p.Pending()
			shown = age >= 300*ms && slices.ContainsFunc(files, showsHolder)
			return shown
		})
		if shown {
			break
		}
	}
	if !shown {
		t.Fatal("no profile shows who holds the lock")
	}
	if p.running.Load().ticker.stopper.lastProfile().from == 0 {
		t.Error("the ticker does not know of the profile, whose time must be told from lag")
	}
	var r probe.Reading
	for limit := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		w.Read(&r)
		for _, s := range StallsOf(&r) { // a busy machine may have made others
			if g := captureOf(t, s, kindGoroutines); showsHolder(g.Path) {
				w.Close()
				if s.Ongoing || g.After >= s.Duration {
					t.Errorf("got the profile after the stall: %+v", s)
				}
				return s
			}
		}
		if time.Now().After(limit) {
			t.Fatalf("got %+v, want a stall with a profile of who holds the lock", StallsOf(&r))
		}
	}
}

// The service's own recorder, and ours, with real stalls of a loop: the profile
// shows who holds the lock, while he holds it.
func TestCaptureReal(t *testing.T) {
	if fr := trace.NewFlightRecorder(trace.FlightRecorderConfig{}); fr.Start() != nil {
		t.Skip("a flight recorder is running already, the test binary's own?")
	} else {
		fr.Stop()
	}
	var lock sync.Mutex
	options := Options{
		Interval: 5 * ms, Threshold: 50 * ms,
		Through: func(beat func()) { lock.Lock(); beat(); lock.Unlock() },
		Capture: Capture{Goroutines: true, Cooldown: 1},
	}
	t.Run("the service's", func(t *testing.T) {
		fr := trace.NewFlightRecorder(trace.FlightRecorderConfig{MinAge: time.Second})
		if err := fr.Start(); err != nil {
			t.Fatal(err)
		}
		defer fr.Stop()
		o := options
		o.Capture.Trace = fr
		wantTrace(t, captureOf(t, captureLock(t, &lock, o), "trace"))
		if !fr.Enabled() {
			t.Error("the service's recorder was stopped")
		}
	})
	t.Run("ours", func(t *testing.T) {
		o := options
		o.Capture.StartTrace = true
		wantTrace(t, captureOf(t, captureLock(t, &lock, o), "trace"))
		fr := trace.NewFlightRecorder(trace.FlightRecorderConfig{})
		if err := fr.Start(); err != nil { // ours was stopped by Close
			t.Fatalf("got error %v, want that no recorder is left running", err)
		}
		defer fr.Stop()
		if got := captureOf(t, captureLock(t, &lock, o), "trace"); !strings.Contains(got.Reason, "already enabled") {
			t.Errorf("beside another recorder: got %+v, want a reason", got)
		}
	})
}

// TestCaptureStops opens and closes windows while there are stalls: our recorder
// is stopped beside no WriteTo, which the race detector would see.
func TestCaptureStops(t *testing.T) {
	var lock sync.Mutex
	p := New(Options{
		Interval: 2 * ms, Threshold: 10 * ms,
		Through: func(beat func()) { lock.Lock(); beat(); lock.Unlock() },
		Capture: Capture{Dir: dirIn(t), StartTrace: true, Cooldown: 1, MaxFiles: 3},
	})
	traces := 0
	for n := 0; traces < 5 && n < 200; n++ { // a busy machine has stalls of its own, whose captures are in the way
		w, err := p.Watch()
		if err != nil {
			t.Fatal(err)
		}
		stallLoop(&lock, func() bool { age, _ := p.Pending(); return age >= 15*ms })
		for _, s := range StallsOf(w.Close()) {
			if f := captureOf(t, s, "trace"); f.Reason == "" {
				traces++
			}
		}
	}
	if got := names(t, p.capture.Dir); traces < 5 || len(got) != 3 {
		t.Errorf("got %d traces and files %q, want 5, and the last 3 kept", traces, got)
	}
}

// TestCaptureAllocs: a slot is measured without an allocation more than without
// captures.
func TestCaptureAllocs(t *testing.T) {
	tr := newTrack(New(Options{Capture: Capture{Dir: dirIn(t), Goroutines: true}}))
	defer tr.captures.end()
	if n := testing.AllocsPerRun(100, func() {
		tr.seriesOf(tr.captures.stopper.lastProfile(), 10, 20).timer.RecordShard(0, 10)
	}); n != 0 {
		t.Errorf("got %v allocations a slot, want none", n)
	}
}

// BenchmarkProfile is a goroutine profile; the world stands still for a part of it.
func BenchmarkProfile(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000} {
		b.Run(fmt.Sprint("goroutines=", n), func(b *testing.B) {
			c := newCaptures(Capture{Dir: b.TempDir(), Goroutines: true, MaxGoroutines: 2 * n}, "", probe.Now)
			defer c.end()
			end := make(chan struct{})
			var wg sync.WaitGroup
			for range n {
				wg.Go(func() { <-end })
			}
			for b.Loop() {
				if err := c.profile(io.Discard); err != nil {
					b.Error(err)
				}
			}
			close(end)
			wg.Wait()
		})
	}
}
