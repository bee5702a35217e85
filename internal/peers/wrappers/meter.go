package wrappers

import (
	"context"

	"github.com/tidestaff/tidestaff/probe"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/exemplar"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// A meter is an OpenTelemetry SDK at its cheapest: no exemplars, and nothing
// collects while it is measured.
type meter struct {
	reader   sdk.Reader
	provider *sdk.MeterProvider
}

func newMeter() meter {
	r := sdk.NewManualReader()
	return meter{r, sdk.NewMeterProvider(sdk.WithReader(r), sdk.WithExemplarFilter(exemplar.AlwaysOffFilter))}
}

// measure gives a database that was opened through m its count and its end.
func (m meter) measure(db *database, err error) (*database, error) {
	if err != nil {
		return nil, err
	}
	db.calls = m.calls
	db.finish = func() error { return m.provider.Shutdown(context.Background()) }
	return db, nil
}

// calls is the number of durations in all histograms.
func (m meter) calls() (n uint64, err error) {
	var all metricdata.ResourceMetrics
	if err := m.reader.Collect(context.Background(), &all); err != nil {
		return 0, err
	}
	for _, scope := range all.ScopeMetrics {
		for _, metric := range scope.Metrics {
			switch h := metric.Data.(type) {
			case metricdata.Histogram[float64]:
				n += count(h)
			case metricdata.Histogram[int64]:
				n += count(h)
			}
		}
	}
	return n, nil
}

func count[N int64 | float64](h metricdata.Histogram[N]) (n uint64) {
	for _, series := range h.DataPoints {
		n += series.Count
	}
	return n
}

// methods is the number of durations in a window of sqlitetrace, by method.
func methods(w *probe.Window) map[string]uint64 {
	var r probe.Reading
	w.Read(&r)
	n := map[string]uint64{}
	for m := range r.Find("db.client.operation.duration") {
		n[m.Attr(probe.AttrMethod)] += m.Dist.Count()
	}
	return n
}
