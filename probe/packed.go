package probe

import "encoding/binary"

// packed is what a window keeps of a distribution's counts at its base: for
// every non-empty bucket, in ascending order, the gap to the previous index and
// the count, both as varints. That is 3 to 4 bytes a bucket instead of 10,
// which matters with one base for each of 500 series in each window.
type packed []byte

// appendChunk adds the buckets of chunk c, the last one added being at index
// last, and gives the last one's index now.
func (p packed) appendChunk(c int, counts *[chunkLen]uint64, last int) (packed, int) {
	for i, n := range counts {
		if n != 0 {
			idx := c*chunkLen + i
			p = binary.AppendUvarint(binary.AppendUvarint(p, uint64(idx-last)), n)
			last = idx
		}
	}
	return p, last
}

// A packedReader walks over the buckets of a packed. It starts at index -1,
// where there is none.
type packedReader struct {
	rest packed
	idx  int // of the bucket that is next, of n
	n    uint64
}

// subtract takes the buckets of chunk c from counts. Calls must ask for
// ascending chunks and leave out none that has a bucket.
func (r *packedReader) subtract(c int, counts *[chunkLen]uint64) {
	for r.idx < (c+1)*chunkLen {
		counts[uint(r.idx)%chunkLen] -= r.n
		r.n = 0
		if len(r.rest) == 0 {
			return
		}
		gap, k := binary.Uvarint(r.rest)
		n, l := binary.Uvarint(r.rest[k:])
		r.idx, r.n, r.rest = r.idx+int(gap), n, r.rest[k+l:]
	}
}
