package otelexport

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/tidestaff/tidestaff/probe"
)

// scope is the instrumentation scope as the SDK's data has it.
var scope = instrumentation.Scope{Name: scopeName, Version: version, SchemaURL: schemaURL}

// A stream is what one view makes of one metric's distributions.
type stream struct {
	desc             *probe.Desc
	name, unit, help string
	filter           attribute.Filter // may be nil
	temporality      metricdata.Temporality
	// collect makes the data of those series that have a point in the interval.
	collect func(s *stream, of []*series, t span) metricdata.Aggregation
	// always says that a point is due for every series that there ever was.
	always bool

	series map[attribute.Distinct]*series
	order  []*series
}

// A series is one attribute set of a stream.
type series struct {
	attrs attribute.Set
	total probe.Dist // since the producer's start, or of the interval
	max   int64      // in the interval
	fresh bool       // there was something in the interval
}

// A span is the times of an interval's data points.
type span struct{ start, from, to time.Time }

// streamsOf asks the views what becomes of a metric, as the SDK does of an instrument:
// each view that matches makes a stream, and if none does there is one as described.
// They are asked about the histogram and the gauge of its maximum.
func streamsOf(d *probe.Desc, o ProducerOptions) ([]*stream, error) {
	histogram := sdk.Instrument{Name: d.Name, Description: d.Help, Unit: d.Unit, Kind: sdk.InstrumentKindHistogram, Scope: scope}
	highest := sdk.Instrument{Name: d.Name + ".max", Description: "Highest value since the last collection. " + d.Help,
		Unit: d.Unit, Kind: sdk.InstrumentKindObservableGauge, Scope: scope}
	var all []*stream
	for _, i := range []sdk.Instrument{histogram, highest} {
		views := viewsOf(i, o.Views)
		for _, v := range views {
			s := &stream{
				desc: d, name: cmp.Or(v.Name, i.Name), unit: cmp.Or(v.Unit, i.Unit), help: cmp.Or(v.Description, i.Description),
				filter: v.AttributeFilter, temporality: metricdata.CumulativeTemporality, series: map[attribute.Distinct]*series{},
			}
			if o.Temporality != nil {
				s.temporality = o.Temporality(i.Kind)
			}
			if err := s.aggregate(i.Kind, v.Aggregation, o.Aggregation); err != nil {
				return nil, fmt.Errorf("%s: %w", d.Name, err)
			}
			if s.collect != nil && !slices.ContainsFunc(all, func(o *stream) bool { return o.name == s.name }) {
				all = append(all, s)
			}
		}
	}
	return all, nil
}

// viewsOf are the streams that the views make of an instrument.
func viewsOf(i sdk.Instrument, views []sdk.View) (all []sdk.Stream) {
	for _, view := range views {
		if v, ok := view(i); ok {
			all = append(all, v)
		}
	}
	if len(all) == 0 {
		return []sdk.Stream{{}}
	}
	return all
}

// aggregate decides what the stream's data are: by its view, else by the reader's
// exporter, else by the description. Nothing is collected of one that is dropped.
func (s *stream) aggregate(kind sdk.InstrumentKind, view sdk.Aggregation, reader sdk.AggregationSelector) error {
	agg := view
	if isDefault(agg) && reader != nil {
		agg = reader(kind)
		if reflect.DeepEqual(agg, sdk.DefaultAggregationSelector(kind)) {
			agg = nil // whose bounds are in milliseconds
		}
	}
	if _, drop := agg.(sdk.AggregationDrop); drop {
		return nil
	}
	if kind == sdk.InstrumentKindObservableGauge {
		s.collect = gauge
		return nil
	}
	s.always = s.temporality == metricdata.CumulativeTemporality
	switch a := agg.(type) {
	case nil, sdk.AggregationDefault:
		s.collect = explicit(boundsOf(s.desc), false)
	case sdk.AggregationExplicitBucketHistogram:
		s.collect = explicit(a.Boundaries, a.NoMinMax)
	case sdk.AggregationBase2ExponentialHistogram:
		s.collect = exponential(a)
	case sdk.AggregationSum:
		s.collect = sum
	default:
		return fmt.Errorf("a distribution cannot be aggregated as %T", agg)
	}
	return nil
}

// boundsOf are the bounds of a description, or, where it leaves the choice, some for its
// unit. The SDK's own are meant for milliseconds whatever the unit.
func boundsOf(d *probe.Desc) []float64 {
	switch {
	case d.Bounds != nil:
		return d.Bounds
	case d.Unit == "s":
		return []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}
	case d.Unit == "By": // 1 KiB to 1 GiB
		return []float64{1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24, 1 << 26, 1 << 28, 1 << 30}
	}
	return []float64{0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000}
}

