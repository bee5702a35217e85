package probetest

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

func TestValidDesc(t *testing.T) {
	for _, tt := range []struct {
		name string
		want string // "" if valid
		desc probe.Desc
	}{
		{"gauge", "", probe.Desc{Name: "a.b_c", Unit: "By/s", Help: "h", Kind: probe.KindGauge}},
		{"annotated ratio", "", probe.Desc{Name: "a", Unit: "{query}/s", Help: "h", Kind: probe.KindGauge}},
		{"distribution", "", probe.Desc{Name: "a", Unit: "s", Help: "h", Kind: probe.KindDistribution, Digits: 3, Bounds: []float64{0.1, 1},
			Bench: []probe.Bench{{Unit: "p99-lag-ns", Stat: "p99", Better: "lower"}, {Unit: "calls/op", Stat: "count", PerOp: true, Better: "lower"}}}},
		{"upper case", "the name is not", probe.Desc{Name: "a.B", Unit: "1", Help: "h", Kind: probe.KindGauge}},
		{"empty word", "the name is not", probe.Desc{Name: "a..b", Unit: "1", Help: "h", Kind: probe.KindGauge}},
		{"prefixed unit", `the unit "ms"`, probe.Desc{Name: "a", Unit: "ms", Help: "h", Kind: probe.KindGauge}},
		{"bytes in words", `the unit "bytes"`, probe.Desc{Name: "a", Unit: "bytes", Help: "h", Kind: probe.KindGauge}},
		{"no help", `the help "" is not`, probe.Desc{Name: "a", Unit: "1", Kind: probe.KindGauge}},
		{"no kind", "the kind is", probe.Desc{Name: "a", Unit: "1", Help: "h"}},
		{"bounds of a gauge", "a gauge has neither digits nor bounds", probe.Desc{Name: "a", Unit: "1", Help: "h", Kind: probe.KindGauge, Bounds: []float64{1}}},
		{"one digit", "digits 1 are not 2 or 3", probe.Desc{Name: "a", Unit: "1", Help: "h", Kind: probe.KindDistribution, Digits: 1}},
		{"bounds twice", "not finite and ascending", probe.Desc{Name: "a", Unit: "1", Help: "h", Kind: probe.KindDistribution, Bounds: []float64{1, 1}}},
		{"endless bound", "not finite and ascending", probe.Desc{Name: "a", Unit: "1", Help: "h", Kind: probe.KindDistribution, Bounds: []float64{1, math.Inf(1)}}},
	} {
		t.Run(tt.name, func(t *testing.T) { wantError(t, validDesc(&tt.desc), tt.want) })
	}
}

func TestValidBench(t *testing.T) {
	const dist, gauge = probe.KindDistribution, probe.KindGauge
	for _, tt := range []struct {
		unit, stat string
		of         string // the metric's unit
		kind       probe.Kind
		want       string
	}{
		{"p99-lag-ns", "p99", "s", dist, ""},
		{"peak-RSS-bytes", "value", "By", gauge, ""},
		{"fs-read-bytes/op", "mean", "By", dist, ""},
		{"queries/op", "mean", "{query}", dist, ""},
		{"req/s", "value", "{request}/s", gauge, ""},
		{"lag_p99_ns", "p99", "s", dist, "not words joined"},
		{"p99 lag", "p99", "s", dist, "not words joined"},
		{"", "p99", "s", dist, "not words joined"},
		{"ns/op", "mean", "s", dist, "package testing reports it"},
		{"p99-lag-ms", "p99", "s", dist, "a time is reported in ns"},
		{"p99-lag-ms-ns", "p99", "s", dist, `does not scale "ms"`},
		{"p99-lag-sec", "p99", "s", dist, "a time is reported in ns"},
		{"peak-RSS-MB", "value", "By", gauge, "a size is reported in bytes"},
		{"lag-ms", "value", "1", gauge, `does not scale "ms"`},
		{"p42-lag-ns", "p42", "s", dist, `no stat "p42"`},
		{"lag-ns", "value", "s", dist, `no stat "value"`},
		{"peak-RSS-bytes", "max", "By", gauge, `no stat "max"`},
	} {
		t.Run(tt.unit+" "+tt.stat, func(t *testing.T) {
			d := &probe.Desc{Unit: tt.of, Kind: tt.kind}
			wantError(t, validBench(d, probe.Bench{Unit: tt.unit, Stat: tt.stat, Better: "lower"}), tt.want)
		})
	}
	err := validBench(&probe.Desc{Unit: "1", Kind: gauge}, probe.Bench{Unit: "x/op", Stat: "value"})
	wantError(t, err, `better is ""`)
}

