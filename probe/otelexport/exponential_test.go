package otelexport

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/tidestaff/tidestaff/probe"
)

// exponentialOf is the one point of some values, with at most so many buckets.
func exponentialOf(t testing.TB, d *probe.Desc, size int32, values ...int64) metricdata.ExponentialHistogramDataPoint[float64] {
	t.Helper()
	c := new(probe.Core)
	q, err := NewProducer(probe.NewSet(c, &probe.Core{Descs: []*probe.Desc{d}}), ProducerOptions{Aggregation: func(sdk.InstrumentKind) sdk.Aggregation {
		return sdk.AggregationBase2ExponentialHistogram{MaxSize: size, MaxScale: 20}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	r := c.Recorder(d)
	for _, v := range values {
		r.Record(v)
	}
	data, err := q.Produce(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range data[0].Metrics {
		if h, ok := m.Data.(metricdata.ExponentialHistogram[float64]); ok {
			return h.DataPoints[0]
		}
	}
	t.Fatalf("got %v", data)
	return metricdata.ExponentialHistogramDataPoint[float64]{}
}

// quantile is the middle, on the scale of the bounds, of the bucket that has it.
func quantile(p metricdata.ExponentialHistogramDataPoint[float64], q float64) float64 {
	rank := q * float64(p.Count)
	seen := float64(p.ZeroCount)
	for i, n := range p.PositiveBucket.Counts {
		if n > 0 && seen+float64(n) >= rank {
			at := float64(p.PositiveBucket.Offset) + float64(i) + 0.5
			return math.Exp2(math.Ldexp(at, -int(p.Scale)))
		}
		seen += float64(n)
	}
	return 0
}

// TestExponentialQuantiles: a quantile is off by half a bucket and 0.8 % at most, for
// narrow, wide and two-humped distributions alike.
func TestExponentialQuantiles(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for name, next := range map[string]func() float64{
		"log-normal around 1 ms": func() float64 { return 1e6 * math.Exp(rnd.NormFloat64()) },
		"narrow":                 func() float64 { return 5e6 + 1e4*rnd.NormFloat64() },
		"wide":                   func() float64 { return math.Exp(7 + 16*rnd.Float64()) },
		"30 µs, 8 ms and 2 s":    func() float64 { return []float64{3e4, 8e6, 2e9}[rnd.IntN(3)] * (1 + 0.05*rnd.Float64()) },
	} {
		for _, digits := range []int{2, 3} {
			for _, size := range []int32{40, 160} {
				values := make([]int64, 50_000)
				for i := range values {
					values[i] = int64(next())
				}
				d := &probe.Desc{Name: "test.spread", Unit: "s", Help: "Spread.", Kind: probe.KindDistribution, Digits: digits}
				p := exponentialOf(t, d, size, values...)
				slices.Sort(values)
				for _, q := range []float64{0.01, 0.5, 0.9, 0.99, 0.999} {
					exact := float64(values[int(math.Ceil(q*float64(len(values))))-1]) / 1e9
					width := math.Exp2(math.Ldexp(1, -int(p.Scale))) - 1
					if got := quantile(p, q); math.Abs(got/exact-1) > width/2+0.008 {
						t.Errorf("%s, %d digits, %d buckets: p%v is %.3g, want %.3g within %.2g (scale %d)", name, digits, size, 100*q, got, exact, width/2+0.008, p.Scale)
					}
				}
			}
		}
	}
}

// TestExponentialBuckets: counts are kept, buckets are no more than allowed, and a
// value is in the bucket where the SDK has it, if that is not by a bound.
func TestExponentialBuckets(t *testing.T) {
	const hour = int64(time.Hour)
	all := make([]int64, 0, 2000)
	for v := float64(1); v <= float64(hour); v *= 1.015 {
		all = append(all, int64(v))
	}
	for name, values := range map[string][]int64{
		"one": {12345}, "zero": {0}, "zeros and one": {0, 0, 1}, "1 ns and 1 h": {1, hour}, "everything": all, "beyond": {2 * hour, -5, 7},
	} {
		for size := int32(2); size <= 160; size += 1 + size/4 {
			d := &probe.Desc{Name: "test.buckets", Unit: "s", Help: "Buckets.", Kind: probe.KindDistribution}
			p := exponentialOf(t, d, size, values...)
			n := p.ZeroCount
			for _, c := range p.PositiveBucket.Counts {
				n += c
			}
			if n != uint64(len(values)) || p.Count != n || len(p.PositiveBucket.Counts) > int(size) {
				t.Errorf("%s, %d buckets: got %d values in %d, want %d", name, size, n, len(p.PositiveBucket.Counts), len(values))
			}
			if p.Scale > finestScale2 || p.Scale < leastScale {
				t.Errorf("%s, %d buckets: got scale %d", name, size, p.Scale)
			}
			if c := p.PositiveBucket.Counts; len(c) > 0 && (c[0] == 0 || c[len(c)-1] == 0) {
				t.Errorf("%s, %d buckets: the first or the last of %v is empty", name, size, c)
			}
		}
	}
	for _, exact := range []int64{1, 2, 1 << 10, 1 << 20} { // which a bucket ends with
		d := &probe.Desc{Name: "test.powers", Unit: "{row}", Help: "Powers.", Kind: probe.KindDistribution, Digits: 3}
		p := exponentialOf(t, d, 160, exact)
		upper := math.Exp2(math.Ldexp(float64(p.PositiveBucket.Offset)+1, -int(p.Scale)))
		if exact <= 1<<10 && upper != float64(exact) {
			t.Errorf("%d: got the bucket up to %v, want one that ends with it", exact, upper)
		}
	}
}

// TestExplicitBounds: a value that is a bound belongs below it, as the SDK has it.
func TestExplicitBounds(t *testing.T) {
	c := new(probe.Core)
	d := &probe.Desc{Name: "test.bounds", Unit: "{row}", Help: "Bounds.", Kind: probe.KindDistribution, Bounds: []float64{1, 2, 5}}
	c.Descs = []*probe.Desc{d}
	reader := read(t, c, ProducerOptions{})
	for v := range int64(8) {
		c.Recorder(d).Record(v)
	}
	if got, w := text(collect(t, reader)["test.bounds"]), fmt.Sprintf("histogram {row} {} n 8 sum 28 [1 2 5] %v", []int{2, 1, 3, 2}); got != w {
		t.Errorf("got %s, want %s", got, w)
	}
}
