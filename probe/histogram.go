package probe

import "math/bits"

// The bucket layout is that of hdrhistogram-go's New(1, maxValue, digits), so
// that a snapshot's counts are that histogram's counts, index by index. It is
// log-linear: octave b holds values in steps of 2^b, and each octave has 2^h
// steps (128 at 2 digits, 1,024 at 3), so no bucket is wider than 0.79 % (0.1 %)
// of its values.

// maxValue is the largest value that is kept apart: one hour in nanoseconds.
const maxValue = 3_600_000_000_000

// chunkLen counts share one lazily allocated array: an octave at 2 digits and
// an eighth of one at 3, 1 KB in both.
const chunkLen = 128

// geometry is the bucket layout for one number of digits.
type geometry struct {
	digits uint8
	h      uint8  // log2 of the steps of an octave
	chunks uint16 // arrays of chunkLen counts that cover 0 to maxValue
}

var (
	twoDigits   = geometry{digits: 2, h: 7, chunks: 36}
	threeDigits = geometry{digits: 3, h: 10, chunks: 264}
)

// geometryOf maps a Desc's Digits to its layout.
func geometryOf(digits int) geometry {
	if digits == 3 {
		return threeDigits
	}
	return twoDigits
}

// index is the flat index of the bucket of v, 0 <= v <= maxValue.
func (g geometry) index(v int64) uint {
	h := uint(g.h) & 63 // the masks tell the compiler that no shift is by 64 or more
	b := uint(bits.Len64(uint64(v)|(2<<h-1))) - h - 1
	return b<<h + uint(v)>>(b&63)
}

// bounds are the lowest and the highest value of the bucket at index i.
func (g geometry) bounds(i int) (low, high int64) {
	b := max(0, i>>g.h-1)
	low = int64(i-b<<g.h) << b
	return low, low + 1<<b - 1
}
