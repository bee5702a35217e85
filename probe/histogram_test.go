package probe

import (
	"math/rand/v2"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"
)

// hdrIndex is where hdrhistogram-go counts v.
func hdrIndex(t *testing.T, digits int, v int64) int {
	t.Helper()
	h := hdrhistogram.New(1, maxValue, digits)
	if err := h.RecordValue(v); err != nil {
		t.Fatalf("hdrhistogram refuses %d: %v", v, err)
	}
	for i, n := range h.Export().Counts {
		if n != 0 {
			return i
		}
	}
	t.Fatalf("hdrhistogram has no count for %d", v)
	return 0
}

func TestIndexIsHDR(t *testing.T) {
	values := []int64{0, 1, 2, 127, 128, 255, 256, 257, 1023, 2047, 2048, maxValue - 1, maxValue}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		values = append(values, rnd.Int64N(maxValue)>>rnd.IntN(40))
	}
	for _, digits := range []int{2, 3} {
		g := geometryOf(digits)
		for _, v := range values {
			got, want := int(g.index(v)), hdrIndex(t, digits, v)
			if got != want {
				t.Fatalf("digits %d: index(%d) = %d, want %d", digits, v, got, want)
			}
			if low, high := g.bounds(got); v < low || v > high {
				t.Errorf("digits %d: bounds(%d) = %d, %d do not hold %d", digits, got, low, high, v)
			}
		}
		if got, want := g.chunks()*chunkLen, len(hdrhistogram.New(1, maxValue, digits).Export().Counts); got != want {
			t.Errorf("digits %d: %d counts, want %d", digits, got, want)
		}
	}
}

// TestBoundsTile: buckets follow each other without a gap or an overlap.
func TestBoundsTile(t *testing.T) {
	for _, digits := range []int{2, 3} {
		g := geometryOf(digits)
		next := int64(0)
		for i := range g.chunks() * chunkLen {
			low, high := g.bounds(i)
			if low != next || high < low {
				t.Fatalf("digits %d: bucket %d is %d..%d, want it to begin at %d", digits, i, low, high, next)
			}
			next = high + 1
		}
	}
}

func TestSnapshotIsHDR(t *testing.T) {
	for _, digits := range []int{2, 3} {
		rec, want := &Recorder{geometry: geometryOf(digits)}, hdrhistogram.New(1, maxValue, digits)
		rnd := rand.New(rand.NewPCG(3, 4))
		var sum, top int64
		for range 20_000 {
			v := int64(rnd.ExpFloat64() * 1e6)
			rec.Record(v)
			sum, top = sum+v, max(top, v)
			if err := want.RecordValue(v); err != nil {
				t.Fatal(err)
			}
		}
		var d Dist
		rec.Snapshot(&d)
		if diff := cmp.Diff(want.Export().Counts, d.HDR().Export().Counts); diff != "" {
			t.Errorf("digits %d: counts (-hdr +ours):\n%s", digits, diff)
		}
		if d.Count() != 20_000 || d.Sum() != sum || d.Max() != top {
			t.Errorf("digits %d: count, sum, max = %d, %d, %d, want 20000, %d, %d", digits, d.Count(), d.Sum(), d.Max(), sum, top)
		}
		for _, q := range []float64{0, 0.001, 0.5, 0.9, 0.95, 0.99, 0.999, 1} {
			got, want := d.Quantile(q), min(want.ValueAtQuantile(q*100), top)
			if got != want {
				t.Errorf("digits %d: quantile %v = %d, want hdr's %d", digits, q, got, want)
			}
		}
		back, err := DistOf(d.HDR(), d.Sum(), d.Max(), d.Clamped())
		if err != nil || !back.Equal(&d) {
			t.Errorf("digits %d: DistOf(HDR) = %v, %v, want the distribution itself", digits, back, err)
		}
	}
}

func TestDistOfRefuses(t *testing.T) {
	for _, h := range []*hdrhistogram.Histogram{
		hdrhistogram.New(1, maxValue, 1),
		hdrhistogram.New(1, 1000, 2),
		hdrhistogram.New(1000, maxValue, 2),
	} {
		if _, err := DistOf(h, 0, 0, 0); err == nil {
			t.Errorf("DistOf of %d digits, %d to %d: no error", h.SignificantFigures(), h.LowestTrackableValue(), h.HighestTrackableValue())
		}
	}
}

func TestDistMerge(t *testing.T) {
	a, b, all := new(Recorder), new(Recorder), new(Recorder)
	for v := range int64(1000) {
		to := a
		if v%3 == 0 {
			to = b
		}
		to.Record(v * v)
		all.Record(v * v)
	}
	var da, db, want, zero Dist
	a.Snapshot(&da)
	b.Snapshot(&db)
	all.Snapshot(&want)
	var got Dist
	for _, d := range []*Dist{&da, &zero, &db} {
		if err := got.Merge(d); err != nil {
			t.Fatal(err)
		}
	}
	if !got.Equal(&want) || got.Count() != 1000 {
		t.Errorf("merge has %d values, max %d, want 1000, %d and equal buckets", got.Count(), got.Max(), want.Max())
	}
	var three Dist
	fine := &Recorder{geometry: threeDigits}
	fine.Record(1)
	fine.Snapshot(&three)
	if err := got.Merge(&three); err == nil {
		t.Error("merge of 2 and 3 digits: no error")
	}
}

func TestEmptyDist(t *testing.T) {
	var d Dist
	if d.Quantile(0.5) != 0 || d.Mean() != 0 || d.Max() != 0 || d.Count() != 0 || d.HDR().TotalCount() != 0 {
		t.Errorf("the zero Dist is not empty: %+v", d)
	}
}

func FuzzIndex(f *testing.F) {
	f.Add(int64(0), false)
	f.Add(int64(maxValue), true)
	f.Fuzz(func(t *testing.T, v int64, three bool) {
		digits := 2
		if three {
			digits = 3
		}
		if v < 0 || v > maxValue {
			v = int64(uint64(v) % maxValue)
		}
		if got, want := int(geometryOf(digits).index(v)), hdrIndex(t, digits, v); got != want {
			t.Errorf("index(%d) = %d, want %d", v, got, want)
		}
	})
}
