package lag

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
)

// A fakeRecorder writes what it is told to, or fails.
type fakeRecorder struct {
	off    bool
	text   string
	err    error
	before func()
}

func (f *fakeRecorder) Enabled() bool { return !f.off }

func (f *fakeRecorder) WriteTo(w io.Writer) (int64, error) {
	if f.before != nil {
		f.before()
	}
	n, err := io.WriteString(w, f.text)
	return int64(n), errors.Join(f.err, err)
}

// dirIn is a folder that does not exist yet.
func dirIn(t *testing.T) string { return filepath.Join(t.TempDir(), "captures") }

// captureOf is what a stall's event says of a kind.
func captureOf(t *testing.T, s Stall, kind string) CaptureFile {
	t.Helper()
	i := slices.IndexFunc(s.Captures, func(f CaptureFile) bool { return f.Kind == kind })
	if i < 0 {
		t.Fatalf("got captures %+v, want a %s among them", s.Captures, kind)
	}
	return s.Captures[i]
}

func TestCaptureCheck(t *testing.T) {
	rec := &fakeRecorder{}
	for _, tt := range []struct {
		name      string
		o         Capture
		threshold time.Duration
		want      string
	}{
		{"off", Capture{}, -1, ""},
		{"limits without captures", Capture{MaxFiles: 3}, 0, ""},
		{"profile", Capture{Dir: "d", Goroutines: true}, 0, ""},
		{"trace", Capture{Dir: "d", Trace: rec}, 0, ""},
		{"no dir", Capture{Goroutines: true}, 0, "has no Dir"},
		{"nothing", Capture{Dir: "d"}, 0, `has the Dir "d" and nothing to capture`},
		{"two recorders", Capture{Dir: "d", Trace: rec, StartTrace: true}, 0, "both a Trace and StartTrace"},
		{"negative", Capture{Dir: "d", Goroutines: true, Cooldown: -1}, 0, "negative limit"},
		{"no stalls", Capture{Dir: "d", Goroutines: true}, -1, "there are no stalls"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, err := New(Options{Name: "x", Capture: tt.o, Threshold: tt.threshold}).Watch()
			if err == nil {
				w.Close()
			}
			if tt.want == "" {
				if err != nil {
					t.Errorf("got error %v, want none", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), `probe "x"`) {
				t.Errorf("got error %v, want one that says %q", err, tt.want)
			}
		})
	}
}

// A stall's files are named after its event, and only their owner can read them.
func TestCapture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := dirIn(t)
		p := stalled(Options{Name: "a/b", Capture: Capture{Dir: dir, Goroutines: true, Trace: &fakeRecorder{text: "trace"}}},
			map[int]time.Duration{4: 270 * ms})
		w := watch(t, p)
		if _, err := os.Stat(dir); err == nil {
			t.Error("got a folder before there was a capture")
		}
		time.Sleep(time.Second)
		s := onlyStall(t, w.Close())

		base := "tidestaff-stall-" + s.Start.UTC().Format("20060102T150405.000Z") + "-scheduler-a_b-1."
		want := CaptureFile{Kind: "trace", Path: filepath.Join(dir, base+"trace"), Bytes: 5, After: 400 * ms}
		if diff := cmp.Diff(want, captureOf(t, s, "trace")); diff != "" {
			t.Errorf("trace (-want +got):\n%s", diff)
		}
		if text, err := os.ReadFile(want.Path); string(text) != "trace" {
			t.Errorf("got trace %q and error %v", text, err)
		}
		g := captureOf(t, s, "goroutines")
		info, err := os.Stat(filepath.Join(dir, base+"goroutines"))
		if err != nil || g.Path != filepath.Join(dir, info.Name()) || g.Bytes != info.Size() || g.Reason != "" {
			t.Errorf("got profile %+v, on disk %v, error %v", g, info, err)
		}
		if err == nil && info.Mode().Perm() != 0o600 {
			t.Errorf("got mode %v, want 0600", info.Mode())
		}
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("got folder %v, error %v, want mode 0700", info, err)
		}
	})
}

