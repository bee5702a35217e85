package probe

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// attrOperation is the attribute that names a user's operation.
const attrOperation = "tidestaff.operation.name"

// attrErrorType is OpenTelemetry's attribute for the class of a failure.
const attrErrorType = "error.type"

// The descriptions of Ops. What the leaves add to an operation is a
// distribution over operations, so that "queries per request" is one.
var (
	opDuration = &Desc{Name: "tidestaff.operation.duration", Unit: "s", Kind: KindDistribution,
		Help: "Time from an operation's Begin to its End.",
		Bench: []Bench{
			{Unit: "p50-latency-ns", Stat: "p50", Better: "lower"},
			{Unit: "p99-latency-ns", Stat: "p99", Better: "lower"},
		}}
	opFailures = &Desc{Name: "tidestaff.operation.failures", Unit: "{operation}", Kind: KindCounter,
		Help: "Operations that ended with an error, by class: canceled, deadline, other."}
	opActive = &Desc{Name: "tidestaff.operation.active", Unit: "{operation}", Kind: KindUpDownCounter,
		Help: "Operations under way."}
	opQueries = &Desc{Name: "tidestaff.operation.queries", Unit: "{query}", Kind: KindDistribution,
		Help:  "Statements executed within one operation.",
		Bench: []Bench{{Unit: "queries/op", Stat: "mean", Better: "lower", Exact: true}}}
	opSQLTime = &Desc{Name: "tidestaff.operation.sql.time", Unit: "s", Kind: KindDistribution,
		Help:  "Time in the database driver within one operation.",
		Bench: []Bench{{Unit: "sql-ns/op", Stat: "mean", Better: "lower"}}}
	opRows = &Desc{Name: "tidestaff.operation.rows", Unit: "{row}", Kind: KindDistribution,
		Help:  "Rows stepped within one operation.",
		Bench: []Bench{{Unit: "rows/op", Stat: "mean", Better: "lower", Exact: true}}}
	opFileReads = &Desc{Name: "tidestaff.operation.file.reads", Unit: "{read}", Kind: KindDistribution,
		Help:  "File reads within one operation.",
		Bench: []Bench{{Unit: "fs-reads/op", Stat: "mean", Better: "lower", Exact: true}}}
	opFileIO = &Desc{Name: "tidestaff.operation.file.io", Unit: "By", Kind: KindDistribution,
		Help:  "Bytes read from files within one operation.",
		Bench: []Bench{{Unit: "fs-read-bytes/op", Stat: "mean", Better: "lower", Exact: true}}}
)

// Ops is the probe of the service's own work: operations that the user names,
// such as a request, a turn, a tick. Per name and role it gives count,
// duration, failures by class and how many are under way. The leaves add to
// the operation in the context what they see: queries, SQL time, rows, file
// reads and bytes; each is a distribution over operations.
//
// What no leaf measures is absent, not zero. A leaf says what it adds by a method
//
//	FeedsOps() (queries, reads bool)
//
// which Ops asks of the other members of its Set. Of one that is in no Set with
// it, Ops learns when it first adds something.
//
// The zero Ops is ready for use. Its exported fields are set before the first
// use.
type Ops struct {
	// Name tells several of one process apart; see [Core.Name].
	Name string
	// MaxSeries bounds the operations × roles that are kept apart; 0 means
	// 500. The rest share the operation "(other)".
	MaxSeries int

	once  sync.Once
	inner Core
	table *Table[labelKey, opSeries]
	// fed says which kinds of leaf have ever added to an operation: what no
	// leaf measures is absent, not zero.
	fedSQL, fedFiles atomic.Bool
}

// opSeries are the series of one operation in one role. Those that a leaf feeds
// are made when it does.
type opSeries struct {
	label      *Label
	duration   *Recorder
	active     *Counter
	failures   [len(failureClasses)]*Counter
	sql, files atomic.Pointer[[3]*Recorder]
}

var failureClasses = [...]string{"canceled", "deadline", "other"}

// core is the Core, made ready at the first use.
func (p *Ops) core() *Core {
	p.once.Do(func() {
		p.inner.Name, p.inner.Activity = p.Name, "operation"
		p.inner.Descs = []*Desc{opDuration, opFailures, opActive, opQueries, opSQLTime, opRows, opFileReads, opFileIO}
		p.table = NewTable(p.MaxSeries, labelKey{otherName, otherName}, p.series)
	})
	return &p.inner
}

func (p *Ops) series(k labelKey) *opSeries {
	s := &opSeries{label: intern(k.method, k.role)}
	attrs := s.attrs()
	s.duration = p.inner.Recorder(opDuration, attrs...)
	s.active = p.inner.Counter(opActive, attrs...)
	for i, class := range failureClasses {
		s.failures[i] = p.inner.Counter(opFailures, append(attrs, Attr{attrErrorType, class})...)
	}
	return s
}

