package fsstat

import (
	"io/fs"
	"sync/atomic"

	"github.com/tidestaff/tidestaff/probe"
)

var (
	descPasses = &probe.Desc{Name: "tidestaff.file.passes", Unit: "{pass}", Kind: probe.KindCounter,
		Help:  "Files whose reading was begun, by what had become of them since they were last read: first (not read before), unchanged (apparently), grown, changed. Known of as many paths as are told apart.",
		Bench: []probe.Bench{{Unit: "fs-passes/op", Stat: "value", PerOp: true, Better: "lower", Exact: true}}}
	descAvoidable = &probe.Desc{Name: "tidestaff.file.avoidable_io", Unit: "By", Kind: probe.KindCounter,
		Help:  "Bytes that had been read before from a file that was apparently unchanged since, or had grown behind them.",
		Bench: []probe.Bench{{Unit: "fs-avoidable-bytes/op", Stat: "value", PerOp: true, Better: "lower", Exact: true}}}
)

// A finding is what a pass over a file found.
type finding int

const (
	first     finding = iota
	unchanged         // every part of the identity is as it was
	grown             // the same file, with more in it: appended to, unless it was rewritten as well
	changed           // another file of the name, or another content
)

var findingNames = [...]string{"first", "unchanged", "grown", "changed"}

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

// A pass is the reading of a file from an open or a rewind on.
type pass struct {
	of      *version // nil if there is nothing to compare
	known   int64    // the bytes up to there have been read before
	found   finding
	counted atomic.Bool // when its first bytes came
	epoch   int64       // of the probe, when it began
	kind    callKind    // of its reads
}

// The passes over what is not compared: files of the kernel, directories, those
// that are written to through the same File, all if identities are not wanted;
// and what is no file, whose reads may wait for ever.
var (
	plainPass  = &pass{kind: callRead}
	streamPass = &pass{kind: untimed}
)

// begin begins a pass over the file of the row, which is now as id says.
func (r *row) begin(id identity) (of *version, known int64, found finding) {
	r.mu.Lock()
	defer r.mu.Unlock()
	old := r.now.Load()
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
	r.now.Store(v)
	return v, known, found
}

// passOver is the beginning of a pass over what is open.
func (t tally) passOver(of stater) *pass {
	if !t.series.probe.identify {
		return plainPass
	}
	p := new(pass)
	p.begin(t, of)
	switch {
	case p.of != nil:
		return p
	case p.kind == untimed:
		return streamPass
	}
	return plainPass
}

func (p *pass) begin(t tally, of stater) {
	info, err := of.Stat()
	p.beginFile(t, info, err)
}

// beginFile begins a pass over a file of which info was said just before.
func (p *pass) beginFile(t tally, info fs.FileInfo, err error) {
	p.kind = callRead
	switch {
	case err != nil || info == nil || info.IsDir():
		return
	case !info.Mode().IsRegular():
		p.kind = untimed
		return
	}
	id, ok := identityOf(info)
	if ok && t.row != nil && !t.row.shared && t.series.probe.identify {
		t.row.sized(id.size)
		p.of, p.known, p.found = t.row.begin(id)
	}
}

// read notes that n bytes at off were read.
func (p *pass) read(t tally, off, n int64) {
	if p == nil || p.of == nil || n <= 0 || t.series == nil {
		return
	}
	if !p.counted.Load() && !p.counted.Swap(true) {
		t.series.passes.found[p.found].Add(1)
		if p.found == unchanged {
			t.row.add(rowUnchanged, 1)
		}
	}
	if again := min(off+n, p.known) - off; again > 0 {
		t.series.passes.avoidable[p.found].Add(again)
		t.row.add(rowAvoidable, again)
	}
	p.of.extend(off, n)
}

// passSeries are a role's counters of passes.
type passSeries struct {
	found     [len(findingNames)]*probe.Counter
	avoidable [len(findingNames)]*probe.Counter // of unchanged and grown files
}

func (s *passSeries) fill(p *Probe, role probe.Attr) {
	if !p.identify {
		return
	}
	for i, name := range findingNames {
		s.found[i] = p.core.Counter(descPasses, role, probe.Attr{Key: AttrPass, Value: name})
	}
	for _, f := range []finding{unchanged, grown} {
		s.avoidable[f] = p.core.Counter(descAvoidable, role, probe.Attr{Key: AttrPass, Value: findingNames[f]})
	}
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
