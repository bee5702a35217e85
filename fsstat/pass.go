package fsstat

import (
	"io/fs"
	"sync/atomic"

	"github.com/tidestaff/tidestaff/probe"
)

var (
	descPasses = &probe.Desc{Name: "tidestaff.file.passes", Unit: "{pass}", Kind: probe.KindCounter,
		Help:  "Files whose reading was begun, by what had become of them since they were last read: first (not read before), unchanged (apparently), grown, changed, unknown (more files than can be compared).",
		Bench: []probe.Bench{{Unit: "fs-passes/op", Stat: "value", PerOp: true, Better: "lower", Exact: true}}}
	descAvoidable = &probe.Desc{Name: "tidestaff.file.avoidable_io", Unit: "By", Kind: probe.KindCounter,
		Help:  "Bytes that had been read before from a file that was apparently unchanged since, or had grown behind them.",
		Bench: []probe.Bench{{Unit: "fs-avoidable-bytes/op", Stat: "value", PerOp: true, Better: "lower", Exact: true}}}
)

// A finding is what a pass over a file found.
type finding int

const (
	first      finding = iota
	unchanged          // every part of the identity is as it was
	grown              // the same file, with more in it: appended to, unless it was rewritten as well
	changed            // another file of the name, or another content
	uncompared         // beyond the number of files that can be compared
)

var findingNames = [...]string{"first", "unchanged", "grown", "changed", "unknown"}

// A pass is the reading of a file from an open or a rewind on.
type pass struct {
	kind  callKind // of its reads
	epoch int64    // of the probe, when it began

	id   identity // before its first read
	past *past    // nil if there is nothing to compare

	// When its first bytes come it is compared and counted; then these are set.
	// A pass without any is none, also for those that follow.
	begun atomic.Bool
	of    *version // nil if nothing is known of the file
	known int64    // the bytes up to there have been read before
	found finding
}

// compares says whether the pass is over what is compared.
func (p *pass) compares() bool { return p != nil && p.past != nil }

// The passes over what is not compared: files of the kernel, directories, those
// that are written to through the same File, all if identities are not wanted;
// and what is no file, whose reads may wait for ever.
var (
	plainPass  = &pass{kind: callRead}
	streamPass = &pass{kind: untimed}
)

// passOver is the beginning of a pass over what is open. What somebody else has
// opened may be no file, even if identities are not asked for.
func (t tally) passOver(of stater, name string, foreign bool) *pass {
	if !t.series.probe.identify && !foreign {
		return plainPass
	}
	p := new(pass)
	info, err := of.Stat()
	p.over(t, name, info, err)
	switch {
	case p.compares():
		return p
	case p.kind == untimed:
		return streamPass
	}
	return plainPass
}

// over makes it a pass over a file of which info was said just before.
func (p *pass) over(t tally, name string, info fs.FileInfo, err error) {
	p.kind = callRead
	switch {
	case err != nil || info == nil || info.IsDir():
		return
	case !info.Mode().IsRegular():
		p.kind = untimed
		return
	}
	id, ok := identityOf(info)
	if probe := t.series.probe; ok && probe.identify && t.row != nil {
		key := probe.key(name)
		p.id, p.past = id, probe.pasts.Get(key)
		t.row.sized(key, id.size)
	}
}

// begin compares the file with what it was; false if that is done already.
func (p *pass) begin() bool {
	p.past.mu.Lock()
	defer p.past.mu.Unlock()
	if p.begun.Load() {
		return false
	}
	p.of, p.known, p.found = p.past.begin(p.id)
	p.begun.Store(true)
	return true
}

// read notes that n bytes at off were read.
func (p *pass) read(t tally, off, n int64) {
	if !p.compares() || n <= 0 || t.series == nil {
		return
	}
	if !p.begun.Load() && p.begin() {
		t.series.passes.found[p.found].Add(1)
		if p.found == unchanged {
			t.row.add(rowUnchanged, 1)
		}
	}
	if p.of == nil {
		return
	}
	if again := min(off+n, p.known) - off; again > 0 {
		t.series.passes.avoidable[p.found].Add(again)
		t.row.add(rowAvoidable, again)
	}
	p.of.extend(off, n)
}

// streamed counts n bytes that were read of an open file that is none.
func (p *pass) streamed(t tally, n int64) {
	if p != nil && p.kind == untimed {
		t.series.fromStream(n)
	}
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