// A capture that fails is a reason in the event, and leaves no file behind.
func TestCaptureFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var none *fakeRecorder
	for _, tt := range []struct {
		name, kind, want string
		change           func(*Capture)
	}{
		{"busy", "trace", "call to WriteTo already in progress", func(c *Capture) {
			c.Trace = &fakeRecorder{text: "half", err: errors.New("call to WriteTo already in progress")}
		}},
		{"stopped", "trace", "the flight recorder is not running", func(c *Capture) { c.Trace = &fakeRecorder{off: true} }},
		{"disk full", "trace", syscall.ENOSPC.Error(), func(c *Capture) { c.Trace = &fakeRecorder{text: "half", err: syscall.ENOSPC} }},
		{"panic", "trace", "panicked: oops", func(c *Capture) { c.Trace = &fakeRecorder{before: func() { panic("oops") }} }},
		{"nil pointer", "trace", "panicked: ", func(c *Capture) { c.Trace = none }},
		{"too large", "trace", "larger than Options.Capture.MaxBytes", func(c *Capture) { c.MaxBytes = 3 }},
		{"goroutines", "goroutines", "more than Options.Capture.MaxGoroutines, 1", func(c *Capture) { c.MaxGoroutines = 1 }},
		{"no folder", "trace", file, func(c *Capture) { c.Dir = file }},
		{"no folder below", "goroutines", file, func(c *Capture) { c.Dir = filepath.Join(file, "below") }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := Capture{Dir: dirIn(t), Goroutines: true, Trace: &fakeRecorder{text: "trace"}}
				tt.change(&o)
				w := watch(t, stalled(Options{Capture: o}, map[int]time.Duration{4: 270 * ms}))
				time.Sleep(time.Second)
				got := captureOf(t, onlyStall(t, w.Close()), tt.kind)
				if !strings.Contains(got.Reason, tt.want) || got.Path != "" || got.Bytes != 0 {
					t.Errorf("got %+v, want no file, because %s", got, tt.want)
				}
				left, _ := filepath.Glob(filepath.Join(o.Dir, "*."+tt.kind))
				if len(left) > 0 {
					t.Errorf("got %q left behind", left)
				}
			})
		})
	}
}

// Stalls that follow each other are not all captured.
func TestCaptureCooldown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := stalled(Options{Capture: Capture{Dir: dirIn(t), Trace: &fakeRecorder{}, Cooldown: 2 * time.Second}},
			map[int]time.Duration{4: 270 * ms, 14: 270 * ms, 64: 270 * ms})
		w := watch(t, p)
		time.Sleep(6 * time.Second)
		var got []string
		for _, s := range StallsOf(w.Close()) {
			got = append(got, captureOf(t, s, "trace").Reason)
		}
		want := []string{"", "the last capture was less than 2s ago", ""}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("reasons (-want +got):\n%s", diff)
		}
	})
}

// A recorder that does not return delays neither the event nor the close for
// long, and the stalls that follow are not lost.
func TestCaptureHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		o := Capture{Dir: dirIn(t), Trace: &fakeRecorder{before: func() { <-release }}, Cooldown: 1}
		late := map[int]time.Duration{}
		for i := range 6 {
			late[10+10*i] = 110 * ms
		}
		w := watch(t, stalled(Options{Capture: o}, late))
		time.Sleep(5 * time.Second)
		from := time.Now()
		stalls := StallsOf(w.Close())
		if d := time.Since(from); d > captureWait+time.Second {
			t.Errorf("got a Close of %v, want at most a second to settle and %v for the worker", d, captureWait)
		}
		var got []string
		for _, s := range stalls {
			got = append(got, captureOf(t, s, "trace").Reason)
		}
		// The first hangs; while it does it is the reason of all that follow.
		want := slices.Repeat([]string{"another capture was being taken for most of the stall"}, 6)
		want[0] = "not done when a window closed"
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("reasons (-want +got):\n%s", diff)
		}
	})
}

