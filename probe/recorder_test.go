package probe

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"
)

func TestRecordClamps(t *testing.T) {
	rec := new(Recorder)
	for _, v := range []int64{-1, math.MinInt64, 5, maxValue, maxValue + 1, math.MaxInt64} {
		rec.Record(v)
	}
	var d Dist
	rec.Snapshot(&d)
	if d.Count() != 6 || d.Clamped() != 4 || d.Max() != maxValue || d.Quantile(0) != 0 {
		t.Errorf("count, clamped, max, min = %d, %d, %d, %d, want 6, 4, %d, 0", d.Count(), d.Clamped(), d.Max(), d.Quantile(0), int64(maxValue))
	}
}

func TestRecordConcurrent(t *testing.T) {
	rec := new(Recorder)
	const goroutines, each = 8, 20_000
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := range int64(each) {
				if g%2 == 0 {
					rec.Record(i)
				} else {
					rec.RecordShard(g, i)
				}
			}
		})
	}
	wg.Wait()
	var d Dist
	rec.Snapshot(&d)
	if want := int64(goroutines * each * (each - 1) / 2); d.Count() != goroutines*each || d.Sum() != want || d.Max() != each-1 {
		t.Errorf("count, sum, max = %d, %d, %d, want %d, %d, %d", d.Count(), d.Sum(), d.Max(), goroutines*each, want, each-1)
	}
}

// TestRecorderMemory holds the bound of a busy shard: typical latencies touch
// octaves, not the whole range.
func TestRecorderMemory(t *testing.T) {
	rec := new(Recorder)
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 100_000 {
		rec.RecordShard(0, int64(math.Exp(rnd.NormFloat64())*1e6)) // lognormal around 1 ms
	}
	bytes := 0
	for i := range rec.shards[0].Load().chunks {
		bytes += 8
		if rec.shards[0].Load().chunks[i].Load() != nil {
			bytes += 8 * chunkLen
		}
	}
	if bytes > 16<<10 {
		t.Errorf("a busy shard has %d bytes, want at most 16 KB", bytes)
	}
	for i := 1; i < maxShards; i++ {
		if rec.shards[i].Load() != nil {
			t.Errorf("shard %d exists though nobody recorded into it", i)
		}
	}
}

func TestShardCount(t *testing.T) {
	for _, c := range []struct{ cores, want int }{{1, 2}, {2, 4}, {3, 8}, {4, 8}, {64, 8}} {
		if got := shardCount(c.cores); got != c.want {
			t.Errorf("shardCount(%d) = %d, want %d", c.cores, got, c.want)
		}
	}
}
