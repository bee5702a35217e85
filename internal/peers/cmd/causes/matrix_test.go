package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/internal/inject"
	"github.com/tidestaff/tidestaff/lag"
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
