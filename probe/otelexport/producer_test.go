package otelexport

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/tidestaff/tidestaff/probe"
)

// read is a reader with a producer of a probe, and nothing else.
func read(t *testing.T, p probe.Probe, o ProducerOptions) *sdk.ManualReader {
	t.Helper()
	_, reader := provider(t, sdk.WithProducer(produce(t, p, o)))
	return reader
}

func delta(sdk.InstrumentKind) metricdata.Temporality { return metricdata.DeltaTemporality }

// TestProducer: distributions are histograms with the description's bounds, and the
// exact maximum of each interval is beside them.
func TestProducer(t *testing.T) {
	for _, tt := range []struct {
		name        string
		temporality sdk.TemporalitySelector
		second      map[string]string // after an interval with one value more
		third       map[string]string // after one without any
	}{
		{"cumulative", nil, map[string]string{
			"test.wait":     "histogram s {method=Get} n 4 sum 1.536 [0.001 0.01 0.1 1] [1 1 1 0 1]",
			"test.wait.max": "gauge s {method=Get} 0.03",
		}, map[string]string{"test.wait": "histogram s {method=Get} n 4 sum 1.536 [0.001 0.01 0.1 1] [1 1 1 0 1]"}},
		{"delta", delta, map[string]string{
			"test.wait":     "histogram s {method=Get} n 1 sum 0.03 [0.001 0.01 0.1 1] [0 0 1 0 0]",
			"test.wait.max": "gauge s {method=Get} 0.03",
		}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newCore("")
			waits := c.Recorder(descWait, probe.Attr{Key: "method", Value: "Get"})
			c.Recorder(descWait, probe.Attr{Key: "method", Value: "never"})
			waits.Record(int64(time.Hour)) // before the producer
			reader := read(t, c, ProducerOptions{Temporality: tt.temporality})
			for _, d := range []time.Duration{900 * time.Microsecond, 5 * time.Millisecond, 1500 * time.Millisecond} {
				waits.Record(int64(d))
			}
			want(t, collect(t, reader), map[string]string{
				"test.wait":     "histogram s {method=Get} n 3 sum 1.506 [0.001 0.01 0.1 1] [1 1 0 0 1]",
				"test.wait.max": "gauge s {method=Get} 1.5",
			})
			waits.Record(int64(30 * time.Millisecond))
			want(t, collect(t, reader), tt.second)
			want(t, collect(t, reader), tt.third)
		})
	}
}

// TestProducerTimes: cumulative data begin with the producer, delta data where those
// before ended.
func TestProducerTimes(t *testing.T) {
	for _, temporality := range []sdk.TemporalitySelector{sdk.DefaultTemporalitySelector, delta} {
		c := newCore("")
		reader := read(t, c, ProducerOptions{Temporality: temporality})
		var points []metricdata.HistogramDataPoint[float64]
		for range 3 {
			c.Recorder(descWait).Record(1)
			points = append(points, collect(t, reader)["test.wait"].Data.(metricdata.Histogram[float64]).DataPoints[0])
		}
		for i, p := range points {
			if !p.StartTime.Before(p.Time) {
				t.Errorf("got a point from %v to %v", p.StartTime, p.Time)
			}
			if i == 0 {
				continue
			}
			start := points[0].StartTime
			if temporality(sdk.InstrumentKindHistogram) == metricdata.DeltaTemporality {
				start = points[i-1].Time
			}
			if !p.StartTime.Equal(start) {
				t.Errorf("got a start of %v, want %v", p.StartTime, start)
			}
		}
	}
}

