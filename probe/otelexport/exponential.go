package otelexport

import (
	"math"

	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// The scales of base-2 exponential histograms: bucket i of scale s holds the values
// from 2^(i/2^s), exclusive, to 2^((i+1)/2^s). Our own buckets are 0.8 % wide with 2
// digits and 0.1 % with 3, and finer ones would show nothing but those: 2^(1/2^6) is
// 1.1 %, 2^(1/2^9) is 0.14 %. Prometheus takes up to 8.
const (
	leastScale   = -10
	finestScale2 = 6
	finestScale3 = 8
	// indexScale is that of the indices which those of all others are parts of.
	indexScale = 20
)

// leastSize is the number of buckets that there may be at least: at no scale do the
// values on both sides of 1 share one.
const leastSize = 2

// exponential makes histograms of the finest scale that the view and the number of
// buckets allow.
func exponential(a sdk.AggregationBase2ExponentialHistogram) func(*stream, []*series, span) metricdata.Aggregation {
	size := int64(max(a.MaxSize, leastSize))
	return func(s *stream, of []*series, t span) metricdata.Aggregation {
		finest := int32(finestScale2)
		if s.desc.Digits == 3 {
			finest = finestScale3
		}
		h := metricdata.ExponentialHistogram[float64]{Temporality: s.temporality}
		for _, e := range of {
			p := metricdata.ExponentialHistogramDataPoint[float64]{
				Attributes: e.attrs, StartTime: t.start, Time: t.to, Count: e.total.Count(), Sum: s.value(e.total.Sum()),
			}
			s.fill(&p, e, min(finest, a.MaxScale), size)
			if !a.NoMinMax {
				p.Max = metricdata.NewExtrema(s.value(e.total.Max()))
			}
			h.DataPoints = append(h.DataPoints, p)
		}
		return h
	}
}

// fill fills the buckets of a point.
func (s *stream) fill(p *metricdata.ExponentialHistogramDataPoint[float64], e *series, scale int32, size int64) {
	type bucket struct {
		index int64 // at indexScale
		n     uint64
	}
	var all []bucket
	for mid, n := range s.middles(&e.total) {
		if mid <= 0 {
			p.ZeroCount += n
			continue
		}
		all = append(all, bucket{int64(math.Ceil(math.Ldexp(math.Log2(mid), indexScale))) - 1, n})
	}
	p.Scale = scale
	if len(all) == 0 {
		return
	}
	first, last := all[0].index, all[len(all)-1].index
	for p.Scale > leastScale && at(last, p.Scale)-at(first, p.Scale) >= size {
		p.Scale--
	}
	from := at(first, p.Scale)
	p.PositiveBucket.Offset = int32(from)
	p.PositiveBucket.Counts = make([]uint64, at(last, p.Scale)-from+1)
	for _, b := range all {
		p.PositiveBucket.Counts[at(b.index, p.Scale)-from] += b.n
	}
}

// at is an index at a coarser scale.
func at(index int64, scale int32) int64 { return index >> (indexScale - scale) }
