package report

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
)

// Metrics of every class, as a probe would describe them.
var (
	exactDesc = &probe.Desc{Name: "x.queries", Unit: "{query}", Kind: probe.KindCounter,
		Bench: []probe.Bench{{Unit: "queries/op", Stat: "value", PerOp: true, Better: "lower", Exact: true}}}
	cpuDesc = &probe.Desc{Name: "x.cpu.time", Unit: "s", Kind: probe.KindCounter,
		Bench: []probe.Bench{{Unit: "cpu-ns/op", Stat: "value", PerOp: true, Better: "lower"}}}
	waitDesc = &probe.Desc{Name: "x.wait", Unit: "s", Kind: probe.KindCounter,
		Bench: []probe.Bench{{Unit: "wait-ns", Stat: "value", Better: "lower"}}}
	peakDesc = &probe.Desc{Name: "x.peak", Unit: "By", Kind: probe.KindPeak,
		Bench: []probe.Bench{{Unit: "peak-bytes", Stat: "value", Better: "lower"}}}
	rateDesc = &probe.Desc{Name: "x.served", Unit: "{request}/s", Kind: probe.KindGauge,
		Bench: []probe.Bench{{Unit: "req/s", Stat: "value", Better: "higher"}}}
	plainDesc = &probe.Desc{Name: "x.plain", Unit: "{thing}", Kind: probe.KindCounter}
)

// one is a run on a quiet machine with one value.
func one(d *probe.Desc, v float64) *Report {
	zero := 0.0
	r := &Report{Name: d.Name, Operations: 1, Host: Host{OthersCPU: &zero}, Duration: time.Second}
	r.reading.Metrics = []probe.Metric{{Desc: d, Value: v}}
	return r
}

// turns makes two sides of repeats that were interleaved, A B B A.
func turns(d *probe.Desc, before, after []float64) (b, a *Report) {
	var runs [2][]*Report
	start := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for i := range max(len(before), len(after)) {
		for k, side := range [][]float64{before, after} {
			if i >= len(side) {
				continue
			}
			r := one(d, side[i])
			r.Started = start.Add(time.Duration(4*i+(k+i)%2) * time.Second)
			runs[k] = append(runs[k], r)
		}
	}
	return Repeat("before", runs[0]...), Repeat("after", runs[1]...)
}

// verdict compares two sides of one metric.
func verdict(t *testing.T, b, a *Report, opts CompareOptions) Change {
	t.Helper()
	c := Compare(b, a, opts)
	if len(c.Changes) != 1 {
		t.Fatalf("got %d changes, want 1", len(c.Changes))
	}
	if c.Worse() != (c.Changes[0].Verdict == Worse) {
		t.Errorf("Worse says %v", c.Worse())
	}
	return c.Changes[0]
}

func TestVerdicts(t *testing.T) {
	five := func(v float64) []float64 { return []float64{v * 0.98, v * 0.99, v, v * 1.01, v * 1.02} }
	for _, tt := range []struct {
		name          string
		d             *probe.Desc
		before, after []float64
		want          Verdict
		reason        string
	}{
		{"an exact count", exactDesc, []float64{8}, []float64{8}, Same, ""},
		{"one query more", exactDesc, []float64{8}, []float64{9}, Worse, "counted exactly"},
		{"one query less", exactDesc, []float64{8, 8}, []float64{7, 7}, Improved, "counted exactly"},
		{"from none", exactDesc, []float64{0}, []float64{1}, Worse, "counted exactly"},
		{"an exact count that varies", exactDesc, []float64{8, 9}, []float64{9, 8}, Same, "varies between the runs of before"},
		{"or in the other side", exactDesc, []float64{8, 8}, []float64{9, 8}, Unclear, "varies between the runs of after; the runs of the two sides overlap; 5 interleaved"},
		{"a part of an operation", exactDesc, []float64{8.25}, []float64{8.5}, Same, "is not whole per operation; by less than 5 %"},

		{"CPU by less than the floor", cpuDesc, []float64{1}, []float64{1.04}, Same, "by less than 5 %"},
		{"CPU by more", cpuDesc, []float64{1}, []float64{1.2}, Worse, "unrepeated"},
		{"CPU by half", cpuDesc, []float64{2}, []float64{0.9}, Improved, "large, unrepeated"},
		{"CPU, repeated", cpuDesc, five(1), five(1.2), Worse, "p = 0.0079"},
		{"CPU, repeated, by chance", cpuDesc, []float64{1, 1.3, 1.1, 1.2, 1}, []float64{1.2, 1.1, 1.4, 1.5, 1.1}, Unclear, "it may be chance"},
		{"four runs a side", cpuDesc, five(1)[:4], five(1.2)[:4], Worse, "unrepeated"},

		{"one time", waitDesc, []float64{1}, []float64{1.5}, Unclear, "unrepeated; 5 interleaved runs a side can tell"},
		{"one time, doubled", waitDesc, []float64{1}, []float64{2.5}, Worse, "large, unrepeated"},
		{"times", waitDesc, five(1), five(1.2), Worse, "p = 0.0079"},
		{"times within the floor", waitDesc, five(1), five(1.09), Same, "by less than 10 %"},
		{"one peak", peakDesc, []float64{100}, []float64{140}, Unclear, "unrepeated"},
		{"a rate that falls", rateDesc, five(1000), five(700), Worse, "p = 0.0079"},
		{"a rate that rises", rateDesc, five(700), five(1000), Improved, "p = 0.0079"},
		{"values that are all the same", waitDesc, []float64{1, 1, 1}, []float64{1, 1, 1}, Same, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, a := turns(tt.d, tt.before, tt.after)
			c := verdict(t, b, a, CompareOptions{})
			if c.Verdict != tt.want || !strings.Contains(c.Reason, tt.reason) || tt.reason == "" && c.Reason != "" {
				t.Errorf("got %q because %q, want %q because %q", c.Verdict, c.Reason, tt.want, tt.reason)
			}
		})
	}
}