// stopped is a stopper with a profile.
func stopped(from, to int64) *stopper {
	s := new(stopper)
	s.last.Store(&span{from: from, to: to})
	return s
}

func TestCaptureRefusal(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		c          *captures
	}{
		{"the first", "", &captures{}},
		{"cooldown", "the last capture was less than 100ns ago", &captures{admitted: true, last: 901}},
		{"after the cooldown", "", &captures{admitted: true, last: 900}},
		{"busy", "4 captures were not done yet", &captures{pending: make([]*capture, 4)}},
		{"less busy", "", &captures{pending: make([]*capture, 3)}},
		{"half of it", "", &captures{spans: [4]span{{from: 790, to: 880}, {from: 980, open: true}}}},
		{"most of it", "another capture was being taken for most of the stall", &captures{spans: [4]span{{from: 790, to: 881}, {from: 980, open: true}}}},
		{"another probe's profile", "another capture was being taken for most of the stall", &captures{stopper: stopped(850, 960)}},
		{"closed", "the last window was closed", &captures{closed: true}},
	} {
		tt.c.o.Cooldown = 100
		if got := tt.c.refusal(800, 1000); got != tt.want {
			t.Errorf("%s: got reason %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A stall that goes on when its window closes says what is known; for those who
// watch on, it is completed.
func TestCaptureOngoing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newActor(t, 0)
		p := blind(Options{Through: a.through, Capture: Capture{Dir: dirIn(t), Goroutines: true, Trace: &fakeRecorder{text: "x"}}})
		w, longer := watch(t, p), watch(t, p)
		time.Sleep(220 * ms)
		go func() { a.mailbox <- func() { time.Sleep(3 * time.Second) } }()
		time.Sleep(500 * ms)
		s := onlyStall(t, w.Close())
		if g := captureOf(t, s, "goroutines"); !s.Ongoing || g.Path == "" || g.After >= s.Duration {
			t.Errorf("got %+v, want a profile of a stall that goes on", s)
		}
		if got := captureOf(t, s, "trace").Reason; got != "the stall has not ended" {
			t.Errorf("got reason %q for the trace", got)
		}
		time.Sleep(4 * time.Second)
		s2 := onlyStall(t, longer.Close())
		if s2.ID != s.ID || s2.Ongoing || captureOf(t, s2, "trace").Bytes != 1 || captureOf(t, s2, "goroutines").Bytes == 0 {
			t.Errorf("got %+v, want stall %d completed, with both captures", s2, s.ID)
		}
	})
}

// What a profile of the probe's own holds up is not the process's lag, but what
// is captured is. A probe that shares the ticker and takes none knows of it too.
func TestCapturedSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := Options{Threshold: time.Second, Capture: Capture{Dir: dirIn(t), Goroutines: true}}
		late := map[int]time.Duration{4: 40 * ms, 8: 40 * ms}
		p, other := stalled(o, late), stalled(Options{Name: "other"}, late)
		probe.NewSet(p, other)
		w, beside := watch(t, p), watch(t, other)
		c := p.running.Load().captures
		profile := func(from, to time.Duration) {
			c.stopper.last.Store(&span{from: p.now() + int64(from), to: p.now() + int64(to)})
		}
		time.Sleep(110 * ms)
		profile(90*ms, 115*ms) // 200 to 225: most of the first delay
		time.Sleep(250 * ms)
		profile(40*ms, 59*ms) // 400 to 419: less than half of the second
		time.Sleep(640 * ms)
		if s := wantStats(t, beside.Close()); s.Captured != 1 || s.Total.Count != s.Slots-1 {
			t.Errorf("got %+v of the probe beside, want one captured slot too", s)
		}
		r := w.Close()
		s := wantStats(t, r)
		if s.Captured != 1 || s.Total.Count != s.Slots-1 || s.Timer.Count != s.Slots-1 || s.Total.Max < 40*ms {
			t.Errorf("got %+v, want one captured slot, the first delay, and the second among the others", s)
		}
		marked := 0
		for m := range r.Find(lagDuration.Name) {
			if m.Attr(AttrCaptured) == "true" && m.Dist.Count() == 1 {
				marked++
			}
		}
		if marked != 3 {
			t.Errorf("got %d components with one captured slot, want 3", marked)
		}
	})
}