// TestViews: the user's views do to a producer's distributions what they do to the
// SDK's own histograms, which are recorded beside them.
func TestViews(t *testing.T) {
	rename := sdk.NewView(sdk.Instrument{Name: "test.wait"}, sdk.Stream{Name: "waits", Description: "Other words."})
	for _, tt := range []struct {
		name  string
		views []sdk.View
		want  string // the streams' names
	}{
		{"none", nil, "test.wait"},
		{"dropped", []sdk.View{sdk.NewView(sdk.Instrument{Name: "test.wait"}, sdk.Stream{Aggregation: sdk.AggregationDrop{}})}, ""},
		{"dropped by kind", []sdk.View{sdk.NewView(sdk.Instrument{Kind: sdk.InstrumentKindHistogram}, sdk.Stream{Aggregation: sdk.AggregationDrop{}})}, ""},
		{"renamed", []sdk.View{rename}, "waits"},
		{"another scope", []sdk.View{sdk.NewView(sdk.Instrument{Scope: scope, Unit: "ms"}, sdk.Stream{Name: "no"})}, "test.wait"},
		{"filtered", []sdk.View{sdk.NewView(sdk.Instrument{Name: "test.*"}, sdk.Stream{AttributeFilter: attribute.NewAllowKeysFilter("role")})}, "test.wait"},
		{"bounds", []sdk.View{sdk.NewView(sdk.Instrument{Name: "test.wait"}, sdk.Stream{Aggregation: sdk.AggregationExplicitBucketHistogram{Boundaries: []float64{0.02, 0.05}}})}, "test.wait"},
		{"exponential", []sdk.View{sdk.NewView(sdk.Instrument{Name: "test.wait"}, sdk.Stream{Aggregation: sdk.AggregationBase2ExponentialHistogram{MaxSize: 20, MaxScale: 20}})}, "test.wait"},
		{"sum", []sdk.View{sdk.NewView(sdk.Instrument{Name: "test.wait"}, sdk.Stream{Aggregation: sdk.AggregationSum{}})}, "test.wait"},
		{"two", []sdk.View{rename, sdk.NewView(sdk.Instrument{Name: "test.wait"}, sdk.Stream{Name: "by role", AttributeFilter: attribute.NewAllowKeysFilter("role")})}, "waits, by role"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newCore("")
			ours := read(t, c, ProducerOptions{Views: tt.views})
			theirs := sdk.NewManualReader()
			mp := sdk.NewMeterProvider(sdk.WithReader(theirs), sdk.WithView(tt.views...))
			meter := mp.Meter(scopeName, metric.WithInstrumentationVersion(version), metric.WithSchemaURL(schemaURL))
			h, err := meter.Float64Histogram(descWait.Name, metric.WithUnit(descWait.Unit), metric.WithDescription(descWait.Help),
				metric.WithExplicitBucketBoundaries(descWait.Bounds...))
			if err != nil {
				t.Fatal(err)
			}
			for i := range 300 {
				role := []string{"request", "background"}[i%2]
				method := []string{"Get", "Put", "List"}[i%3]
				d := time.Duration(i+1) * 1234567 // seldom near a bound
				c.Recorder(descWait, probe.Attr{Key: "method", Value: method}, probe.Attr{Key: "role", Value: role}).Record(int64(d))
				h.Record(context.Background(), d.Seconds(), metric.WithAttributes(attribute.String("method", method), attribute.String("role", role)))
			}
			got, wants, names := collect(t, ours), map[string]string{}, ""
			for name, m := range collect(t, theirs) {
				wants[name] = text(m)
			}
			for name, m := range got {
				if _, gauge := m.Data.(metricdata.Gauge[float64]); gauge {
					delete(got, name)
				}
			}
			want(t, got, wants)
			for name := range strings.SplitSeq(tt.want, ", ") {
				if _, ok := got[name]; !ok && tt.want != "" {
					names = name
				}
			}
			if n := len(strings.Split(tt.want, ", ")); names != "" || tt.want != "" && len(got) != n || tt.want == "" && len(got) > 0 {
				t.Errorf("got %d streams, without %q, want %q", len(got), names, tt.want)
			}
		})
	}
	_, err := NewProducer(newCore(""), ProducerOptions{Views: []sdk.View{sdk.NewView(sdk.Instrument{Name: "test.wait"}, sdk.Stream{Aggregation: sdk.AggregationLastValue{}})}})
	if err == nil || !strings.Contains(err.Error(), "test.wait: a distribution cannot be aggregated as metric.AggregationLastValue") {
		t.Errorf("got %v", err)
	}
}

// TestMaximumViews: the gauge of the maximum has views of its own, and one that makes
// exponential histograms of everything leaves it a gauge.
func TestMaximumViews(t *testing.T) {
	c := newCore("")
	everything := sdk.NewView(sdk.Instrument{Name: "*"}, sdk.Stream{Aggregation: sdk.AggregationBase2ExponentialHistogram{MaxSize: 160, MaxScale: 20}})
	a := read(t, c, ProducerOptions{Views: []sdk.View{everything}})
	b := read(t, c, ProducerOptions{Views: []sdk.View{sdk.NewView(sdk.Instrument{Name: "*.max"}, sdk.Stream{Aggregation: sdk.AggregationDrop{}})}})
	c.Recorder(descRows).Record(1000)
	want(t, collect(t, a), map[string]string{"test.rows": "exponential {row} {} n 1 sum 1000 scale 8", "test.rows.max": "gauge {row} {} 1000"})
	if _, ok := collect(t, b)["test.rows.max"]; ok {
		t.Error("got a maximum that was dropped")
	}
}

