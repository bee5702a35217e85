package probe

import (
	"runtime"
	"sync/atomic"
	"unsafe"
)

// A Recorder counts values of 0 to 3.6e12 (1 ns to 1 h) in the buckets of an
// HDR histogram. Record takes no lock and allocates nothing once its buckets
// exist; it costs the same with every core recording and with any number of
// windows open, since nothing is ever reset: windows subtract.
//
// The counts are striped: concurrent goroutines mostly use different shards,
// whose octaves are allocated when they are first used (1 KB each; a busy shard
// of typical latencies has about 13).
//
// The zero Recorder is ready for use, stands alone and keeps 2 significant
// digits. One that belongs to a probe comes from [Core.Recorder].
//
// Note: a mutex around a histogram, random striping, a per-P pool and a
// writer-reader phaser were measured and are slower or unsafe; ARCHITECTURE.md
// has the numbers.
type Recorder struct {
	geometry
	shards  [maxShards]atomic.Pointer[shard]
	sampled atomic.Pointer[Counter] // see SampledBy
}

// maxShards bounds the memory of a series. Two per core make a collision of two
// goroutines unlikely on small machines; eight are enough on large ones.
const maxShards = 8

var shardMask = uint(shardCount(runtime.NumCPU()) - 1)

// shardCount is the power of two at or above 2n, at most maxShards.
func shardCount(n int) int {
	c := 2
	for c < 2*n && c < maxShards {
		c *= 2
	}
	return c
}

// A shard is one stripe of the counts. The padding keeps the hot fields of two
// shards off one cache line.
type shard struct {
	chunks  []atomic.Pointer[chunk]
	sum     atomic.Int64
	max     atomic.Int64 // largest value + 1 since it was last taken; 0 for none
	clamped atomic.Uint64
	_       [80]byte
}

type chunk [chunkLen]atomic.Uint64

// Record counts v. A negative v counts as 0 and one over 3.6e12 as that, and
// both are counted as clamped.
func (r *Recorder) Record(v int64) { r.RecordShard(stackShard(), v) }

// RecordShard is Record for a caller that owns a shard, such as a connection
// that one goroutine uses at a time: any number names a shard, equal numbers
// the same one.
func (r *Recorder) RecordShard(owner int, v int64) {
	s := r.shards[uint(owner)&shardMask].Load()
	if s == nil {
		s = r.addShard(uint(owner) & shardMask)
	}
	if uint64(v) > maxValue {
		v = s.clamp(v)
	}
	i := r.index(v)
	c := s.chunks[i/chunkLen].Load()
	if c == nil {
		c = s.addChunk(int(i / chunkLen))
	}
	// The count comes first and the maximum last: a window that finds the
	// count without the maximum knows that it is on its way (see settleMax).
	c[i%chunkLen].Add(1)
	s.sum.Add(v)
	if v >= s.max.Load() {
		s.raise(v + 1)
	}
}

// stackShard names a shard by the page of the goroutine's stack: it stays the
// same for a goroutine that records at about one depth, and differs between
// goroutines as a hash does.
func stackShard() int {
	var here byte
	return int((uint64(uintptr(unsafe.Pointer(&here))>>11) * 0x9E3779B97F4A7C15) >> 60)
}

func (r *Recorder) addShard(i uint) *shard {
	s := &shard{chunks: make([]atomic.Pointer[chunk], r.geometry.chunks())}
	if r.shards[i].CompareAndSwap(nil, s) {
		return s
	}
	return r.shards[i].Load()
}

func (s *shard) addChunk(i int) *chunk {
	c := new(chunk)
	if s.chunks[i].CompareAndSwap(nil, c) {
		return c
	}
	return s.chunks[i].Load()
}

func (s *shard) clamp(v int64) int64 {
	s.clamped.Add(1)
	if v < 0 {
		return 0
	}
	return maxValue
}

func (s *shard) raise(m int64) {
	for {
		old := s.max.Load()
		if m <= old || s.max.CompareAndSwap(old, m) {
			return
		}
	}
}

// takeMax is the largest value + 1 since the previous take, 0 for none.
func (r *Recorder) takeMax() int64 {
	var m int64
	for i := range r.shards {
		if s := r.shards[i].Load(); s != nil && s.max.Load() != 0 {
			m = max(m, s.max.Swap(0))
		}
	}
	return m
}

// totals are the sums over all shards that are not buckets.
func (r *Recorder) totals() (sum int64, clamped uint64) {
	for i := range r.shards {
		if s := r.shards[i].Load(); s != nil {
			sum += s.sum.Load()
			clamped += s.clamped.Load()
		}
	}
	return sum, clamped
}

// collect appends to d, unless it is nil, the counts since base, and to next,
// unless it is nil, the counts as they are now.
func (r *Recorder) collect(base packed, d *Dist, next packed) packed {
	var total [chunkLen]uint64
	was, last := packedReader{rest: base, idx: -1}, -1
	for c := range r.geometry.chunks() {
		if !r.sumChunk(c, &total) {
			continue
		}
		if next != nil {
			next, last = next.appendChunk(c, &total, last)
		}
		if d != nil {
			was.subtract(c, &total)
			d.appendChunk(c, &total)
		}
	}
	return next
}

// sumChunk adds up chunk c over the shards; false if no shard has it.
func (r *Recorder) sumChunk(c int, total *[chunkLen]uint64) bool {
	found := false
	for i := range r.shards {
		s := r.shards[i].Load()
		if s == nil {
			continue
		}
		part := s.chunks[c].Load()
		if part == nil {
			continue
		}
		if !found {
			clear(total[:])
			found = true
		}
		for j := range part {
			total[j] += part[j].Load()
		}
	}
	return found
}

// Snapshot overwrites d with everything recorded so far. It is meant for a
// recorder that stands alone: the maximum of one that belongs to a probe is
// kept by its windows.
func (r *Recorder) Snapshot(d *Dist) {
	d.reset(r.geometry)
	r.collect(nil, d, nil)
	d.sum, d.clamped = r.totals()
	for i := range r.shards {
		if s := r.shards[i].Load(); s != nil {
			d.max = max(d.max, s.max.Load()-1)
		}
	}
}
