// Package otelexport hands what probes measure to OpenTelemetry, with nothing added to
// what the program does while it is measured.
//
// # What it is
//
// [Register] exports counters, levels and peaks as observable instruments. A
// [Producer] gives one reader the distributions, as histograms that are made from our
// own buckets when the reader collects:
//
//	producer, err := otelexport.NewProducer(set, otelexport.ProducerOptions{
//		Temporality: exporter.Temporality, Aggregation: exporter.Aggregation, Views: views,
//	})
//	reader := sdk.NewPeriodicReader(exporter, sdk.WithProducer(producer))
//	provider := sdk.NewMeterProvider(sdk.WithReader(reader), sdk.WithView(views...))
//	registration, err := otelexport.Register(set, otelexport.Options{MeterProvider: provider})
//
// Together they export each metric once. Names, units and bounds are those that the
// probes describe; what a description calls a detail (paths, texts of statements) never
// leaves the process, and neither does the course of a level, of which a collector has
// the level itself.
//
// # Accuracy and limits
//
// A histogram's count, sum and maximum are exact. A value is taken for the middle of its
// bucket, so that it may be counted on the other side of a bound that is within 0.4 %
// of it (0.05 % with 3 digits). A quantile of an exponential histogram is off by half
// a bucket of its scale and 0.4 % at most; the scale is the finest at which the values
// fit, up to 6 for 2 digits and 8 for 3. An interval of delta temporality has the sum
// of all that it counts, but for what was recorded within the microseconds in which it
// was read; the rest comes with the next value.
//
// Cumulative maxima tell of the whole life of a process. So beside each distribution is a
// gauge, its name with ".max", of the highest value since the producer's reader collected
// last; no other reader can take it away. A peak of [Register], which cannot tell its
// readers apart, is the highest of the last [Options.PeakOver] at least.
//
// A metric has at most 500 series. The others are one, with the attribute
// otel.metric.overflow; the SDK's own limit of 2,000 is not reached.
//
// Absent is absent: what cannot be measured is not exported as zero.
//
// # Concurrency
//
// Everything may be used from any goroutine. Collections of several readers run side by
// side. Close ends the export and waits for a collection that is under way; it holds
// no lock meanwhile.
//
// # Cost
//
// Nothing on the paths that are measured: no instrument is recorded into. A collection
// reads a window of the probe, which it holds for that; see the benchmarks.
//
// # Platforms
//
// All. It needs go.opentelemetry.io/otel/sdk/metric v1.32; before that, the SDK adds up
// for one reader what it observes for another.
//
// Note: synchronous histograms would honour exemplars, at 200 ns a record with four
// attributes (SDK v1.47) where ours takes under ten, and replaying our buckets into them at
// collection would do so once for each reader.
package otelexport
