package growth

import "slices"

// Outgrows reports whether a count that repeats exactly grows faster than the
// order. A constant one is the same at all sizes. Of another order, the step to the
// largest size is not steeper, in units of the order, than the one before: what
// begins at a smaller size, such as a cache that has become full, is nobody's
// growth. Each count may be off by less than one, as the blocks of a file are.
//
// counts are one for each size. Of fewer than three nothing but a constant is
// refuted.
func (o Order) Outgrows(sizes []int, counts []float64) bool {
	if len(counts) == 0 {
		return false
	}
	if o == Constant {
		return slices.Min(counts) != slices.Max(counts)
	}
	last := len(counts) - 1
	if last < 2 {
		return false
	}
	rise := func(i int) (count, order float64) {
		return counts[i] - counts[i-1], o.at(sizes[i]) - o.at(sizes[i-1])
	}
	steep, width := rise(last)
	before, widthBefore := rise(last - 1)
	return (steep-1)/width > (before+1)/widthBefore
}