func TestValidReading(t *testing.T) {
	start := time.Unix(1000, 0)
	counter := &probe.Desc{Name: "a.calls", Unit: "1", Help: "h", Kind: probe.KindCounter}
	peak := &probe.Desc{Name: "a.peak", Unit: "1", Help: "h", Kind: probe.KindPeak}
	dist := &probe.Desc{Name: "a.dist", Unit: "1", Help: "h", Kind: probe.KindDistribution}
	rec := new(probe.Recorder)
	rec.Record(7)
	seven := new(probe.Dist)
	rec.Snapshot(seven)
	cut, err := probe.DistOf(seven.HDR(), 7, 3, 0) // a maximum below its only value
	if err != nil {
		t.Fatal(err)
	}
	a, b := probe.Attr{Key: "a", Value: "1"}, probe.Attr{Key: "b", Value: "2"}
	metrics := func(m ...probe.Metric) probe.Reading { return probe.Reading{Metrics: m} }
	for _, tt := range []struct {
		name    string
		want    string
		reading probe.Reading
	}{
		{"valid", "", metrics(
			probe.Metric{Desc: counter, Attrs: []probe.Attr{a}}, probe.Metric{Desc: counter, Attrs: []probe.Attr{b}},
			probe.Metric{Desc: dist, Dist: seven, Value: 7}, probe.Metric{Desc: peak, Value: 1})},
		{"no time", "the reading is from", probe.Reading{End: time.Unix(1, 0)}},
		{"carried", "carried -1 operations in", probe.Reading{CarriedIn: -1}},
		{"no description", "metric 0 has no description", metrics(probe.Metric{})},
		{"attributes in another order", `a.calls a="1" b="2" is there twice`, metrics(
			probe.Metric{Desc: counter, Attrs: []probe.Attr{a, b}}, probe.Metric{Desc: counter, Attrs: []probe.Attr{b, a}})},
		{"wrong key", `attribute "A b" is not`, metrics(probe.Metric{Desc: counter, Attrs: []probe.Attr{{Key: "A b"}}})},
		{"key twice", `attribute "a" is there twice`, metrics(probe.Metric{Desc: counter, Attrs: []probe.Attr{a, a}})},
		{"not a number", "the value is NaN", metrics(probe.Metric{Desc: peak, Value: math.NaN()})},
		{"negative", "the counter is -1", metrics(probe.Metric{Desc: counter, Value: -1})},
		{"sampled without samples", "makes no sense", metrics(probe.Metric{Desc: peak, Prov: probe.Provenance{How: probe.Sampled}})},
		{"no distribution", "distribution there: false", metrics(probe.Metric{Desc: dist})},
		{"distribution of a counter", "distribution there: true", metrics(probe.Metric{Desc: counter, Dist: new(probe.Dist)})},
		{"value is not the sum", "the value is 8, the sum", metrics(probe.Metric{Desc: dist, Dist: seven, Value: 8})},
		{"maximum too low", "over the maximum (3)", metrics(probe.Metric{Desc: dist, Dist: cut, Value: 7})},
		{"absent without a reason", `absent "x": reason ""`, probe.Reading{Absent: []probe.Absent{{Name: "x"}}}},
		{"nameless event", "the name is not", probe.Reading{Events: []probe.Event{{ID: 1, Start: start}}}},
		{"event without ID", "it has no ID", probe.Reading{Events: []probe.Event{{Name: "a", Start: start}}}},
		{"event of the future", "it starts at", probe.Reading{Events: []probe.Event{{Name: "a", ID: 1, Start: start.Add(time.Hour)}}}},
		{"event backwards", "it lasts -1ns", probe.Reading{Events: []probe.Event{{Name: "a", ID: 1, Start: start, Duration: -1}}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if r := &tt.reading; r.End.IsZero() {
				r.Start, r.End = start, start.Add(time.Second)
			}
			wantError(t, validReading(&tt.reading), tt.want)
		})
	}
}

// TestCapped holds the messages to a readable length.
func TestCapped(t *testing.T) {
	var metrics []probe.Metric
	for range 20 {
		metrics = append(metrics, probe.Metric{})
	}
	err := validReading(&probe.Reading{Start: time.Unix(1, 0), End: time.Unix(2, 0), Metrics: metrics})
	if err == nil || strings.Count(err.Error(), "\n") != 8 || !strings.HasSuffix(err.Error(), "and 12 more") {
		t.Errorf("got error %v, want 8 lines and the number of the others", err)
	}
}

// wantError checks for an error that contains want, or for none if want is empty.
func wantError(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("got error %v, want none", err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("got error %v, want one with %q", err, want)
	}
}

// TestGrowthsDoNotNest: a level that fell between the starts of two windows gives
// the inner one the larger growth, and no larger peak.
func TestGrowthsDoNotNest(t *testing.T) {
	for name, want := range map[string]bool{"a.growth": true, "a.peak": false} {
		d := &probe.Desc{Name: name, Unit: "By", Help: "h", Kind: probe.KindPeak}
		reading := func(v float64) *probe.Reading { return &probe.Reading{Metrics: []probe.Metric{{Desc: d, Value: v}}} }
		if err := peaksWithin(reading(9), reading(8)); (err == nil) != want {
			t.Errorf("%s: got %v, want it to pass: %t", name, err, want)
		}
	}
}
