package lagload

import (
	"context"
	"errors"
	"math"
	"os"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

func TestMain(m *testing.M) {
	Main() // the tests are their own sender
	os.Exit(m.Run())
}

func measured(t *testing.T, s Study, l load) Run {
	t.Helper()
	run, err := s.measure(t.Context(), l)
	if errors.Is(err, probe.ErrUnsupported) {
		t.Skipf("needs a clock that all processes share: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// TestReaders has all of them read, without a load, and checks that what they
// read is of the right kind: the idioms that subtract scheduled times see
// nothing, and Node's interval includes the timer's own length.
func TestReaders(t *testing.T) {
	s := Study{For: 2 * time.Second, Period: 5 * time.Millisecond}
	run := measured(t, s, loads[0])
	if run.Judged {
		t.Error("got an idle run that is judged, want one that is not")
	}
	for _, s := range run.Series {
		if s.N < 5 || s.P50 > s.P99 || s.P99 > s.Max {
			t.Errorf("got %+v, want some values in order", s)
		}
	}
	if got := run.series("node interval").P50; got < int64(nodeResolution) {
		t.Errorf("node interval: got a median of %d ns, want at least the timer's %v", got, nodeResolution)
	}
	// A wait of more than 10 s or less than none would be another clock's.
	if got := run.series("tcp"); got.P50 <= 0 || got.P50 > int64(10*time.Second) {
		t.Errorf("tcp: got a median of %v, want a wait", time.Duration(got.P50))
	}
}

func TestStudyRefuses(t *testing.T) {
	for _, s := range []Study{{}, {For: time.Second, Period: time.Millisecond}, {For: time.Second, Period: time.Second}} {
		if _, err := s.measure(t.Context(), loads[0]); err == nil {
			t.Errorf("%+v: got no error, want one", s)
		}
	}
}

func TestStudyStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Default().Run(ctx)
	if errors.Is(err, probe.ErrUnsupported) {
		t.Skip(err)
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want %v", err, context.Canceled)
	}
}

// TestEarlySender: a sender that dies is an error, not a short run.
func TestEarlySender(t *testing.T) {
	r, err := newReceiver(5 * time.Millisecond)
	if errors.Is(err, probe.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	r.begin()
	r.sender.end()
	<-r.ended
	if _, err := r.end(); err == nil {
		t.Error("got no error, want one that says that the sender ended")
	}
}

func TestWork(t *testing.T) {
	for _, task := range [][]string{{}, {"sing", "a", "b"}, {"send", "a", "b"}, {"request", "a", "b"}} {
		if err := work(task); err == nil {
			t.Errorf("%q: got no error, want one", task)
		}
	}
}

// TestNote: what counts is what was sent between the two ends, whenever it comes.
func TestNote(t *testing.T) {
	r := &receiver{from: 100, after: make(chan struct{})}
	r.note(99, 500)  // sent too early
	r.note(100, 130) // 30
	r.to = 200
	r.note(200, 900) // 700, though it came after the end
	r.note(201, 201) // the first that was sent later
	r.note(202, 202)
	if len(r.waits) != 2 || r.waits[0] != 30 || r.waits[1] != 700 {
		t.Errorf("got waits of %d, want 30 and 700", r.waits)
	}
	select {
	case <-r.after:
	default:
		t.Error("a message was sent after the end and nobody is told")
	}
}

func TestCosts(t *testing.T) {
	costs, err := Costs(t.Context(), 20*time.Millisecond)
	if errors.Is(err, probe.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(costs) != 6 {
		t.Fatalf("got %d costs, want three intervals with and without evidence", len(costs))
	}
	for _, c := range costs {
		// Those of the process without a window are taken off, and the shortest look
		// has less than a slot.
		if c.Interval <= 0 || !(math.Abs(c.Allocs) <= 100) {
			t.Errorf("got %+v, want an interval and few allocations", c)
		}
	}
}
