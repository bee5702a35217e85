package otelexport_test

import (
	"context"
	"fmt"

	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/probe/otelexport"
)

// A service registers its probes once, and gives its reader a producer.
func Example() {
	var app probe.Core // or a Set of probes
	hits := app.Counter(&probe.Desc{Name: "app.cache.hits", Unit: "{hit}", Help: "Look-ups that the cache answered."})
	lookups := app.Recorder(&probe.Desc{Name: "app.lookup.duration", Unit: "s", Help: "Duration of a look-up.", Bounds: []float64{0.001, 0.01, 0.1}})

	producer, err := otelexport.NewProducer(&app, otelexport.ProducerOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer producer.Close()
	reader := sdk.NewManualReader(sdk.WithProducer(producer)) // a service has a PeriodicReader
	provider := sdk.NewMeterProvider(sdk.WithReader(reader))
	registration, err := otelexport.Register(&app, otelexport.Options{MeterProvider: provider})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer registration.Close()

	hits.Add(3)
	lookups.Record(2e6) // 2 ms

	var data metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &data); err != nil {
		fmt.Println(err)
		return
	}
	for _, scope := range data.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch d := m.Data.(type) {
			case metricdata.Sum[float64]:
				fmt.Println(m.Name, d.DataPoints[0].Value)
			case metricdata.Gauge[float64]:
				fmt.Println(m.Name, d.DataPoints[0].Value, m.Unit)
			case metricdata.Histogram[float64]:
				fmt.Println(m.Name, d.DataPoints[0].BucketCounts)
			}
		}
	}
	// Unordered output:
	// app.cache.hits 3
	// app.lookup.duration [0 1 0 0]
	// app.lookup.duration.max 0.002 s
}
