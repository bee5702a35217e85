package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/internal/inject"
	"github.com/tidestaff/tidestaff/lag"
	"github.com/tidestaff/tidestaff/probe"
)

func TestMatrix(t *testing.T) {
	of := func(family, want string, causes ...lag.Cause) outcome {
		o := outcome{family: family, want: want, length: 300 * time.Millisecond}
		for _, c := range causes {
			o.stall.Causes = append(o.stall.Causes, lag.RankedCause{Cause: c})
		}
		return o
	}
	s := results{
		outcomes: []outcome{
			of("sigstop", "process stopped", lag.CauseStopped), of("sigstop", "process stopped", lag.CauseStopped, lag.CauseHost),
			of("cpu", "CPU-bound goroutines", lag.CauseHost, lag.CauseCPU), of("cpu", "CPU-bound goroutines"),
		},
		lacks: map[string]string{"quota": "no cgroup"},
	}
	var b strings.Builder
	s.matrix(&b)
	want := `A = CPU-bound goroutines
B = other processes on the host
C = process stopped

  injected    A  B    C  no stall  right  but for the host
   sigstop    ·  ·  [2]         ·  100 %             100 %
       cpu  [·]  1    ·         1    0 %             100 %
quota was not injected: no cgroup
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("matrix (-want +got):\n%s", diff)
	}
}

// A family fails with less than 95 % right, a loop's also without its holder, and one
// that was never a stall. One that could not be injected does not.
func TestJudge(t *testing.T) {
	many := func(family string, right, wrong, none int) (all []outcome) {
		for i := range right + wrong + none {
			o := outcome{family: family, want: "process stopped"}
			switch {
			case i < right:
				o.stall.Causes = []lag.RankedCause{{Cause: lag.CauseStopped}}
			case i < right+wrong:
				o.stall.Causes = []lag.RankedCause{{Cause: lag.CauseHost}, {Cause: lag.CauseStopped}}
			}
			all = append(all, o)
		}
		return all
	}
	held := outcome{family: "lock", want: "waiting in the application", holder: "compact"}
	held.stall.Causes = []lag.RankedCause{{Cause: lag.CauseApplication}}
	bare := held
	held.stall.Overlaps = []probe.Overlap{{Name: "compact"}}
	for name, tt := range map[string]struct {
		outcomes []outcome
		want     string
	}{
		"all right":      {many("sigstop", 3, 0, 0), ""},
		"19 of 20":       {many("sigstop", 19, 1, 0), ""},
		"19 of 19":       {many("sigstop", 19, 0, 1), ""},
		"18 of 20":       {slices.Concat(many("sigstop", 18, 2, 0), many("freezer", 20, 0, 0)), "right first causes, want at least 95 %: sigstop 18 of 20"},
		"none":           {many("sigstop", 0, 0, 3), "right first causes, want at least 95 %: sigstop 0 of 0"},
		"with holder":    {[]outcome{held}, ""},
		"without holder": {[]outcome{bare}, "right first causes, want at least 95 %: lock 0 of 1"},
		"not injected":   {nil, ""},
	} {
		got := ""
		if err := (results{outcomes: tt.outcomes, lacks: map[string]string{"quota": "no cgroup"}}).judge(); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
	if got := bare.first() + "; " + bare.firstButHost(); got != "waiting in the application, holder not in flight; waiting in the application, holder not in flight" {
		t.Errorf("got %q, want what is missing", got)
	}
}

// The stall that counts is the one that overlaps the injection most, not the
// longest, and one that overlaps little of it is none.
func TestInjected(t *testing.T) {
	at := func(ms int) time.Time { return time.UnixMilli(int64(ms)) }
	stall := func(from, to int) lag.Stall {
		return lag.Stall{Start: at(from), Duration: at(to).Sub(at(from)), Text: at(from).String()}
	}
	span := inject.Span{From: at(1000), To: at(1300)}
	for name, tt := range map[string]struct {
		stalls []lag.Stall
		want   int // its start, 0 for none
	}{
		"none":                  {nil, 0},
		"the longest elsewhere": {[]lag.Stall{stall(100, 900), stall(1010, 1290)}, 1010},
		"most of two":           {[]lag.Stall{stall(900, 1150), stall(1151, 1310)}, 900},
		"less than half":        {[]lag.Stall{stall(900, 1149)}, 0},
	} {
		if got := injected(tt.stalls, span, 300*time.Millisecond); tt.want == 0 && got.Duration != 0 || tt.want != 0 && !got.Start.Equal(at(tt.want)) {
			t.Errorf("%s: got the stall at %v, %v, want %d", name, got.Start.UnixMilli(), got.Duration, tt.want)
		}
	}
}
