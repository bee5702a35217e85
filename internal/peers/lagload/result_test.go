package lagload

import (
	"math"
	"runtime/metrics"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const ms = 1_000_000

// TestJudge shows that each limit can be broken, on either side.
func TestJudge(t *testing.T) {
	limits := []Limits{{"lag queue", 3, 2}}
	for _, tt := range []struct {
		name            string
		p50, p99        int64 // of lag, in ms; the truth is 10 and 100
		judged, present bool
		want            []bool
	}{
		{"the same", 10, 100, true, true, []bool{true}},
		{"at the limits", 30, 200, true, true, []bool{true}},
		{"at the lower limits", 4, 50, true, true, []bool{true}},
		{"high median", 31, 100, true, true, []bool{false}},
		{"low median", 3, 100, true, true, []bool{false}},
		{"high tail", 10, 201, true, true, []bool{false}},
		{"low tail", 10, 49, true, true, []bool{false}},
		{"a bare timer", 0, 0, true, true, []bool{false}},
		{"missing", 0, 0, true, false, []bool{false}},
		{"idle", 0, 0, false, true, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := Run{Load: "some", Judged: tt.judged, Series: []Series{{Reader: "tcp", N: 9, P50: 10 * ms, P99: 100 * ms}}}
			if tt.present {
				r.Series = append(r.Series, Series{Reader: "lag queue", N: 9, P50: tt.p50 * ms, P99: tt.p99 * ms})
			}
			var got []bool
			for _, v := range r.Judge(limits) {
				got = append(got, v.OK)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("verdicts (-want +got):\n%s", diff)
			}
		})
	}
}

// TestInconclusive: a machine that is too busy excuses nothing that was kept.
func TestInconclusive(t *testing.T) {
	for _, tt := range []struct {
		ok           bool
		waited       float64
		inconclusive bool
		word         string
	}{
		{true, 0.9, false, ": ok"}, {true, 0, false, ": ok"}, {false, 0.4, false, ": FAILED"}, {false, math.NaN(), false, ": FAILED"},
		{false, 0.63, true, ": INCONCLUSIVE, others had the processors for 63 % of the time"},
	} {
		v := Verdict{OK: tt.ok, Waited: tt.waited}
		if v.Inconclusive() != tt.inconclusive || !strings.HasSuffix(v.String(), tt.word) {
			t.Errorf("%+v: got inconclusive %t and %q, want %t and %q", tt, v.Inconclusive(), v, tt.inconclusive, tt.word)
		}
	}
}

func TestWriteRuns(t *testing.T) {
	runs := []Run{{Load: "some", Judged: true, Waited: 0.07, Series: []Series{
		{Reader: "tcp", N: 9, P50: 10 * ms, P99: 100 * ms, Max: 120 * ms},
		{Reader: "lag queue", N: 8, P50: 15 * ms, P99: 90 * ms, Max: 130 * ms},
		{Reader: "lag total", N: 8, P50: 50 * ms, P99: 100 * ms, Max: 130 * ms},
		{Reader: "now-now-P", N: 8, P50: -2 * ms, P99: ms / 20, Max: ms},
		{Reader: "sched/latencies"},
	}}}
	var text strings.Builder
	failed, err := WriteRuns(&text, runs, Promised)
	if err != nil || failed != 1 {
		t.Errorf("got %d failed and error %v, want one failed", failed, err)
	}
	got := text.String()
	for _, want := range []string{
		"tcp 9 10.00 100 120 1.00 1.00",
		"lag queue 8 15.00 90.00 130 1.50 0.90",
		"now-now-P 8 -2.00 0.05 1.00 -0.20 0.0005",
		"sched/latencies 0 - - - - -",
		"some: others had the processors for 7 % of the time that the process wanted them",
		"some, lag queue: 1.50 times tcp at p50 (limit 3), 0.90 at p99 (limit 2): ok",
		"some, lag total: 5.00 times tcp at p50 (limit 4), 1.00 at p99 (limit 3): FAILED",
	} {
		if !strings.Contains(strings.Join(strings.Fields(got), " "), want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestWriteCosts(t *testing.T) {
	var text strings.Builder
	err := WriteCosts(&text, []Cost{{Interval: 50 * ms, Evidence: true, Idle: 0.005, IdleTick: 250_000, Bare: 0.0025, Busy: 0.001, BusyTick: 50_000, Allocs: 1.5}})
	if want := "50ms true 0.50 250.0 0.25 2.0 0.10 50.0 1.50"; err != nil || !strings.Contains(strings.Join(strings.Fields(text.String()), " "), want) {
		t.Errorf("got error %v and\n%s\nwant %q", err, text.String(), want)
	}
}

// TestSchedSeries: what was there before does not count, and the last bucket has
// no upper end.
func TestSchedSeries(t *testing.T) {
	buckets := []float64{0, 0.001, 0.010, 0.100, math.Inf(1)}
	before := &metrics.Float64Histogram{Counts: []uint64{5, 0, 7, 0}, Buckets: buckets}
	after := &metrics.Float64Histogram{Counts: []uint64{5, 60, 46, 1}, Buckets: buckets}
	got := schedSeries(before, after)
	want := Series{Reader: "sched/latencies", N: 100, P50: 10 * ms, P99: 100 * ms, Max: 100 * ms}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("gained (-want +got):\n%s", diff)
	}
	if got := schedSeries(nil, after); got.N != 0 {
		t.Errorf("without a base: got %+v, want nothing", got)
	}
}

func TestSeriesOf(t *testing.T) {
	var values []int64
	for i := int64(200); i > 0; i-- {
		values = append(values, i)
	}
	want := Series{Reader: "x", N: 200, P50: 100, P99: 198, Max: 200}
	if diff := cmp.Diff(want, seriesOf("x", values)); diff != "" {
		t.Errorf("seriesOf (-want +got):\n%s", diff)
	}
}