// A total is compared only if somebody says that the work was the same.
func TestTotals(t *testing.T) {
	for _, tt := range []struct {
		d             *probe.Desc
		before, after float64
		opts          CompareOptions
		want          Verdict
	}{
		{exactDesc, 100, 100, CompareOptions{}, Same},
		{exactDesc, 100, 101, CompareOptions{}, Unclear},
		{exactDesc, 100, 101, CompareOptions{SameWork: true}, Worse},
		{cpuDesc, 1, 9, CompareOptions{}, Unclear},
		{cpuDesc, 1, 9, CompareOptions{SameWork: true}, Worse},
		{peakDesc, 1, 9, CompareOptions{}, Worse}, // nobody would divide it
	} {
		b, a := one(tt.d, tt.before), one(tt.d, tt.after)
		b.Operations = 0
		if c := verdict(t, b, a, tt.opts); c.Verdict != tt.want {
			t.Errorf("%s from %v to %v, %+v: got %q because %q, want %q", tt.d.Name, tt.before, tt.after, tt.opts, c.Verdict, c.Reason, tt.want)
		}
	}
}

// Without a direction a change is a change, and the command line can give one.
func TestDirection(t *testing.T) {
	b, a := one(plainDesc, 100), one(plainDesc, 300)
	if c := Compare(b, a, CompareOptions{}); len(c.Changes) != 0 {
		t.Errorf("a metric that no benchmark reports was compared: %+v", c.Changes)
	}
	for better, want := range map[string]Verdict{"": Unclear, "lower": Worse, "higher": Improved} {
		opts := CompareOptions{Metrics: []string{plainDesc.Name}, Better: map[string]string{plainDesc.Name: better}}
		if c := verdict(t, b, a, opts); c.Verdict != want {
			t.Errorf("better %q: got %q (%s), want %q", better, c.Verdict, c.Reason, want)
		}
	}
}

