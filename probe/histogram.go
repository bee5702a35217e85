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

// A geometry is the bucket layout for 2 significant digits (the zero value) or
// for 3: the log2 of the steps of an octave beyond 7.
type geometry uint8

const (
	twoDigits   geometry = 0
	threeDigits geometry = 3
)

// geometryOf maps a Desc's Digits to its layout.
func geometryOf(digits int) geometry {
	if digits == 3 {
		return threeDigits
	}
	return twoDigits
}

func (g geometry) digits() int {
	if g == threeDigits {
		return 3
	}
	return 2
}

// steps is the log2 of the steps of an octave. The mask tells the compiler that
// no shift by it is by 64 or more.
func (g geometry) steps() uint64 { return uint64(7+g) & 63 }

// chunks is how many arrays of chunkLen counts cover 0 to maxValue.
func (g geometry) chunks() int {
	if g == threeDigits {
		return 264
	}
	return 36
}

// index is the flat index of the bucket of v, 0 <= v <= maxValue.
func (g geometry) index(v int64) uint {
	h := g.steps()
	b := uint64(bits.Len64(uint64(v)|(2<<h-1))) - h - 1
	return uint(b<<h + uint64(v)>>(b&63))
}

// bounds are the lowest and the highest value of the bucket at index i.
func (g geometry) bounds(i int) (low, high int64) {
	h := g.steps()
	b := max(0, i>>h-1)
	low = int64(i-b<<h) << b
	return low, low + 1<<b - 1
}
