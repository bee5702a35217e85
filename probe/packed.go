package probe

import "encoding/binary"

// packed is what a window keeps of a distribution's counts at its base: for
// every non-empty bucket, in ascending order, the gap to the previous index and
// the count, both as varints. That is 3 to 4 bytes a bucket instead of 10,
// which matters with one base for each of 500 series in each window.
type packed []byte

// append adds the bucket at index i, the last one added being at index last.
func (p packed) append(i, last int, n uint64) packed {
	return binary.AppendUvarint(binary.AppendUvarint(p, uint64(i-last)), n)
}

// A packedReader walks over the buckets of a packed.
type packedReader struct {
	rest packed
	idx  int
	n    uint64
}

// at is the count at index i. Calls must ask for ascending indices.
func (r *packedReader) at(i int) uint64 {
	for r.idx < i && len(r.rest) > 0 {
		gap, k := binary.Uvarint(r.rest)
		n, l := binary.Uvarint(r.rest[k:])
		r.idx, r.n, r.rest = r.idx+int(gap), n, r.rest[k+l:]
	}
	if r.idx != i {
		return 0
	}
	return r.n
}
