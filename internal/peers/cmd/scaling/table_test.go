package main

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/internal/growth"
)

// TestWilson: against the published values of the interval for k of n.
func TestWilson(t *testing.T) {
	for _, tt := range []struct {
		k, n      int
		low, high float64
	}{
		{0, 500, 0, 0.0076},
		{5, 500, 0.0043, 0.0232},
		{495, 500, 0.9768, 0.9957},
		{500, 500, 0.9924, 1},
		{5, 10, 0.2366, 0.7634},
	} {
		low, high := wilson(tt.k, tt.n)
		if math.Abs(low-tt.low) > 5e-5 || math.Abs(high-tt.high) > 5e-5 {
			t.Errorf("%d of %d: got %.4f to %.4f, want %v to %v", tt.k, tt.n, low, high, tt.low, tt.high)
		}
	}
}

// of is a result with as many checks of each verdict.
func of(name string, grows, hogs bool, exceeds, within, unclear int) *result {
	r := &result{study: growing{name: name, grows: grows, hogs: hogs}}
	for v, n := range map[growth.Verdict]int{growth.Exceeds: exceeds, growth.Within: within, growth.Unclear: unclear} {
		for range n {
			r.add(growth.Result{Verdict: v, Share: 0.4, Rounds: 7}, 200*time.Millisecond, float64(4+n%3))
		}
	}
	return r
}

func TestTable(t *testing.T) {
	lame := of("lame", false, false, 0, 0, 0)
	lame.add(growth.Result{Why: "no clock"}, time.Second, 3)
	var got strings.Builder
	write(&got, []*result{of("linear", false, false, 1, 99, 0), of("quadratic", true, true, 18, 0, 2), lame})
	want := `# Sizes [625 1250 2500 5000 10000], at most n log n. An alarm is a verdict that it grows faster; its share in all checks
# is given with Wilson's interval of 95 %. "share" is what the checks measured of the time at the largest size that
# goes with n² log n: the 5th, 50th and 95th percentile. The last column is what a ratio over 5 of two single runs, of
# wall time at 10000 and at a quarter of it, would have flagged.

       case  beside it  checks  exceeds  within  unclear  not judged       alarms           share  rounds  a check takes  ratio > 5
     linear          –     100        1      99        0           0    0.2–5.4 %  40 / 40 / 40 %     7.0          200ms      0.0 %
  quadratic     2 hogs      20       18       0        2           0  69.9–97.2 %  40 / 40 / 40 %     7.0          200ms     10.0 %
       lame          –       1        0       0        0           1   0.0–79.3 %     0 / 0 / 0 %     0.0             1s      0.0 %
lame: not judged: no clock
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

// TestKept: a promise is kept or the case is named.
func TestKept(t *testing.T) {
	for want, r := range map[string]*result{
		"":                                 of("linear", false, false, 5, 495, 0),
		"linear: 6 false alarms in 500":    of("linear", false, false, 6, 494, 0),
		"quadratic: 494 of 500 checks":     of("quadratic", true, false, 494, 0, 6),
		"other: 0 of 1 checks found it":    of("other", true, false, 0, 1, 0),
		"garbage: 1 false alarms in 1 che": of("garbage", false, true, 1, 0, 0),
	} {
		if err := kept([]*result{r}); (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestCases: the operations do what their names say, in hashes.
func TestCases(t *testing.T) {
	names := map[string]bool{}
	for _, c := range cases() {
		key := c.name
		if c.hogs {
			key += " beside hogs"
		}
		if names[key] {
			t.Errorf("%s is there twice", key)
		}
		names[key] = true
		c.prepare(3)() // a size at which nothing is round
	}
	for _, want := range []string{"linear", "constant + linear", "n log n (sort)", "linear, GC-heavy", "linear + 50 % quadratic beside hogs", "constant + 50 % quadratic beside hogs"} {
		if !names[want] {
			t.Errorf("no case %q", want)
		}
	}
}

// TestHogs: they compute until they are ended, and end.
func TestHogs(t *testing.T) {
	end, err := hog(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	end()
}

func TestMain(m *testing.M) {
	if hogging() {
		return
	}
	m.Run()
}
