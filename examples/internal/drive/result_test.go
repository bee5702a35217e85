package drive_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidestaff/tidestaff/examples/internal/drive"
	"github.com/tidestaff/tidestaff/probe"
)

// TestSampleSizes: what is told of 1, 19, 20, 99 and 100 samples.
func TestSampleSizes(t *testing.T) {
	for _, n := range []int{1, 19, 20, 99, 100} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				p := play(t, t.Context(), drive.Options{}, drive.User{Activities: []drive.Activity{
					{Name: "op", Rate: 1, Count: n, Do: func(ctx context.Context) error {
						return sleep(ctx, time.Since(start)/1000) // 0 ms, 1 ms, 2 ms, …
					}}}})
				for _, got := range []drive.Latency{p.results["op"].Response, p.results[drive.All].Response} {
					p95, has95 := got.P95()
					p99, has99 := got.P99()
					if has95 != (n >= 20) || has99 != (n >= 100) {
						t.Errorf("p95 %v, p99 %v", has95, has99)
					}
					if has95 && math.Abs(p95.Seconds()/(0.95*float64(n)/1000)-1) > 0.06 {
						t.Errorf("p95 = %v of 0 to %d ms", p95, n-1)
					}
					if want := time.Duration(n-1) * ms; got.N != uint64(n) || got.Max != want || p99 > want {
						t.Errorf("got %v, want n=%d and the maximum %v", got, n, want)
					}
					for part, want := range map[string]bool{"p95": has95, "p99": has99, fmt.Sprintf("(n=%d)", n): true} {
						if strings.Contains(got.String(), part) != want {
							t.Errorf("%q in %q, want %v", part, got, want)
						}
					}
				}
			})
		})
	}
}

// TestResultsOfAll: all operations together.
func TestResultsOfAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fail := func(err error) func(context.Context) error { return func(context.Context) error { return err } }
		p := play(t, t.Context(), drive.Options{Seed: 1<<63 + 1, For: 10 * time.Second}, drive.User{Activities: []drive.Activity{
			{Name: "b", Rate: 2, Do: fail(drive.Wrong(errors.New("not it")))},
			{Name: "a", Rate: 3, Do: nothing},
			{Name: "c", Rate: 1, Do: fail(errors.New("broken"))},
		}})
		var names []string
		for _, r := range drive.ResultsOf(p.reading) {
			names = append(names, r.Operation)
		}
		if diff := cmp.Diff([]string{drive.All, "a", "b", "c"}, names); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
		all := p.results[drive.All]
		if all.Due != 60 || all.Response.N != 60 || all.Offered != 6 || all.Failed() != 30 {
			t.Errorf("all = %+v, want 60 due, 6 a second, 30 failed", all)
		}
		want := []drive.Failure{{Class: drive.ClassOther, N: 10}, {Class: drive.ClassWrong, N: 20}}
		if diff := cmp.Diff(want, all.Failures); diff != "" {
			t.Errorf("failures (-want +got):\n%s", diff)
		}
		for m := range p.reading.Find("drive.seed") {
			if got := m.Attr("drive.seed"); got != "9223372036854775809" {
				t.Errorf("seed = %q", got)
			}
		}
	})
	if got := drive.ResultsOf(new(probe.Reading)); got != nil {
		t.Errorf("results of nothing = %v", got)
	}
}

// TestTiledByNext: a report tiles its curve while the run goes on.
func TestTiledByNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := drive.New(drive.Options{For: 10 * time.Second})
		d.Add(drive.User{Activities: []drive.Activity{{Name: "op", Rate: 10, Do: nothing}}})
		w, err := d.Watch()
		if err != nil {
			t.Fatal(err)
		}
		go d.Run(t.Context())
		var n uint64
		var r probe.Reading
		for range 12 {
			time.Sleep(990 * ms)
			w.Next(&r)
			n += drive.ResultsOf(&r)[0].Response.N
		}
		w.Close()
		if n != 100 {
			t.Errorf("%d operations in all intervals, want 100", n)
		}
		if got := d.Progress(); got.End != drive.EndDone {
			t.Errorf("progress = %+v", got)
		}
	})
}