func (s *opSeries) attrs() []Attr {
	return []Attr{{attrOperation, s.label.Method}, {AttrRole, s.label.Role}}
}

// Watch implements [Probe].
func (p *Ops) Watch() (*Window, error) { return p.core().Watch() }

// Describe implements [Probe].
func (p *Ops) Describe() []*Desc { return p.core().Describe() }

// Meet implements what [NewSet] looks for: it asks the leaves what they add.
func (p *Ops) Meet(peers []Probe) {
	for _, peer := range peers {
		if leaf, ok := peer.(interface{ FeedsOps() (queries, reads bool) }); ok {
			queries, reads := leaf.FeedsOps()
			p.fedSQL.CompareAndSwap(false, queries)
			p.fedFiles.CompareAndSwap(false, reads)
		}
	}
}

// Overlapping says which operations overlapped the last d; see
// [Core.Overlapping].
func (p *Ops) Overlapping(dst []Overlap, d time.Duration) []Overlap {
	return p.core().Overlapping(dst, d)
}

// An Op is an operation under way. Its methods may be called from several
// goroutines; those of a nil Op do nothing.
type Op struct {
	ops    *Ops
	series *opSeries
	span   Span
	parent *Op
	ended  atomic.Bool

	queries, sqlTime, rows, reads, bytes atomic.Int64
}

// Begin begins an operation and returns a context that carries it, for the
// leaves to add to. The role is that of the context or the goroutine, see
// [LabelOf].
func (p *Ops) Begin(ctx context.Context, name string) (context.Context, *Op) {
	if ctx == nil {
		ctx = context.Background()
	}
	if !p.inner.Watched() {
		return ctx, nil
	}
	s := p.table.Get(labelKey{name, roleFor(ctx)})
	c := carried(ctx)
	op := &Op{ops: p, series: s, parent: c.op}
	s.active.Add(1)
	op.span = p.inner.Begin(s.label)
	return carry(ctx, c.label, op), op
}

// roleFor is the role alone, without a call chain if a label has it.
func roleFor(ctx context.Context) string {
	if l := contextLabel(ctx); l != nil && l.Role != "" {
		return l.Role
	}
	if l := goroutineLabel(); l != nil && l.Role != "" {
		return l.Role
	}
	return chainLabel(nil, chains).Role
}

// OpOf is the innermost operation that ctx carries, or nil. ctx may be nil.
func OpOf(ctx context.Context) *Op { return carried(ctx).op }

// End ends the operation; a second End does nothing. An error counts as a
// failure of class canceled, deadline or other.
func (o *Op) End(err error) {
	if o == nil || o.ended.Swap(true) {
		return
	}
	s := o.series
	if ns, ok := o.ops.inner.End(o.span); ok {
		s.duration.Record(ns)
	}
	s.active.Add(-1)
	if err != nil {
		s.failures[failureClass(err)].Add(1)
	}
	if o.ops.fedSQL.Load() {
		record(&s.sql, o.ops, s, [3]*Desc{opQueries, opSQLTime, opRows}, o.queries.Load(), o.sqlTime.Load(), o.rows.Load())
	}
	if o.ops.fedFiles.Load() {
		record(&s.files, o.ops, s, [3]*Desc{opFileReads, opFileIO}, o.reads.Load(), o.bytes.Load())
	}
}

// record records one operation's totals, making their series the first time.
func record(at *atomic.Pointer[[3]*Recorder], p *Ops, s *opSeries, descs [3]*Desc, values ...int64) {
	recs := at.Load()
	if recs == nil {
		recs = new([3]*Recorder)
		for i := range values {
			recs[i] = p.inner.Recorder(descs[i], s.attrs()...) // the same one for all who race here
		}
		at.Store(recs)
	}
	for i, v := range values {
		recs[i].Record(v)
	}
}

func failureClass(err error) int {
	switch {
	case errors.Is(err, context.Canceled):
		return 0
	case errors.Is(err, context.DeadlineExceeded):
		return 1
	}
	return 2
}

// AddQueries adds statements, the nanoseconds spent on them in the driver and
// the rows stepped, to the operation and to those around it.
func (o *Op) AddQueries(n, ns, rows int64) {
	for ; o != nil; o = o.parent {
		o.queries.Add(n)
		o.sqlTime.Add(ns)
		o.rows.Add(rows)
		if !o.ops.fedSQL.Load() {
			o.ops.fedSQL.Store(true)
		}
	}
}

// AddReads adds file reads and their bytes to the operation and to those around
// it.
func (o *Op) AddReads(n, bytes int64) {
	for ; o != nil; o = o.parent {
		o.reads.Add(n)
		o.bytes.Add(bytes)
		if !o.ops.fedFiles.Load() {
			o.ops.fedFiles.Store(true)
		}
	}
}
