package probe

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"testing"
)

// latencies are plausible ones, in nanoseconds: lognormal around 1 ms. Their
// number is a power of two.
func latencies() []int64 {
	r := rand.New(rand.NewPCG(1, 2))
	all := make([]int64, 4096)
	for i := range all {
		all[i] = int64(1e6 * math.Exp(r.NormFloat64()))
	}
	return all
}

// BenchmarkRecord is the hot path alone. Beside other libraries it is in
// internal/peers.
func BenchmarkRecord(b *testing.B) {
	values := latencies()
	b.Run("serial", func(b *testing.B) {
		b.ReportAllocs()
		var r Recorder
		for i := 0; b.Loop(); i++ {
			r.Record(values[i%len(values)])
		}
	})
	b.Run("parallel", func(b *testing.B) {
		b.ReportAllocs()
		var r Recorder
		b.RunParallel(func(pb *testing.PB) {
			for i := 0; pb.Next(); i++ {
				r.Record(values[i%len(values)])
			}
		})
	})
	b.Run("shard", func(b *testing.B) {
		b.ReportAllocs()
		var r Recorder
		for i := 0; b.Loop(); i++ {
			r.RecordShard(3, values[i%len(values)])
		}
	})
	b.Run("shards", func(b *testing.B) { // each goroutine owns one
		b.ReportAllocs()
		var r Recorder
		var owners atomic.Int64
		b.RunParallel(func(pb *testing.PB) {
			mine := int(owners.Add(1))
			for i := 0; pb.Next(); i++ {
				r.RecordShard(mine, values[i%len(values)])
			}
		})
	})
}

// TestRecordAllocs holds the hot path to no allocation once its buckets exist,
// whatever the number of windows.
func TestRecordAllocs(t *testing.T) {
	values := latencies()
	for windows := range 4 {
		t.Run(fmt.Sprintf("%d windows", windows), func(t *testing.T) {
			var c Core
			rec, count, level := c.Recorder(testDist), c.Counter(testCount), c.Gauge(testGauge)
			peak := c.Peak(testPeak)
			for range windows {
				watch(t, &c)
			}
			for shard := range maxShards {
				for _, v := range values {
					rec.RecordShard(shard, v)
				}
			}
			i := 0
			for _, op := range []struct {
				name string
				f    func()
			}{
				{"Record", func() { rec.Record(values[i%len(values)]); i++ }},
				{"RecordShard", func() { rec.RecordShard(i, values[i%len(values)]); i++ }},
				{"Record out of range", func() { rec.Record(values[0]); rec.Record(-1) }},
				{"Counter.Add", func() { count.Add(1) }},
				{"Gauge.Set", func() { level.Set(0.5) }},
				{"Peak.Sample", func() { peak.Sample(7) }},
			} {
				op.f()
				if got := testing.AllocsPerRun(1000, op.f); got != 0 {
					t.Errorf("%s: got %v allocations, want 0", op.name, got)
				}
			}
		})
	}
}
