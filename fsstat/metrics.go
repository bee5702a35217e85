package fsstat

import (
	"sync/atomic"

	"github.com/tidestaff/tidestaff/probe"
)

// The attributes of the metrics, beside the role's ([probe.AttrRole]).
const (
	// AttrOperation is "open", "read", "write", "stat" or "readdir"; of a
	// duration also "readfile", "writefile" or "copy".
	AttrOperation = "tidestaff.file.operation"
	// AttrDirection is "read" or "write"; OpenTelemetry's name for it.
	AttrDirection = "disk.io.direction"
	// AttrErrorType is what the kernel calls an error, such as "ENOENT", else
	// its class, such as "closed"; OpenTelemetry's name for it.
	AttrErrorType = "error.type"
	// AttrReadSize is how many bytes a read brought: "0", "1-511", "512-4095",
	// "4096-65535" or "65536-".
	AttrReadSize = "tidestaff.file.read.size"
	// AttrPass is what a pass over a file found: "first", "unchanged", "grown",
	// "changed" or "unknown".
	AttrPass = "tidestaff.file.pass"
	// AttrPath is a file's path, in detail series only.
	AttrPath = "tidestaff.file.path"
)

// other stands for everything beyond a table's bounds.
const other = "(other)"

var (
	descOperations = &probe.Desc{Name: "tidestaff.file.operations", Unit: "{operation}", Kind: probe.KindCounter,
		Help:  "Opens, reads, writes, stats and directory reads of files that went through the probe.",
		Bench: []probe.Bench{{Unit: "fs-ops/op", Stat: "value", PerOp: true, Better: "lower", Exact: true}}}
	descIO = &probe.Desc{Name: "tidestaff.file.io", Unit: "By", Kind: probe.KindCounter,
		Help:  "Bytes read from and written to files, those that the kernel copied included.",
		Bench: []probe.Bench{{Unit: "fs-bytes/op", Stat: "value", PerOp: true, Better: "lower", Exact: true}}}
	descKernelIO = &probe.Desc{Name: "tidestaff.file.kernel_io", Unit: "By", Kind: probe.KindCounter,
		Help: "Those of the bytes that are known to have been copied by the kernel, from or to files, without the program seeing them."}
	descCopies = &probe.Desc{Name: "tidestaff.file.kernel_copies", Unit: "{copy}", Kind: probe.KindCounter,
		Help: "Those of the reads and writes that are known to have been copies by the kernel."}
	descErrors = &probe.Desc{Name: "tidestaff.file.errors", Unit: "{error}", Kind: probe.KindCounter,
		Help: "Failed file operations, by the kernel's name of the error, such as ENOENT, else by class: not_exist, permission, exist, closed, deadline, other."}
	descSizes = &probe.Desc{Name: "tidestaff.file.read_sizes", Unit: "{read}", Kind: probe.KindCounter,
		Help: "Reads by the program, by how many bytes they brought. Many below 4096 say that a buffer is missing."}
	descDuration = &probe.Desc{Name: "tidestaff.file.operation.duration", Unit: "s", Kind: probe.KindDistribution,
		Help:   "Time of the calls that opened, read, wrote, listed or looked at files; a ReadFile, a WriteFile and a copy are one each. Pipes, sockets and terminals are left out.",
		Bounds: []float64{1e-6, 1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 5e-3, 0.01, 0.05, 0.1, 0.5, 1, 5, 10},
		Bench:  []probe.Bench{{Unit: "fs-ns/op", Stat: "sum", PerOp: true, Better: "lower"}}}
	descUnread = &probe.Desc{Name: "tidestaff.file.unread_opens", Unit: "{open}", Kind: probe.KindCounter,
		Help: "Files that were opened for reading alone, and closed without a read or any other use through the File."}

	descs = []*probe.Desc{descOperations, descIO, descKernelIO, descCopies, descErrors, descSizes, descDuration, descUnread, descPasses, descAvoidable, descProcessIO, descVirtualIO, descStreamIO}
)

// An operation and a direction are indices; their names are attributes.
type (
	operation int
	direction int
)

const (
	opOpen operation = iota
	opRead
	opWrite
	opStat
	opReadDir
)

const (
	in direction = iota
	out
)