// What stands in the way of a verdict.
func TestObstacles(t *testing.T) {
	five, more := []float64{1, 1.01, 1.02, 1.03, 1.04}, []float64{2, 2.01, 2.02, 2.03, 2.04}
	loud := 0.5
	for _, tt := range []struct {
		name   string
		d      *probe.Desc
		change func(b, a *Report)
		want   Verdict
		reason string
	}{
		{"nothing", waitDesc, func(_, _ *Report) {}, Worse, "p ="},
		{"another GOMAXPROCS", waitDesc, func(b, a *Report) {
			b.Runs[0].Provenance, a.Runs[4].Provenance = Provenance{Go: "x", GOMAXPROCS: 1}, Provenance{Go: "x", GOMAXPROCS: 2}
		}, NotComparable, "GOMAXPROCS differs: 1 and 2"},
		{"a memory limit", waitDesc, func(b, a *Report) {
			b.Runs[0].Provenance, a.Runs[0].Provenance = Provenance{Go: "x"}, Provenance{Go: "x", Cgroup: &Cgroup{Memory: 1}}
		}, NotComparable, "memory limit of the cgroup differs: 0 and 1"},
		{"of which counts know nothing", exactDesc, func(b, a *Report) {
			b.Runs[0].Provenance, a.Runs[0].Provenance = Provenance{Go: "x"}, Provenance{Go: "x", Race: true}
			for i := range b.Runs {
				b.Runs[i].reading.Metrics[0].Value, a.Runs[i].reading.Metrics[0].Value = 2, 3
			}
		}, Worse, "counted exactly"},
		{"other data", exactDesc, func(b, a *Report) {
			b.Runs[0].Conditions.Add("rows", 100, "{row}")
			a.Runs[0].Conditions.Add("rows", 200, "{row}")
		}, NotComparable, "rows is 100 against 200"},
		{"nearly the same data", waitDesc, func(b, a *Report) {
			b.Runs[0].Conditions.Add("rows", 100, "{row}")
			a.Runs[0].Conditions.Add("rows", 101, "{row}")
			b.Runs[0].Conditions.Add("db", 1, "By")
			a.Runs[0].Conditions.Add("db", 1<<20, "By")
		}, Worse, "p ="},
		{"another flag", waitDesc, func(b, a *Report) {
			b.Conditions.Set("-mode", "wal")
			a.Conditions.Set("-mode", "delete")
		}, NotComparable, "-mode is wal against delete"},
		{"a flag that is ignored", waitDesc, func(b, a *Report) {
			b.Runs[0].Conditions.Set("-ignored", "wal")
			a.Runs[0].Conditions.Set("-ignored", "delete")
		}, Worse, "p ="},
		{"runs one after the other", waitDesc, func(b, a *Report) {
			for _, r := range a.Runs {
				r.Started = r.Started.Add(time.Hour)
			}
		}, Unclear, "not interleaved"},
		{"as memory may be", peakDesc, func(b, a *Report) {
			for _, r := range a.Runs {
				r.Started = r.Started.Add(time.Hour)
			}
		}, Worse, "p ="},
		{"excluded runs", waitDesc, func(b, a *Report) {
			for _, r := range a.Runs[1:] {
				r.Excluded = "the disk was full"
			}
		}, Unclear, "unrepeated"},
		{"all runs excluded", waitDesc, func(b, a *Report) {
			for _, r := range a.Runs {
				r.Excluded = "the disk was full"
			}
		}, NotComparable, "no run of one side counts"},
		{"few runs on a busy machine", waitDesc, func(b, a *Report) {
			b.Runs, a.Runs = b.Runs[:2], a.Runs[:2]
			a.Runs[1].Host.OthersCPU = &loud
		}, Unclear, "noise: others used 50 % of the CPUs"},
		{"a rate that was not achieved", waitDesc, func(b, a *Report) {
			r := &a.Runs[0].reading
			r.Metrics = append(r.Metrics, probe.Metric{Desc: &probe.Desc{Name: "x.rate.offered", Kind: probe.KindGauge}, Value: 100},
				probe.Metric{Desc: &probe.Desc{Name: "x.rate.achieved", Kind: probe.KindGauge}, Value: 80})
		}, Worse, "saturated: 80 % of the offered rate was achieved"},
		{"another load", waitDesc, func(b, a *Report) {
			for i, r := range []*Report{b.Runs[0], a.Runs[0]} {
				r.reading.Metrics = append(r.reading.Metrics, probe.Metric{Desc: &probe.Desc{Name: "x.rate.offered", Kind: probe.KindGauge}, Value: float64(100 * (i + 1))},
					probe.Metric{Desc: &probe.Desc{Name: "x.rate.achieved", Kind: probe.KindGauge}, Value: float64(100 * (i + 1))})
			}
		}, NotComparable, "the offered rate differs: 100/s to 200/s"},
		{"one side alone", waitDesc, func(b, a *Report) {
			for _, r := range a.Runs {
				r.reading.Metrics = nil
			}
		}, NotComparable, "only in before"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, a := turns(tt.d, five, more)
			tt.change(b, a)
			c := verdict(t, b, a, CompareOptions{Ignore: []string{"-ignored"}})
			if c.Verdict != tt.want || !strings.Contains(c.Reason, tt.reason) {
				t.Errorf("got %q because %q, want %q because %q", c.Verdict, c.Reason, tt.want, tt.reason)
			}
		})
	}
}