func TestSpanWithin(t *testing.T) {
	for _, tt := range []struct {
		s              span
		from, to, want int64
	}{
		{span{}, 10, 20, 0},
		{span{from: 0, to: 10}, 10, 20, 0},
		{span{from: 20, to: 30}, 10, 20, 0},
		{span{from: 5, to: 15}, 10, 20, 5},
		{span{from: 12, to: 15}, 10, 20, 3},
		{span{from: 5, to: 50}, 10, 20, 10},
		{span{from: 15, open: true}, 10, 20, 5},
		{span{from: 25, open: true}, 10, 20, 0},
	} {
		if got := tt.s.within(tt.from, tt.to); got != tt.want {
			t.Errorf("%+v within %d to %d: got %d, want %d", tt.s, tt.from, tt.to, got, tt.want)
		}
	}
}

// A stall that a capture makes does not lead to the next, and says so.
func TestCaptureOfCapture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var took time.Duration
		rec := &fakeRecorder{}
		p := stalled(Options{Capture: Capture{Dir: dirIn(t), Trace: rec, Cooldown: 1}}, map[int]time.Duration{4: 110 * ms, 10: 200 * ms})
		rec.before = func() { // the first one takes from 450 ms on 200 ms: the second stall
			if took == 0 {
				took = 300 * ms
				time.Sleep(took)
			}
		}
		w := watch(t, p)
		time.Sleep(2 * time.Second)
		stalls := StallsOf(w.Close())
		if len(stalls) != 2 {
			t.Fatalf("got %d stalls, want 2: %+v", len(stalls), stalls)
		}
		if got := captureOf(t, stalls[0], "trace").Path; got == "" {
			t.Errorf("got no trace of the first: %+v", stalls[0])
		}
		got := captureOf(t, stalls[1], "trace").Reason
		if got != "another capture was being taken for most of the stall" || !strings.Contains(stalls[1].Text, "; captures were taken for ") {
			t.Errorf("got reason %q and text %q, want them to name the capture", got, stalls[1].Text)
		}
	})
}

// A stall that was refused a capture is asked for again while it goes on.
func TestRefusedIsAskedAgain(t *testing.T) {
	for name, o := range map[string]Capture{
		"another capture": {Trace: &fakeRecorder{before: func() { time.Sleep(400 * ms) }}, Cooldown: 1},
		"cooldown":        {Trace: &fakeRecorder{}, Cooldown: 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newActor(t, 0)
				o.Dir, o.Goroutines = dirIn(t), true
				p := blind(Options{Interval: 5 * ms, Threshold: 50 * ms, Through: a.through, Capture: o})
				w := watch(t, p)
				time.Sleep(100 * ms)
				a.mailbox <- func() { time.Sleep(70 * ms) } // a blip, which is captured
				time.Sleep(90 * ms)
				a.mailbox <- func() { time.Sleep(time.Minute) } // and the stall that matters
				time.Sleep(62 * time.Second)
				stalls := StallsOf(w.Close())
				if len(stalls) != 2 {
					t.Fatalf("got %d stalls, want 2", len(stalls))
				}
				for _, s := range stalls {
					if g := captureOf(t, s, kindGoroutines); g.Path == "" || g.After > s.Duration {
						t.Errorf("a stall of %v: got %+v, want a profile during it", s.Duration, g)
					}
				}
			})
		})
	}
}
