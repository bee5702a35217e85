package inject

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		if err := Serve(countHolds); err != nil {
			os.Stdout.WriteString("ready\n" + err.Error() + "\n")
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// countHolds measures 40, and one more for the beginning and for the end of the
// operation that holds the loop.
func countHolds(func(func())) Meter {
	n := 40
	return Meter{
		Begin: func(name string) (end func()) {
			if name == "compact" {
				n++
			}
			return func() { n++ }
		},
		End: func() any { return n },
	}
}

// A child's result arrives, and so does what is wrong with one.
func TestRun(t *testing.T) {
	none := func() func(time.Duration) { return func(time.Duration) {} }
	var got int
	before := time.Now().Round(0) // the wall clock
	span, err := Family{Name: "lock", inside: none}.Run(exec.Command(os.Args[0]), time.Millisecond, &got)
	if err != nil || got != 42 {
		t.Errorf("got %d, %v, want 42", got, err)
	}
	if span.From.Before(before) || span.To.Sub(span.From) < time.Millisecond {
		t.Errorf("got an injection of %v, want a millisecond after %v", span, before)
	}
	_, err = Family{Name: "nonsense"}.Run(exec.Command(os.Args[0]), time.Millisecond, &got)
	if err == nil || !strings.Contains(err.Error(), "no family") {
		t.Errorf("got %v, want what the child could not do", err)
	}
	if _, err := (Family{Name: "lock"}).Run(exec.Command("/nonexistent/program"), time.Millisecond, &got); err == nil {
		t.Error("got no error of a child that does not start")
	}
}

// Names are in the child's environment, so that a colon would cut them.
func TestFamilies(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Families() {
		if f.Name == "" || f.Cause == "" || strings.Contains(f.Name, ":") || seen[f.Name] {
			t.Errorf("%+v: want a name of its own and a cause", f)
		}
		seen[f.Name] = true
		if f.inside == nil && f.loop == nil && f.outside == nil {
			t.Errorf("%s: nothing stalls it", f.Name)
		}
		if (f.loop != nil) != (f.Holder != "") {
			t.Errorf("%s: got the holder %q, want one of a loop and of nothing else", f.Name, f.Holder)
		}
	}
}

func TestOverlap(t *testing.T) {
	at := func(ms int) time.Time { return time.UnixMilli(int64(ms)) }
	s := Span{at(100), at(300)}
	for _, tt := range []struct{ from, to, want int }{
		{150, 200, 50}, {0, 150, 50}, {250, 400, 50}, {0, 1000, 200}, {0, 50, 0}, {400, 500, 0},
	} {
		if got := s.Overlap(at(tt.from), at(tt.to)).Milliseconds(); got != int64(tt.want) {
			t.Errorf("from %d to %d: got %d ms, want %d", tt.from, tt.to, got, tt.want)
		}
	}
}
