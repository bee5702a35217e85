package lag

import (
	"cmp"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/internal/inject"
	"github.com/tidestaff/tidestaff/probe"
)

// A result is what a child has measured.
type result struct {
	Stats Stats
	// Least and Most are how many slots were due: those between Watch's return
	// and Close certainly, those before Watch and after Close certainly not.
	Least, Most uint64
	Closed      time.Duration // how long Close took
	Stalls      []Stall
}

// longest is the longest stall, or none.
func (r result) longest() (s Stall) {
	if len(r.Stalls) > 0 {
		s = slices.MaxFunc(r.Stalls, func(a, b Stall) int { return cmp.Compare(a.Duration, b.Duration) })
	}
	return s
}

// TestChild is not a test of its own but the child of an injection.
func TestChild(t *testing.T) {
	if !inject.Child() {
		return
	}
	err := inject.Serve(func(through func(beat func())) inject.Meter {
		p, ops := New(Options{Interval: 10 * ms, Threshold: 50 * ms, Through: through}), new(probe.Ops)
		begin := func(name string) (end func()) {
			_, op := ops.Begin(probe.WithRole(t.Context(), "background"), name)
			return func() { op.End(nil) }
		}
		before := time.Now()
		w := watch2(t, p, ops)
		opened := time.Now()
		return inject.Meter{Begin: begin, End: func() any {
			closing := time.Now()
			least := uint64(closing.Sub(opened) / p.interval)
			r := w.Close()
			res := result{Least: least, Most: uint64(time.Since(before)/p.interval) + 1, Closed: time.Since(closing), Stalls: StallsOf(r)}
			if through != nil {
				res.Stats = loopStats(t, r)
			} else {
				res.Stats = wantStats(t, r)
			}
			return res
		}}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Each family of stalls is injected for real, and the first cause is right; with that
// of a loop, whose operation it is that holds it. On a
// machine that does other things at the same time these are a cause too, and
// rightly so: of a stall from inside, others on the host, or in a quota that this
// test shares with them, do not count here. Nor does a try in which they had much
// of the CPU and that was wrong. Of the others two more must be right than wrong,
// which is mostly the first two, or more of ten tries; if these are few the test
// says nothing. How often each is right is for the study in internal/peers.
func TestCauses(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes and stalls them for seconds")
	}
	for _, f := range inject.Families() {
		t.Run(f.Name, func(t *testing.T) {
			right, wrong := 0, 0
			for tries := 0; tries < 10 && right < wrong+2; tries++ {
				got, ok := injectOne(t, f)
				switch {
				case !ok:
				case firstCause(got, f.Cause) == f.Cause && held(got, f.Holder):
					right++
				case !slices.ContainsFunc(got.Causes, func(c RankedCause) bool { return fromOutside(c.Cause) && c.Weight > 0.2 }):
					wrong++
				}
			}
			switch {
			case right > wrong:
			case right+wrong < 5:
				t.Skipf("inconclusive: others had much of the CPU in all but %d of 10 tries", right+wrong)
			default:
				t.Errorf("the first cause was %q %d times, and another one %d times", f.Cause, right, wrong)
			}
		})
	}
}

// injectOne injects a stall and returns what was seen; false if it did not happen.
func injectOne(t *testing.T, f inject.Family) (Stall, bool) {
	t.Helper()
	var r result
	_, err := f.Run(exec.Command(os.Args[0], "-test.run=^TestChild$"), 300*ms, &r)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		t.Skip(err)
	case errors.Is(err, inject.ErrMissed):
		t.Log(err)
		return Stall{}, false
	case err != nil:
		t.Fatal(err)
	}
	if s := r.Stats; s.Slots > r.Most || r.Closed < time.Second && min(s.Slots, s.Total.Count) < r.Least { // Close waits for a second
		t.Fatalf("got %d slots, %d served, want %d to %d", s.Slots, s.Total.Count, r.Least, r.Most)
	}
	t.Log(r.longest().Text)
	return r.longest(), true
}

// firstCause is a stall's first cause, those left out that others are to blame for
// unless they are wanted.
func firstCause(s Stall, want string) string {
	for _, c := range s.Causes {
		if !fromOutside(c.Cause) || want == string(c.Cause) {
			return string(c.Cause)
		}
	}
	return ""
}

// held tells whether the operation that holds the loop up is in flight in a stall's
// sentence, if there is one.
func held(s Stall, holder string) bool {
	return holder == "" || strings.Contains(s.Text, "; in flight: "+holder+" on background, ")
}

// fromOutside tells whether others may have caused it.
func fromOutside(c Cause) bool { return c == CauseHost || c == CauseThrottled }
