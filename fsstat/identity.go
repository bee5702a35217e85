package fsstat

import (
	"hash/maphash"
	"io/fs"
	"path/filepath"
	"sync"
	"sync/atomic"
)

// An identity is what the kernel says of a file, by which it is taken for
// unchanged. A change within one tick of the file system's clock that leaves the
// size as it is goes unseen.
type identity struct {
	dev, ino     uint64 // 0 where the system does not say
	size         int64
	mtime, ctime int64 // in nanoseconds since 1970; ctime is 0 where the system does not say
}

// grewTo says whether other may be the same file, appended to.
func (id identity) grewTo(other identity) bool {
	same := id.ino != 0 && id.dev == other.dev && id.ino == other.ino
	return same && other.size > id.size && other.mtime >= id.mtime && other.ctime >= id.ctime
}

// A version is a file as it was at one time, and how much of it has been read:
// all up to there, since reads from other places do not add up.
type version struct {
	identity
	upTo atomic.Int64
}

// extend notes that n bytes at off were read.
func (v *version) extend(off, n int64) {
	for {
		upTo := v.upTo.Load()
		if off > upTo || off+n <= upTo || v.upTo.CompareAndSwap(upTo, off+n) {
			return
		}
	}
}

// filesPerPath is for how many times as many files as paths it is known what
// they were when they were last read: that takes little, and a file of which it
// is not known cannot be found unchanged.
const filesPerPath = 6

// A past is what the last pass over the file of a name found. It is kept by the
// name that the program says and not by the row, which Options.Path may give to
// several files.
type past struct {
	shared bool // by all files beyond the bound

	mu   sync.Mutex
	last *version
}

// A pastKey stands for a name: the hash of one takes less room.
type pastKey uint64

// What is no name's key.
const (
	beyond  pastKey = iota // that of the files beyond the bound
	several                // see row.file
	firstKey
)

func newPast(k pastKey) *past { return &past{shared: k == beyond} }

// key is the key of a name.
func (p *Probe) key(name string) pastKey {
	return max(pastKey(maphash.String(p.seed, filepath.Clean(name))), firstKey)
}

// begin begins a pass over the file, which is now as id says. Up to known it has
// been read before. It is called under f.mu.
func (f *past) begin(id identity) (of *version, known int64, found finding) {
	if f.shared {
		return nil, 0, uncompared
	}
	old := f.last
	if old != nil && old.identity == id {
		return old, old.upTo.Load(), unchanged
	}
	v := &version{identity: id}
	switch {
	case old == nil:
		found = first
	case old.grewTo(id):
		known, found = min(old.upTo.Load(), old.size), grown
		v.upTo.Store(known)
	default:
		found = changed
	}
	f.last = v
	return v, known, found
}

// identityByInfo is the identity of a file as far as any file system says it:
// size and time of modification. One without a time says too little.
func identityByInfo(info fs.FileInfo) (identity, bool) {
	at := info.ModTime()
	if at.IsZero() || info.Size() <= 0 {
		return identity{}, false
	}
	return identity{size: info.Size(), mtime: at.UnixNano()}, true
}