// A callKind is what a duration is of.
type callKind int

const (
	untimed callKind = iota - 1 // may wait for something that is no file
	callOpen
	callRead
	callWrite
	callStat
	callReadDir
	callReadFile
	callWriteFile
	callCopy
)

var (
	operationNames = [...]string{"open", "read", "write", "stat", "readdir"}
	directionNames = [...]string{"read", "write"}
	callNames      = [...]string{"open", "read", "write", "stat", "readdir", "readfile", "writefile", "copy"}
	sizeNames      = [...]string{"0", "1-511", "512-4095", "4096-65535", "65536-"}
)

// smallRead is the class of the largest reads that a buffer would have spared.
const smallRead = 2

// sizeClass is the class of a read of n bytes.
func sizeClass(n int64) int {
	switch {
	case n <= 0:
		return 0
	case n < 512:
		return 1
	case n < 4096:
		return smallRead
	case n < 65536:
		return 3
	}
	return 4
}

// A lazy is made when it is first asked for, so that what never occurs has no
// series. Two that race to make one get the same metrics from the Core, so it
// does not matter whose stays.
type lazy[T any] struct{ p atomic.Pointer[T] }

func (l *lazy[T]) get(make func() *T) *T {
	if v := l.p.Load(); v != nil {
		return v
	}
	l.p.CompareAndSwap(nil, make())
	return l.p.Load()
}

// series are the counters of one role.
type series struct {
	probe *Probe
	role  probe.Attr

	operations         [len(operationNames)]*probe.Counter
	io, kernel, copies [len(directionNames)]*probe.Counter
	sizes              [len(sizeNames)]*probe.Counter
	passes             passSeries
	durations          [len(callNames)]lazy[probe.Recorder]
	unread             lazy[probe.Counter]
	virtual, streamed  lazy[probe.Counter]
	errors             failures
	turns              atomic.Int64 // reads and writes of files, for every which one is timed
}

func (p *Probe) newSeries(role string) *series {
	s := &series{probe: p, role: probe.Attr{Key: probe.AttrRole, Value: role}}
	fill := func(to []*probe.Counter, d *probe.Desc, key string, names []string) {
		for i, name := range names {
			to[i] = p.core.Counter(d, s.role, probe.Attr{Key: key, Value: name})
		}
	}
	fill(s.operations[:], descOperations, AttrOperation, operationNames[:])
	fill(s.io[:], descIO, AttrDirection, directionNames[:])
	fill(s.sizes[:], descSizes, AttrReadSize, sizeNames[:])
	if seesKernel {
		fill(s.kernel[:], descKernelIO, AttrDirection, directionNames[:])
		fill(s.copies[:], descCopies, AttrDirection, directionNames[:])
	}
	s.passes.fill(p, s.role)
	return s
}

// took keeps how long a call took.
func (s *series) took(k callKind, ns int64) {
	if k == untimed {
		return
	}
	r := s.durations[k].get(func() *probe.Recorder { return s.newDuration(k) })
	if s.probe.every > 1 && (k == callRead || k == callWrite) {
		s.probe.timed.Add(1)
	}
	r.Record(ns)
}

func (s *series) newDuration(k callKind) *probe.Recorder {
	r := s.probe.core.Recorder(descDuration, s.role, probe.Attr{Key: AttrOperation, Value: callNames[k]})
	if s.probe.every > 1 && (k == callRead || k == callWrite) {
		r.SampledBy(&s.probe.timed)
	}
	return r
}

// fromElsewhere counts bytes that came from no file of package os.
func (s *series) fromElsewhere(n int64) {
	if s != nil && n > 0 {
		s.virtual.get(func() *probe.Counter { return s.probe.core.Counter(descVirtualIO, s.role) }).Add(n)
	}
}

// fromStream counts bytes of what was opened by package os and is no file.
func (s *series) fromStream(n int64) {
	if s != nil && n > 0 {
		s.streamed.get(func() *probe.Counter { return s.probe.core.Counter(descStreamIO, s.role) }).Add(n)
	}
}

// leftUnread counts an open in vain.
func (s *series) leftUnread() {
	s.unread.get(func() *probe.Counter { return s.probe.core.Counter(descUnread, s.role) }).Add(1)
}
