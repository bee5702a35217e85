package probe

import (
	"fmt"
	"math"
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// A Dist is a distribution of values: the buckets of an HDR histogram (1 to
// 3.6e12, 2 or 3 significant digits) with the exact sum and maximum. Values are
// int64 as they were recorded: nanoseconds where the description's unit is "s".
//
// The zero Dist is empty. A Dist is not safe for concurrent use.
type Dist struct {
	geometry
	counts
	n       uint64
	sum     int64
	max     int64
	clamped uint64
}

// counts are the non-empty buckets in ascending order, 10 bytes each.
type counts struct {
	idx []uint16
	cnt []uint64
}

// DistOf is the distribution of an HDR histogram, as it is read back from a
// report, with what the histogram itself lacks: the exact sum and maximum, and
// how many values were outside its range. The histogram must have 2 or 3 significant digits and the
// range 1 to 3.6e12.
func DistOf(h *hdrhistogram.Histogram, sum, maximum int64, clamped uint64) (*Dist, error) {
	d := &Dist{geometry: geometryOf(int(h.SignificantFigures())), sum: sum, max: maximum, clamped: clamped}
	if int64(d.digits()) != h.SignificantFigures() || h.LowestTrackableValue() != 1 || h.HighestTrackableValue() != maxValue {
		return nil, fmt.Errorf("probe: histogram of %d digits from %d to %d is not one of ours",
			h.SignificantFigures(), h.LowestTrackableValue(), h.HighestTrackableValue())
	}
	for i, n := range h.Export().Counts {
		if n > 0 {
			d.append(i, uint64(n))
			d.n += uint64(n)
		}
	}
	return d, nil
}

func (c *counts) append(i int, n uint64) {
	c.idx = append(c.idx, uint16(i))
	c.cnt = append(c.cnt, n)
}

// appendChunk adds the non-empty buckets of chunk c. Which are empty cannot be
// predicted, so it writes each and keeps it by moving on: no branch to miss.
func (d *Dist) appendChunk(c int, counts *[chunkLen]uint64) {
	var idx [chunkLen]uint16
	var cnt [chunkLen]uint64
	k := uint(0)
	for i, n := range counts {
		idx[k%chunkLen], cnt[k%chunkLen] = uint16(c*chunkLen+i), n
		d.n += n
		if n != 0 {
			k++
		}
	}
	d.idx, d.cnt = append(d.idx, idx[:k]...), append(d.cnt, cnt[:k]...)
}

func (c *counts) reset() { c.idx, c.cnt = c.idx[:0], c.cnt[:0] }

func (c *counts) copyFrom(o *counts) {
	c.idx = append(c.idx[:0], o.idx...)
	c.cnt = append(c.cnt[:0], o.cnt...)
}

// reset empties the distribution but keeps its memory.
func (d *Dist) reset(g geometry) {
	d.counts.reset()
	*d = Dist{geometry: g, counts: d.counts}
}

func (d *Dist) copyFrom(o *Dist) {
	c := d.counts
	c.copyFrom(&o.counts)
	*d = *o
	d.counts = c
}

// Count is the number of values, derived from the buckets.
func (d *Dist) Count() uint64 { return d.n }

// Sum is the exact sum of the values. While records are under way it may trail
// the count by them.
func (d *Dist) Sum() int64 { return d.sum }

// Max is the exact maximum, 0 if there are no values. See the package
// documentation for a value that is recorded while an interval ends. If it is
// 3.6e12, an hour, and Clamped is not 0, values were larger by an unknown amount:
// it, the upper quantiles and the sum are then lower bounds.
func (d *Dist) Max() int64 { return d.max }

// Clamped counts values outside 0 to 3.6e12. They are counted as the nearer
// end, never lost.
func (d *Dist) Clamped() uint64 { return d.clamped }

// Mean is the exact sum divided by the count, 0 if there are no values.
func (d *Dist) Mean() float64 {
	if d.n == 0 {
		return 0
	}
	return float64(d.sum) / float64(d.n)
}

// Quantile is the value below or at which the share q (0 to 1) of the values
// lies, by nearest rank: the highest value of its bucket, at most 0.79 % (0.1 %
// with 3 digits) too high, and never above Max. It is 0 if there are no values.
func (d *Dist) Quantile(q float64) int64 {
	if d.n == 0 {
		return 0
	}
	rank := d.rank(q)
	var seen uint64
	for i, n := range d.cnt {
		if seen += n; seen >= rank {
			low, high := d.bounds(int(d.idx[i]))
			if q <= 0 {
				return low
			}
			return min(high, max(d.max, low))
		}
	}
	return d.max
}

// rank is the position of the quantile, 1 to n, rounded as hdrhistogram does.
func (d *Dist) rank(q float64) uint64 {
	r := math.Min(q, 1)*float64(d.n) + 0.5
	switch {
	case !(r >= 1):
		return 1
	case r >= float64(d.n):
		return d.n
	}
	return uint64(r)
}

// Each calls f for every non-empty bucket, in ascending order, with its lowest
// and highest value and its count.
func (d *Dist) Each(f func(low, high int64, n uint64)) {
	for i, n := range d.cnt {
		low, high := d.bounds(int(d.idx[i]))
		f(low, high, n)
	}
}

// Merge adds the values of o. It is an error if the two differ in digits.
func (d *Dist) Merge(o *Dist) error {
	// An interval without a count may hold the rest of the one before it: the
	// sum and the maximum of what was recorded while that one was read.
	if o.n == 0 && o.sum == 0 && o.max == 0 && o.clamped == 0 {
		return nil
	}
	if d.n == 0 {
		d.geometry = o.geometry
	}
	if d.geometry != o.geometry {
		return fmt.Errorf("probe: merge of distributions of %d and %d digits", d.digits(), o.digits())
	}
	d.counts = merged(&d.counts, &o.counts)
	d.n += o.n
	d.sum += o.sum
	d.max = max(d.max, o.max)
	d.clamped += o.clamped
	return nil
}

// merged is the sum of two sorted lists of buckets.
func merged(a, b *counts) counts {
	var c counts
	i, j := 0, 0
	for i < len(a.idx) || j < len(b.idx) {
		switch {
		case j == len(b.idx) || i < len(a.idx) && a.idx[i] < b.idx[j]:
			c.append(int(a.idx[i]), a.cnt[i])
			i++
		case i == len(a.idx) || b.idx[j] < a.idx[i]:
			c.append(int(b.idx[j]), b.cnt[j])
			j++
		default:
			c.append(int(a.idx[i]), a.cnt[i]+b.cnt[j])
			i++
			j++
		}
	}
	return c
}

// HDR is the distribution as a histogram of hdrhistogram-go, for its
// percentiles, its encodings and everything that reads them. The histogram's
// Max and Mean are those of its buckets; Dist's are exact.
func (d *Dist) HDR() *hdrhistogram.Histogram {
	dense := make([]int64, d.chunks()*chunkLen)
	for i, n := range d.cnt {
		dense[d.idx[i]] = int64(n)
	}
	return hdrhistogram.Import(&hdrhistogram.Snapshot{
		LowestTrackableValue:  1,
		HighestTrackableValue: maxValue,
		SignificantFigures:    int64(d.digits()),
		Counts:                dense,
	})
}

// Equal reports whether two distributions hold the same counts, sum and
// maximum.
func (d *Dist) Equal(o *Dist) bool {
	return d.geometry == o.geometry && d.sum == o.sum && d.max == o.max && d.clamped == o.clamped &&
		slices.Equal(d.idx, o.idx) && slices.Equal(d.cnt, o.cnt)
}