// A mean over operations is exact where all of them had the same.
func TestExactMean(t *testing.T) {
	of := func(counts ...int64) *Report {
		var core probe.Core
		w, err := core.Watch()
		if err != nil {
			t.Fatal(err)
		}
		r := core.Recorder(&probe.Desc{Name: "x.queries", Unit: "{query}", Help: "x",
			Bench: []probe.Bench{{Unit: "queries/op", Stat: "mean", Better: "lower", Exact: true}}})
		for _, n := range counts {
			r.Record(n)
		}
		return Of(w.Close())
	}
	for _, tt := range []struct {
		before, after []int64
		want          Verdict
	}{
		{[]int64{8, 8, 8}, []int64{8, 8}, Same},
		{[]int64{8, 8, 8}, []int64{9, 9}, Worse},
		{[]int64{3000}, []int64{3001}, Worse}, // beyond what the buckets resolve
		{[]int64{8, 8, 8}, []int64{8, 9, 8}, Same},
		{[]int64{3, 4}, []int64{4, 5}, Unclear},
		{[]int64{3, 4}, []int64{40, 50}, Worse},
	} {
		if c := verdict(t, of(tt.before...), of(tt.after...), CompareOptions{}); c.Verdict != tt.want {
			t.Errorf("%v, %v: got %q because %q, want %q", tt.before, tt.after, c.Verdict, c.Reason, tt.want)
		}
	}
}

// TestAlike compares variants that are the same, 5 runs a side, under noise that
// is far from normal: exact counts are never worse, other numbers in at most 1 %.
func TestAlike(t *testing.T) {
	const trials = 4000
	rng := rand.New(rand.NewPCG(2026, 11))
	for _, d := range []*probe.Desc{exactDesc, cpuDesc, waitDesc, peakDesc, rateDesc} {
		spread := map[*probe.Desc]float64{exactDesc: 0, cpuDesc: 0.15, waitDesc: 0.8, peakDesc: 0.3, rateDesc: 0.3}[d]
		draw := func() []float64 {
			vs := make([]float64, 5)
			for i := range vs {
				vs[i] = math.Round(1e6 * math.Exp(spread*rng.NormFloat64()))
				if spread > 0 && rng.IntN(5) == 0 {
					vs[i] *= 5 // somebody else's build
				}
			}
			return vs
		}
		counts := map[Verdict]int{}
		for range trials {
			b, a := turns(d, draw(), draw())
			counts[verdict(t, b, a, CompareOptions{}).Verdict]++
		}
		limit := trials / 100
		if d == exactDesc {
			limit = 0
		}
		if counts[Worse] > limit {
			t.Errorf("%s: worse in %d of %d comparisons of what is the same, want at most %d", d.Name, counts[Worse], trials, limit)
		}
		if d != exactDesc && counts[Worse] == 0 {
			t.Errorf("%s: never worse, so that this test shows nothing", d.Name)
		}
	}
}

// TestDifferent finds what is there: with a noise of 20 %, five runs of twice the
// time.
func TestDifferent(t *testing.T) {
	rng := rand.New(rand.NewPCG(2026, 12))
	found := 0
	const trials = 500
	for range trials {
		draw := func(v float64) []float64 {
			vs := make([]float64, 5)
			for i := range vs {
				vs[i] = v * math.Exp(0.2*rng.NormFloat64())
			}
			return vs
		}
		b, a := turns(waitDesc, draw(1), draw(2))
		if verdict(t, b, a, CompareOptions{}).Verdict == Worse {
			found++
		}
	}
	if found < trials*95/100 {
		t.Errorf("twice the time found in %d of %d comparisons, want 95 %%", found, trials)
	}
}

func TestInterleaved(t *testing.T) {
	for turns, want := range map[string]bool{
		"ab": true, "abba": true, "abbaabbaab": true, "aabbaabb": true, "aaaaabbbbb": false, "aaaabbbbb": false, "bbbaaa": false,
	} {
		var before, after []*Report
		for i, c := range turns {
			r := &Report{Started: time.Unix(int64(i), 0)}
			if c == 'a' {
				before = append(before, r)
			} else {
				after = append(after, r)
			}
		}
		if got := interleaved(before, after); got != want {
			t.Errorf("%s: got %v, want %v", turns, got, want)
		}
	}
}

// A report from a file has its attributes in another order.
func TestAlignOrder(t *testing.T) {
	m := func(as ...probe.Attr) *Report {
		r := one(waitDesc, 1)
		r.reading.Metrics[0].Attrs = as
		return r
	}
	x, y := probe.Attr{Key: "x", Value: "1"}, probe.Attr{Key: "y", Value: "2"}
	if got := len(align([]*Report{m(x, y), m(y, x)})); got != 1 {
		t.Errorf("got %d series, want 1", got)
	}
	whole := Join("w", Join("server", m(x)), one(cpuDesc, 1))
	var parts []string
	for _, tr := range align([]*Report{whole}) {
		parts = append(parts, tr.part+" "+tr.desc.Name)
	}
	slices.Sort(parts)
	if diff := cmp.Diff([]string{"server/x.wait x.wait", "x.cpu.time x.cpu.time"}, parts); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
}