// TestAggregation: what the exporter asks for, with the description's bounds in the
// place of the SDK's own, which are in milliseconds.
func TestAggregation(t *testing.T) {
	byDefault := sdk.NewView(sdk.Instrument{Name: "*"}, sdk.Stream{Aggregation: sdk.AggregationDefault{}})
	for _, tt := range []struct {
		name string
		agg  sdk.AggregationSelector
		want string
	}{
		{"the SDK's", sdk.DefaultAggregationSelector, "histogram s {} n 1 sum 0.002 [0.001 0.01 0.1 1] [0 1 0 0 0]"},
		{"default", func(sdk.InstrumentKind) sdk.Aggregation { return sdk.AggregationDefault{} }, "histogram s {} n 1 sum 0.002 [0.001 0.01 0.1 1] [0 1 0 0 0]"},
		{"other bounds", func(sdk.InstrumentKind) sdk.Aggregation {
			return sdk.AggregationExplicitBucketHistogram{Boundaries: []float64{5}}
		}, "histogram s {} n 1 sum 0.002 [5] [1 0]"},
		{"exponential", func(sdk.InstrumentKind) sdk.Aggregation {
			return sdk.AggregationBase2ExponentialHistogram{MaxSize: 160, MaxScale: 20}
		}, "exponential s {} n 1 sum 0.002 scale 6"},
	} {
		c := newCore("")
		for _, views := range [][]sdk.View{nil, {byDefault}} {
			reader := read(t, c, ProducerOptions{Aggregation: tt.agg, Views: views})
			c.Recorder(descWait).Record(int64(2 * time.Millisecond))
			if got := text(collect(t, reader)["test.wait"]); got != tt.want {
				t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
			}
		}
	}
}

// TestBounds: a description without bounds has those of its unit, and never the SDK's,
// with which a second and a microsecond are in one bucket.
func TestBounds(t *testing.T) {
	for unit, highest := range map[string]float64{"s": 10, "By": 1 << 30, "{row}": 10000} {
		d := &probe.Desc{Name: "test.unbounded", Unit: unit, Help: "No bounds.", Kind: probe.KindDistribution}
		c := &probe.Core{Descs: []*probe.Desc{d}}
		reader := read(t, c, ProducerOptions{Aggregation: sdk.DefaultAggregationSelector})
		c.Recorder(d).Record(1)
		bounds := collect(t, reader)["test.unbounded"].Data.(metricdata.Histogram[float64]).DataPoints[0].Bounds
		if len(bounds) < 10 || bounds[len(bounds)-1] != highest || !slices.IsSorted(bounds) {
			t.Errorf("%s: got bounds %v", unit, bounds)
		}
	}
}

// TestNothingTwice: a reader with both gets each metric once.
func TestNothingTwice(t *testing.T) {
	c := newCore("")
	reader := sdk.NewManualReader(sdk.WithProducer(produce(t, c, ProducerOptions{})))
	mp := sdk.NewMeterProvider(sdk.WithReader(reader))
	register(t, c, Options{MeterProvider: mp})
	c.Counter(descCalls).Add(1)
	c.Gauge(descLevel).Set(1)
	c.Peak(descPeak).Sample(1)
	c.Recorder(descWait).Record(1)
	got := collect(t, reader) // which fails if one comes twice
	for _, name := range []string{"test.calls", "test.level", "test.peak", "test.wait", "test.wait.max"} {
		if _, ok := got[name]; !ok || len(got) != 5 {
			t.Errorf("got %d metrics, %s among them: %t", len(got), name, ok)
		}
	}
}

