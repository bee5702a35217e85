package fsstat

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"path/filepath"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/tidestaff/tidestaff/probe"
)

// The metrics of paths are details: they are for the person who measures and
// never leave the process by themselves.
var (
	descPathOps = &probe.Desc{Name: "tidestaff.file.path.operations", Unit: "{operation}", Kind: probe.KindCounter, Detail: true,
		Help: "Operations by path; see tidestaff.file.operations."}
	descPathIO = &probe.Desc{Name: "tidestaff.file.path.io", Unit: "By", Kind: probe.KindCounter, Detail: true,
		Help: "Bytes by path; see tidestaff.file.io."}
	descPathSmall = &probe.Desc{Name: "tidestaff.file.path.small_reads", Unit: "{read}", Kind: probe.KindCounter, Detail: true,
		Help: "Reads by path that brought 1 to 4095 bytes."}
	descPathUnchanged = &probe.Desc{Name: "tidestaff.file.path.unchanged_passes", Unit: "{pass}", Kind: probe.KindCounter, Detail: true,
		Help: "Passes by path over a file that had apparently not changed since the one before."}
	descPathAvoidable = &probe.Desc{Name: "tidestaff.file.path.avoidable_io", Unit: "By", Kind: probe.KindCounter, Detail: true,
		Help: "Bytes by path that had been read before and had apparently not changed since."}
	descPathUnread = &probe.Desc{Name: "tidestaff.file.path.unread_opens", Unit: "{open}", Kind: probe.KindCounter, Detail: true,
		Help: "Opens by path for reading alone, without a read or any other use."}
	descPathSize = &probe.Desc{Name: "tidestaff.file.path.size", Unit: "By", Kind: probe.KindGauge, Detail: true,
		Help: "The size of the file when it was last begun to be read."}

	pathDescs = []*probe.Desc{descPathOps, descPathIO, descPathSmall, descPathUnchanged, descPathAvoidable, descPathUnread, descPathSize, descAround}
)

// A rowMetric is one of the counters of a path.
type rowMetric int

// The first ones are the operations.
const (
	rowRead      = rowMetric(len(operationNames)) // bytes
	rowWritten   = rowRead + 1                    // bytes
	rowSmall     = rowRead + 2
	rowUnchanged = rowRead + 3
	rowAvoidable = rowRead + 4
	rowUnread    = rowRead + 5
	rowMetrics   = rowRead + 6
)

// A row is what is known of a path. Its counters are made when they first count,
// since most files are only read.
type row struct {
	core     *probe.Core
	path     probe.Attr
	counters [rowMetrics]lazy[probe.Counter]

	size lazy[probe.Gauge]
	file atomic.Uint64 // the pastKey of the one whose size it is, 0 before the first
}

func (p *Probe) newRow(path string) *row {
	r := &row{core: &p.core, path: probe.Attr{Key: AttrPath, Value: path}}
	if path == other {
		r.file.Store(uint64(several))
	}
	return r
}

// missingRows is how many times fewer names that have failed than paths have a
// row: a program may ask for any number of files that do not exist.
const missingRows = 4

// row is the row of a file's name; nil if paths are not told apart. A name at
// which an operation failed takes no place from files that exist. If it is one of
// them all the same, both rows have the same counters, which the Core knows by the
// path.
func (p *Probe) row(name string, err error) *row {
	switch {
	case p.rows == nil || name == "":
		return nil
	case err != nil:
		return p.missing.Get(p.Path(name))
	}
	return p.rows.Get(p.Path(name))
}

// longestPath is from where on a path is cut, so that a bound on their number is
// one on memory.
const longestPath = 256

// Path is the path under which the file of that name is counted: filepath.Clean
// and what [Options].Path makes of that, unless it is nothing. Of a very long one it
// is the last 256 bytes, with a number that tells it from others which end alike.
// Bytes that are not UTF-8 are written as \xff is: in a report they would all be
// the same.
func (p *Probe) Path(name string) string {
	if name != "" {
		name = filepath.Clean(name)
	}
	if p == nil {
		return name
	}
	if p.rename != nil {
		name = cmp.Or(p.rename(name), name)
	}
	if len(name) <= longestPath && utf8.ValidString(name) {
		return name
	}
	whole := name
	if name = name[max(len(name)-longestPath, 0):]; len(name) < len(whole) {
		for n := 0; n < utf8.UTFMax-1 && name != "" && !utf8.RuneStart(name[0]); n++ {
			name = name[1:]
		}
	}
	name = writtenOut(name)
	if len(whole) > longestPath {
		h := fnv.New32a()
		_, _ = io.WriteString(h, whole)
		name = fmt.Sprintf("…%08x…%s", h.Sum32(), name)
	}
	return name
}

// writtenOut is the name with what is no UTF-8 written out.
func writtenOut(name string) string {
	var b strings.Builder
	for len(name) > 0 {
		r, n := utf8.DecodeRuneInString(name)
		if r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&b, `\x%02x`, name[0])
		} else {
			b.WriteString(name[:n])
		}
		name = name[n:]
	}
	return b.String()
}

// add adds to one of the counters.
func (r *row) add(m rowMetric, n int64) {
	r.counters[m].get(func() *probe.Counter { return r.newCounter(m) }).Add(n)
}

func (r *row) newCounter(m rowMetric) *probe.Counter {
	switch m {
	case rowRead, rowWritten:
		return r.core.Counter(descPathIO, r.path, probe.Attr{Key: AttrDirection, Value: directionNames[m-rowRead]})
	case rowSmall:
		return r.core.Counter(descPathSmall, r.path)
	case rowUnchanged:
		return r.core.Counter(descPathUnchanged, r.path)
	case rowAvoidable:
		return r.core.Counter(descPathAvoidable, r.path)
	case rowUnread:
		return r.core.Counter(descPathUnread, r.path)
	}
	return r.core.Counter(descPathOps, r.path, probe.Attr{Key: AttrOperation, Value: operationNames[m]})
}

// count counts an operation that moves no bytes.
func (r *row) count(o operation) { r.add(rowMetric(o), 1) }

// moved counts a read or a write of n bytes.
func (r *row) moved(d direction, n int64) {
	if d == in {
		r.add(rowMetric(opRead), 1)
	} else {
		r.add(rowMetric(opWrite), 1)
	}
	if n > 0 {
		r.add(rowRead+rowMetric(d), n)
	}
}

// sized keeps the size of the file, if the row is that of one file.
func (r *row) sized(file pastKey, n int64) {
	switch now := r.file.Load(); {
	case now == uint64(several):
	case now == uint64(file), r.file.CompareAndSwap(0, uint64(file)):
		r.size.get(func() *probe.Gauge { return r.core.Gauge(descPathSize, r.path) }).Set(float64(n))
	case r.file.Swap(uint64(several)) != uint64(several):
		r.size.get(func() *probe.Gauge { return r.core.Gauge(descPathSize, r.path) }).Set(math.NaN())
	}
}
