package otelexport

import (
	"context"
	"fmt"
	"sync"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/tidestaff/tidestaff/probe"
)

// ProducerOptions say how distributions are given to a reader. The zero value works.
// The SDK asks these of its own pipeline and not of a producer, which is why they are
// given here once more.
type ProducerOptions struct {
	// Views are the views of the MeterProvider: they drop, rename, filter attributes
	// (the distributions of what then is one series are merged exactly) and choose
	// the aggregation.
	Views []sdk.View

	// Temporality is the method of that name of the reader's exporter. If nil,
	// histograms are cumulative.
	Temporality sdk.TemporalitySelector

	// Aggregation is the method of that name of the reader's exporter. If nil,
	// histograms have explicit bounds.
	Aggregation sdk.AggregationSelector

	// Series is how many series a metric may have, as in [Options].
	Series int
}

// A Producer gives the distributions of a probe to one reader, as histograms that are
// made from our buckets when the reader collects, and beside each a gauge of the exact
// maximum since the reader collected last, whose name ends in ".max". It is made by
// [NewProducer] and safe for concurrent use.
//
//	reader := sdk.NewPeriodicReader(exporter, sdk.WithProducer(producer))
type Producer struct {
	window  *probe.Window
	streams []*stream            // as they were described
	of      map[string][]*stream // by metric

	mu      sync.Mutex // held over Produce: a reader has one collection at a time
	closed  bool
	reading probe.Reading
	start   time.Time // of the first interval
	quota   *quota
}

// NewProducer makes a producer for one reader; a second reader has another one. The
// probe is watched until Close.
func NewProducer(p probe.Probe, o ProducerOptions) (*Producer, error) {
	q := &Producer{of: map[string][]*stream{}, quota: newQuota(o.Series)}
	for _, d := range exported(p, func(k probe.Kind) bool { return k == probe.KindDistribution }) {
		streams, err := streamsOf(d, o)
		if err != nil {
			return nil, fmt.Errorf("otelexport: %w", err)
		}
		q.of[d.Name] = streams
		q.streams = append(q.streams, streams...)
	}
	var err error
	if q.window, err = p.Watch(); err != nil {
		return nil, fmt.Errorf("otelexport: producer: %w", err)
	}
	return q, nil
}

// Produce implements the SDK's Producer. The interval that it ends belongs to this
// producer alone. After Close it yields nothing.
func (p *Producer) Produce(context.Context) ([]metricdata.ScopeMetrics, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, nil
	}
	p.window.Next(&p.reading)
	if p.start.IsZero() {
		p.start = p.reading.Start
	}
	for i := range p.reading.Metrics {
		m := &p.reading.Metrics[i]
		if m.Dist == nil {
			continue
		}
		set := setOf(m.Attrs)
		for _, s := range p.of[m.Name] {
			s.add(p.quota, set, m.Dist)
		}
	}
	var all []metricdata.Metrics
	for _, s := range p.streams {
		all = s.append(all, span{p.start, p.reading.Start, p.reading.End})
	}
	if len(all) == 0 {
		return nil, nil
	}
	return []metricdata.ScopeMetrics{{Scope: scope, Metrics: all}}, nil
}

// Close ends the producer and closes its window, after the reader's last collection. It
// may be called again.
func (p *Producer) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.window.Close()
	return nil
}
