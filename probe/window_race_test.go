package probe

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// intervals adds up those of one reader.
type intervals struct {
	dist  Dist
	count float64
	max   int64 // over the intervals that know theirs exactly
	n     atomic.Int64
}

func (s *intervals) add(t *testing.T, r *Reading) {
	m := metric(t, r, testDist.Name)
	if err := s.dist.Merge(m.Dist); err != nil {
		t.Error(err)
	}
	if m.Prov.How == Exact {
		s.max = max(s.max, m.Dist.Max())
	}
	s.count += value(t, r, testCount.Name)
	s.n.Add(1)
}

// TestMillionRecordsTiled lets four goroutines record a million values while
// three readers tile at different rates, and wants every one of them in exactly
// one interval of each reader, and in the window over the whole.
func TestMillionRecordsTiled(t *testing.T) {
	const writers, each = 4, 250_000
	var c Core
	rec, count := c.Recorder(testDist), c.Counter(testCount)
	for v := range int64(1000) { // before the windows: in none of them
		rec.Record(v * 1e6)
		count.Add(1)
	}
	whole := watch(t, &c)

	periods := []time.Duration{50 * time.Microsecond, time.Millisecond, 5 * time.Millisecond}
	sums := make([]intervals, len(periods))
	slowest := &sums[len(sums)-1]
	done := make(chan struct{})
	var reading, writing sync.WaitGroup
	for i, period := range periods {
		w := watch(t, &c)
		reading.Go(func() {
			tile(t, w, period, done, &sums[i])
		})
	}
	var want Recorder // the same values, in no window
	for g := range int64(writers) {
		writing.Go(func() {
			for i := range int64(each) {
				// One of the writers gives the slowest reader time to end some
				// intervals, however fast the machine.
				for g == 0 && slowest.n.Load() < i/(each/10) {
					runtime.Gosched()
				}
				v := 1000 + (i*writers+g)*7 // up to 7 ms, a new maximum each time
				rec.Record(v)
				want.Record(v)
				count.Add(1)
			}
		})
	}
	writing.Wait()
	close(done)
	reading.Wait()

	var truth Dist
	want.Snapshot(&truth)
	var all intervals
	all.add(t, whole.Close())
	for _, s := range []*intervals{&sums[0], &sums[1], &sums[2], &all} {
		n := s.n.Load()
		if got := s.dist.Count(); got != writers*each || s.count != writers*each {
			t.Errorf("%d intervals: got %d records and %v counts, want %d", n, got, s.count, writers*each)
		}
		if s.max != truth.Max() {
			t.Errorf("%d intervals: got maximum %d, want %d", n, s.max, truth.Max())
		}
		s.dist.max = truth.max // of an interval that ended within a record it is a bound
		if !s.dist.Equal(&truth) {
			t.Errorf("%d intervals: their sum differs from what was recorded: got sum %d, want %d", n, s.dist.Sum(), truth.Sum())
		}
	}
}

// tile ends an interval of w once per period until done, and then closes w.
func tile(t *testing.T, w *Window, period time.Duration, done <-chan struct{}, sum *intervals) {
	tick := time.NewTicker(period)
	defer tick.Stop()
	var r Reading
	for {
		w.Next(&r)
		sum.add(t, &r)
		select {
		case <-done:
			sum.add(t, w.Close())
			return
		case <-tick.C:
		}
	}
}

// TestMergeRest merges an interval that holds only the rest of a record: its
// count was in the one before.
func TestMergeRest(t *testing.T) {
	before := Dist{n: 1}
	before.append(7, 1)
	if err := before.Merge(&Dist{sum: 7, max: 7}); err != nil {
		t.Fatal(err)
	}
	if before.Count() != 1 || before.Sum() != 7 || before.Max() != 7 {
		t.Errorf("got count %d, sum %d, maximum %d, want 1, 7, 7", before.Count(), before.Sum(), before.Max())
	}
}