// TestConservation: readers that collect at any time, while values are recorded, have
// each of them exactly once in the end.
func TestConservation(t *testing.T) {
	const writers, values = 4, 20_000
	c := newCore("")
	readers := map[string]*sdk.ManualReader{
		"cumulative": read(t, c, ProducerOptions{}), "delta": read(t, c, ProducerOptions{Temporality: delta}),
	}
	var write sync.WaitGroup
	for w := range writers {
		write.Go(func() {
			r := c.Recorder(descRows, probe.Attr{Key: "method", Value: fmt.Sprint(w % 2)})
			for i := range values {
				r.Record(int64(i))
			}
		})
	}
	done := make(chan struct{})
	go func() {
		write.Wait()
		// With the next value comes what an interval had of sums alone: those of
		// values that were recorded while the one before was read.
		for w := range 2 {
			c.Recorder(descRows, probe.Attr{Key: "method", Value: fmt.Sprint(w)}).Record(0)
		}
		close(done)
	}()
	var read sync.WaitGroup
	for name, reader := range readers {
		read.Go(func() {
			var n uint64
			var sum, highest float64
			for last := false; ; {
				got := collect(t, reader)
				if name == "cumulative" {
					n, sum = 0, 0
				}
				if h, ok := got["test.rows"].Data.(metricdata.Histogram[float64]); ok {
					for _, p := range h.DataPoints {
						n, sum = n+p.Count, sum+p.Sum
					}
				}
				if g, ok := got["test.rows.max"].Data.(metricdata.Gauge[float64]); ok {
					for _, p := range g.DataPoints {
						highest = max(highest, p.Value)
					}
				}
				if last {
					break
				}
				select {
				case <-done:
					last = true
				default:
				}
			}
			if n != writers*values+2 || sum != writers*values*(values-1)/2 || highest != values-1 {
				t.Errorf("%s: got %d values, sum %v, highest %v", name, n, sum, highest)
			}
		})
	}
	read.Wait()
}

// TestProducerOverflow: the same of distributions, merged.
func TestProducerOverflow(t *testing.T) {
	c := newCore("")
	reader := read(t, c, ProducerOptions{Series: 1})
	for i, method := range []string{"A", "B", "C"} {
		c.Recorder(descWait, probe.Attr{Key: "method", Value: method}).Record(int64(i+1) * 1e9)
	}
	got := text(collect(t, reader)["test.wait"])
	if w := "histogram s {method=A} n 1 sum 1 [0.001 0.01 0.1 1] [0 0 0 1 0]\nhistogram s {otel.metric.overflow=true} n 2 sum 5 [0.001 0.01 0.1 1] [0 0 0 0 2]"; got != w {
		t.Errorf("got\n%s\nwant\n%s", got, w)
	}
}

// TestProducerCloses: afterwards there is nothing, and nobody watches.
func TestProducerCloses(t *testing.T) {
	c := newCore("")
	q := produce(t, c, ProducerOptions{})
	c.Recorder(descWait).Record(1)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { q.Produce(context.Background()) })
		wg.Go(func() { q.Close() })
	}
	wg.Wait()
	if got, err := q.Produce(context.Background()); got != nil || err != nil || c.Watched() {
		t.Errorf("got %v, %v, watched %t", got, err, c.Watched())
	}
}

// TestHotPath: what a program records costs no allocation, exported or not.
func TestHotPath(t *testing.T) {
	c := newCore("")
	mp, reader := provider(t, sdk.WithProducer(produce(t, c, ProducerOptions{})))
	register(t, c, Options{MeterProvider: mp})
	calls, waits := c.Counter(descCalls), c.Recorder(descWait)
	waits.Record(1)
	collect(t, reader)
	if n := testing.AllocsPerRun(1000, func() { calls.Add(1); waits.Record(1) }); n != 0 {
		t.Errorf("got %v allocations", n)
	}
}

// fill records a spread of values in so many series.
func fill(c *probe.Core, series int) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range series {
		r := c.Recorder(descWait, probe.Attr{Key: "db.query.summary", Value: fmt.Sprintf("(*Store).Method%d", i)},
			probe.Attr{Key: "tidestaff.goroutine.role", Value: "request"}, probe.Attr{Key: "db.system.name", Value: "sqlite"})
		for range 1000 {
			r.Record(int64(1e6 * (0.1 + rnd.ExpFloat64())))
		}
	}
}

// BenchmarkProduce is a collection of 200 series.
func BenchmarkProduce(b *testing.B) {
	const series = 200
	exponential := func(sdk.InstrumentKind) sdk.Aggregation {
		return sdk.AggregationBase2ExponentialHistogram{MaxSize: 160, MaxScale: 20}
	}
	for name, o := range map[string]ProducerOptions{"explicit": {}, "exponential": {Aggregation: exponential}} {
		b.Run(name, func(b *testing.B) {
			c := newCore("")
			q, err := NewProducer(c, o)
			if err != nil {
				b.Fatal(err)
			}
			defer q.Close()
			fill(c, series)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := q.Produce(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