func isDefault(a sdk.Aggregation) bool {
	_, ok := a.(sdk.AggregationDefault)
	return a == nil || ok
}

// add takes in what a metric's series has in the interval. An interval without a count
// may have the rest of the one before it, a sum or a maximum. Series of 2 and of 3 digits
// that a filter makes one cannot be merged: those of the first to come are exported. An
// error would cost the reader all that it collects.
func (s *stream) add(q *quota, set attribute.Set, d *probe.Dist) {
	if s.filter != nil {
		set, _ = set.Filter(s.filter)
	}
	e := s.series[set.Equivalent()]
	if e == nil && d.Count() == 0 {
		return
	}
	if e == nil {
		set = q.admit(s.name, set)
		if e = s.series[set.Equivalent()]; e == nil {
			e = &series{attrs: set}
			s.series[set.Equivalent()] = e
			s.order = append(s.order, e)
		}
	}
	if e.total.Merge(d) != nil {
		return
	}
	e.fresh = e.fresh || d.Count() > 0
	e.max = max(e.max, d.Max())
}

// append adds the stream's data, if there are any, and begins the next interval.
func (s *stream) append(all []metricdata.Metrics, t span) []metricdata.Metrics {
	var due []*series
	for _, e := range s.order {
		if e.fresh || s.always {
			due = append(due, e)
		}
	}
	if len(due) == 0 {
		return all
	}
	if !s.always {
		t.start = t.from
	}
	all = append(all, metricdata.Metrics{Name: s.name, Description: s.help, Unit: s.unit, Data: s.collect(s, due, t)})
	for _, e := range due {
		e.fresh, e.max = false, 0
		if !s.always {
			e.total = probe.Dist{}
		}
	}
	return all
}

// gauge is the maximum of the interval.
func gauge(s *stream, of []*series, t span) metricdata.Aggregation {
	g := metricdata.Gauge[float64]{}
	for _, e := range of {
		g.DataPoints = append(g.DataPoints, metricdata.DataPoint[float64]{Attributes: e.attrs, Time: t.to, Value: s.value(e.max)})
	}
	return g
}

// sum is the sum of all values.
func sum(s *stream, of []*series, t span) metricdata.Aggregation {
	all := metricdata.Sum[float64]{Temporality: s.temporality, IsMonotonic: true}
	for _, e := range of {
		all.DataPoints = append(all.DataPoints, metricdata.DataPoint[float64]{
			Attributes: e.attrs, StartTime: t.start, Time: t.to, Value: s.value(e.total.Sum())})
	}
	return all
}

// explicit makes histograms with the given upper bounds, in the metric's unit.
func explicit(bounds []float64, noMax bool) func(*stream, []*series, span) metricdata.Aggregation {
	return func(s *stream, of []*series, t span) metricdata.Aggregation {
		h := metricdata.Histogram[float64]{Temporality: s.temporality}
		for _, e := range of {
			p := metricdata.HistogramDataPoint[float64]{
				Attributes: e.attrs, StartTime: t.start, Time: t.to, Count: e.total.Count(), Sum: s.value(e.total.Sum()),
				Bounds: bounds, BucketCounts: make([]uint64, len(bounds)+1),
			}
			i := 0
			for mid, n := range s.middles(&e.total) {
				for i < len(bounds) && bounds[i] < mid { // a bound belongs to the bucket below
					i++
				}
				p.BucketCounts[i] += n
			}
			if !noMax {
				p.Max = metricdata.NewExtrema(s.value(e.total.Max()))
			}
			h.DataPoints = append(h.DataPoints, p)
		}
		return h
	}
}

// value turns what was recorded into the metric's unit.
func (s *stream) value(raw int64) float64 { return s.desc.Value(float64(raw)) }

// middles yields the middle of each bucket that is not empty, in the metric's unit and
// ascending, and its count. The highest is no higher than the exact maximum.
func (s *stream) middles(d *probe.Dist) func(yield func(float64, uint64) bool) {
	return func(yield func(float64, uint64) bool) {
		highest, more := float64(d.Max()), true
		d.Each(func(low, high int64, n uint64) {
			mid := (float64(low) + float64(high)) / 2
			more = more && yield(s.desc.Value(math.Min(mid, highest)), n)
		})
	}
}
