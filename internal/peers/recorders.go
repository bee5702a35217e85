package peers

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/tidestaff/tidestaff/probe"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/exemplar"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// A recorder takes latencies in nanoseconds from any number of goroutines.
type recorder struct {
	name string
	// goroutine makes the function that one goroutine records with. It is a
	// function and no interface method, so that each pays the same for the
	// call: one indirect call of about a nanosecond.
	goroutine func() func(ns int64)
	// count is how many values it has, for the test that all have the same.
	count func() (uint64, error)
}

// recorders are made anew for each benchmark.
var recorders = []func() recorder{atomicSum, tidestaffOwn, tidestaff, hdrMutex, otel}

// same gives every goroutine the same function.
func same(f func(int64)) func() func(int64) { return func() func(int64) { return f } }

// atomicSum is the floor: the least that a counter shared by goroutines costs.
// It keeps no distribution; its count is told by the sum of ones.
func atomicSum() recorder {
	var n atomic.Int64
	return recorder{"atomic", same(func(int64) { n.Add(1) }), func() (uint64, error) { return uint64(n.Load()), nil }}
}

func tidestaff() recorder {
	r := new(probe.Recorder)
	return recorder{"tidestaff", same(r.Record), countOf(r)}
}

// tidestaffOwn is the recorder as a database connection uses it: the goroutine
// that has the connection owns a shard.
func tidestaffOwn() recorder {
	r := new(probe.Recorder)
	var owners atomic.Int64
	return recorder{"tidestaff-shard", func() func(int64) {
		mine := int(owners.Add(1))
		return func(ns int64) { r.RecordShard(mine, ns) }
	}, countOf(r)}
}

func countOf(r *probe.Recorder) func() (uint64, error) {
	return func() (uint64, error) {
		var d probe.Dist
		r.Snapshot(&d)
		return d.Count(), nil
	}
}

// hdrMutex has the same buckets as tidestaff: 1 ns to 1 h at 2 digits.
func hdrMutex() recorder {
	var mu sync.Mutex
	h := hdrhistogram.New(1, 3_600_000_000_000, 2)
	return recorder{"hdr-mutex", same(func(ns int64) {
		mu.Lock()
		_ = h.RecordValue(ns) // all are in range
		mu.Unlock()
	}), func() (uint64, error) { return uint64(h.TotalCount()), nil }}
}

// otel is the SDK at its cheapest with attributes: the set and the options are
// made beforehand, exemplars are off, and nothing collects.
func otel() recorder {
	reader := sdk.NewManualReader()
	provider := sdk.NewMeterProvider(sdk.WithReader(reader), sdk.WithExemplarFilter(exemplar.AlwaysOffFilter))
	h, err := provider.Meter("peers").Float64Histogram("db.client.operation.duration", metric.WithUnit("s"),
		metric.WithExplicitBucketBoundaries(0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10))
	if err != nil {
		return recorder{"otel", nil, func() (uint64, error) { return 0, err }}
	}
	options := []metric.RecordOption{metric.WithAttributeSet(attribute.NewSet(
		attribute.String("db.system.name", "sqlite"),
		attribute.String("db.operation.name", "SELECT"),
		attribute.String("db.query.summary", "(*Store).GetSandbox"),
		attribute.String("tidestaff.goroutine.role", "request"),
	))}
	ctx := context.Background()
	return recorder{"otel", same(func(ns int64) { h.Record(ctx, float64(ns)*1e-9, options...) }),
		func() (uint64, error) { return collected(ctx, reader) }}
}

// collected is the count of the only series that the reader finds.
func collected(ctx context.Context, reader sdk.Reader) (uint64, error) {
	var all metricdata.ResourceMetrics
	if err := reader.Collect(ctx, &all); err != nil {
		return 0, err
	}
	if len(all.ScopeMetrics) != 1 || len(all.ScopeMetrics[0].Metrics) != 1 {
		return 0, fmt.Errorf("collected %v, want one metric", all.ScopeMetrics)
	}
	m := all.ScopeMetrics[0].Metrics[0]
	h, ok := m.Data.(metricdata.Histogram[float64])
	if !ok || len(h.DataPoints) != 1 {
		return 0, fmt.Errorf("collected %s as a %T, want a histogram of one series", m.Name, m.Data)
	}
	return h.DataPoints[0].Count, nil
}

// latencies are what is recorded, in nanoseconds: lognormal around 1 ms. Their
// number is a power of two, so that going round costs no division.
func latencies() []int64 {
	r := rand.New(rand.NewPCG(1, 2))
	all := make([]int64, 4096)
	for i := range all {
		all[i] = int64(1e6 * math.Exp(r.NormFloat64()))
	}
	return all
}
