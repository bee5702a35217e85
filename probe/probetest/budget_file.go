package probetest

import (
	"cmp"
	"maps"
	"slices"

	"github.com/tidestaff/tidestaff/probe"
)

// What a file probe tells of what it did not see: the bytes that the whole process
// has read. Those of its own that came from elsewhere than the system's files are
// not among them.
const (
	metricFileIO    = "tidestaff.file.io"
	metricProcessIO = "tidestaff.file.process_io"
	metricVirtualIO = "tidestaff.file.virtual_io"
	metricAround    = "tidestaff.file.around"
	attrFilePath    = "tidestaff.file.path"
)

// A watcher executes do and says which files were opened meanwhile around a probe,
// and how often, or why that is not known.
type watcher = func(do func()) (paths map[string]int64, err error)

// A gap is what a watcher said.
type gap struct {
	paths map[string]int64
	err   error
}

// watched executes run once, within the watchers of the budgets, whose answers go
// to the trial. A watcher that cannot watch may have executed nothing.
func (t *trial) watched(budgets []Budget, run func()) {
	t.gaps = map[int]gap{}
	ran := false
	once := func() {
		if !ran {
			ran = true
			run()
		}
	}
	watched := once
	for i, b := range budgets {
		if b.watch == nil {
			continue
		}
		inner := watched
		watched = func() {
			paths, err := b.watch(inner)
			t.gaps[i] = gap{paths, err}
		}
	}
	watched()
	once()
}

// noFileReads judges what was read through the probe.
func (t *trial) noFileReads() []finding {
	return append(t.bound("fs-reads/op", 0, true), t.bound("fs-read-bytes/op", 0, true)...)
}

// noReadsAround judges files that were opened without the probe's knowledge.
func (t *trial) noReadsAround() []finding {
	g, ok := t.gaps[t.index]
	switch {
	case !ok:
		if found := openedAround(t.toldAround()); len(found) > 0 {
			return found
		}
		return t.bytesAround()
	case g.err != nil:
		return []finding{lacks("file", "reads around the probe: no data: %v", g.err)}
	}
	return openedAround(g.paths)
}

// openedAround are the findings of files that were so often opened around the
// probe.
func openedAround(paths map[string]int64) (found []finding) {
	for _, path := range slices.SortedFunc(maps.Keys(paths), func(a, b string) int {
		return cmp.Or(cmp.Compare(paths[b], paths[a]), cmp.Compare(a, b))
	}) {
		if n := paths[path]; n > 0 {
			found = append(found, exceeds("file", "opened around the probe %dx: %s, want never", n, path))
		}
	}
	return found
}

// toldAround are the opens that the probe itself was told of, in the folders that it
// watches.
func (t *trial) toldAround() map[string]int64 {
	paths := map[string]int64{}
	for m := range t.reading.Find(metricAround) {
		paths[m.Attr(attrFilePath)] += int64(m.Value)
	}
	return paths
}

// bytesAround judges by the bytes that the process has read in excess of the
// probe's. None is none; of some nobody can tell whether files had them, or
// sockets, pipes, a database or other probes.
func (t *trial) bytesAround() []finding {
	read := probe.Attr{Key: attrDirection, Value: "read"}
	// As a gauge, which has no zero of its own: without a series there is no data.
	process := source{desc: &probe.Desc{Name: metricProcessIO, Kind: probe.KindGauge}, keep: []probe.Attr{read}}
	if _, err := process.gather(t.reading); err != nil {
		return []finding{lacks("file", "reads around the probe: no data: no probe here tells what it did not see: %v", err)}
	}
	seen := t.total(metricFileIO, read) - t.total(metricVirtualIO)
	if around := t.total(metricProcessIO, read) - seen; around > 0 {
		return []finding{lacks("file", "reads around the probe: no data: up to %s bytes, and nothing tells files from sockets, pipes and databases", number(around))}
	}
	return nil
}

// total is the sum of a counter's series.
func (t *trial) total(name string, attrs ...probe.Attr) (v float64) {
	for m := range t.reading.Find(name, attrs...) {
		v += m.Value
	}
	return v
}
