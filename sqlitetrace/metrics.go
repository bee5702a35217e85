package sqlitetrace

import (
	"sync/atomic"

	"github.com/tidestaff/tidestaff/internal/sqlplan"
	"github.com/tidestaff/tidestaff/probe"
)

// The attributes of this package's metrics, beside [probe.AttrMethod] and
// [probe.AttrRole].
const (
	// AttrSystem is OpenTelemetry's attribute for the database system.
	AttrSystem = "db.system.name"
	// AttrOperation is the kind of operation: "exec", "query" or "tx" (begin,
	// commit and rollback).
	AttrOperation = "tidestaff.db.operation"
	// AttrPhase is where the time of a query went: "call", "step", "close" or
	// "idle"; and of a transaction: "begin", "statements", "idle", "commit" or
	// "rollback".
	AttrPhase = "tidestaff.db.phase"

	// attrErrorType is OpenTelemetry's attribute for the class of a failure.
	attrErrorType = "error.type"
)

// other stands for everything beyond a table's bounds.
const other = "(other)"

// systemSQLite is the default of Options.System, by OpenTelemetry's name.
const systemSQLite = "sqlite"

// The boundaries begin at 10 µs: a look-up by primary key takes a few, and
// OpenTelemetry's own advice, from 1 ms, would put all of SQLite in one bucket.
var (
	descDuration = &probe.Desc{Name: "db.client.operation.duration", Unit: "s", Kind: probe.KindDistribution,
		Help:   "Time in the driver per operation: the call, and for a query also stepping (sampled beyond 2, unless Options.RowTiming says otherwise) and closing its rows.",
		Bounds: []float64{1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 5e-3, 0.01, 0.05, 0.1, 0.5, 1, 5, 10},
		Bench:  []probe.Bench{{Unit: "sql-ns/op", Stat: "sum", PerOp: true, Better: "lower"}}}
	descQueries = &probe.Desc{Name: "tidestaff.db.queries", Unit: "{query}", Kind: probe.KindCounter,
		Help:  "Statements executed, each once.",
		Bench: []probe.Bench{{Unit: "queries/op", Stat: "value", PerOp: true, Better: "lower", Exact: true}}}
	descQueryTime = &probe.Desc{Name: "tidestaff.db.query.time", Unit: "s", Kind: probe.KindCounter,
		Help: "Where the time of queries went that were closed, by phase: the call, stepping the rows (sampled beyond 2, unless Options.RowTiming says otherwise), the close, and idle: the application's own, in between."}
	descRows = &probe.Desc{Name: "db.client.response.returned_rows", Unit: "{row}", Kind: probe.KindDistribution,
		Help:   "Rows stepped per query.",
		Bounds: []float64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000},
		Bench:  []probe.Bench{{Unit: "rows/op", Stat: "sum", PerOp: true, Better: "lower", Exact: true}}}
	descCursor = &probe.Desc{Name: "tidestaff.db.cursor.duration", Unit: "s", Kind: probe.KindDistribution,
		Help: "Time from a query's start to the end of its close, the application's time between the rows included."}
	descAffected = &probe.Desc{Name: "tidestaff.db.affected_rows", Unit: "{row}", Kind: probe.KindDistribution,
		Help:   "Rows that an INSERT, UPDATE, DELETE or REPLACE without RETURNING has affected.",
		Bounds: []float64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000},
		Bench:  []probe.Bench{{Unit: "affected-rows/op", Stat: "sum", PerOp: true, Better: "lower", Exact: true}}}
	descActive = &probe.Desc{Name: "tidestaff.db.cursor.active", Unit: "{cursor}", Kind: probe.KindUpDownCounter,
		Help: "Queries whose rows are not closed yet."}
	descErrors = &probe.Desc{Name: "tidestaff.db.errors", Unit: "{operation}", Kind: probe.KindCounter,
		Help: "Operations that failed, by the class of their first error; a class that never occurred has no series."}
	descRetries = &probe.Desc{Name: "tidestaff.db.retries", Unit: "{attempt}", Kind: probe.KindCounter,
		Help: "Attempts that failed with a bad connection, for database/sql to repeat on another."}

	descs = []*probe.Desc{descDuration, descQueries, descQueryTime, descRows, descAffected, descCursor, descActive, descErrors, descRetries}
)

// A kind is a kind of operation.
type kind uint8

const (
	kindExec kind = iota
	kindQuery
	kindTx
	kinds
)

var kindNames = [kinds]string{"exec", "query", "tx"}

// A lazy is made when it is first asked for, so that what never occurs has no
// series. Two that race to make one get the same metrics from the Core, so it
// does not matter whose struct stays.
type lazy[T any] struct{ p atomic.Pointer[T] }

func (l *lazy[T]) get(make func() *T) *T {
	if v := l.p.Load(); v != nil {
		return v
	}
	l.p.CompareAndSwap(nil, make())
	return l.p.Load()
}

// A series holds the metrics of one method in one role. Those of a kind of
// operation are made when the first one ends, so that a method that only
// queries has no empty series for the rest.
type series struct {
	probe  *Probe
	label  *probe.Label
	kinds  [kinds]lazy[kindSeries]
	cursor lazy[cursorSeries]
	rows   lazy[probe.Recorder] // affected
	tx     lazy[txSeries]
	lock   lazy[probe.Recorder] // holds
	wait   lazy[probe.Recorder] // for a connection
	others [resources]lazy[probe.Counter]
	plans  [sqlplan.AutoIndex + 1]lazy[probe.Counter] // executions

	samples probe.Counter // of steps, that the times of queries rest on
}

// A kindSeries has what all kinds have. Counters of failures are made when one
// occurs.
type kindSeries struct {
	duration *probe.Recorder
	queries  *probe.Counter // nil for kindTx
	errors   [classes]lazy[probe.Counter]
	retries  lazy[probe.Counter]
}

// A cursorSeries has what only queries have. The four phases are counters and
// no distributions: their sums say where the time went, and four more
// distributions per method would more than double the memory.
type cursorSeries struct {
	call, close *probe.Counter  // ns
	step, idle  *probe.Counter  // ns; nil if no step is timed
	rows        *probe.Recorder // per query
	held        *probe.Recorder // ns, from the call's start to the close's end
	active      *probe.Counter
}

// base are the attributes that all series of the method have, with more.
func (s *series) base(more ...probe.Attr) []probe.Attr {
	return append([]probe.Attr{
		{Key: AttrSystem, Value: s.probe.system},
		{Key: probe.AttrMethod, Value: s.label.Method},
		{Key: probe.AttrRole, Value: s.label.Role},
	}, more...)
}

// attrs are the attributes of the series of a kind, with more if there are.
func (s *series) attrs(k kind, more ...probe.Attr) []probe.Attr {
	return append(s.base(probe.Attr{Key: AttrOperation, Value: kindNames[k]}), more...)
}

// of gives the series of a kind.
func (s *series) of(k kind) *kindSeries {
	if ks := s.kinds[k].p.Load(); ks != nil { // without the call, in the hot path
		return ks
	}
	return s.kinds[k].get(func() *kindSeries {
		ks := &kindSeries{duration: s.probe.core.Recorder(descDuration, s.attrs(k)...)}
		if k == kindQuery {
			ks.duration.SampledBy(&s.samples)
		}
		if k != kindTx {
			ks.queries = s.probe.core.Counter(descQueries, s.attrs(k)...)
		}
		return ks
	})
}

// cursors gives the series that only queries have.
func (s *series) cursors() *cursorSeries {
	return s.cursor.get(func() *cursorSeries {
		core, attrs := &s.probe.core, s.attrs(kindQuery)
		phase := func(name string) *probe.Counter {
			return core.Counter(descQueryTime, s.attrs(kindQuery, probe.Attr{Key: AttrPhase, Value: name})...)
		}
		cs := &cursorSeries{
			call: phase("call"), close: phase("close"),
			rows:   core.Recorder(descRows, attrs...),
			held:   core.Recorder(descCursor, attrs...),
			active: core.Counter(descActive, attrs...),
		}
		if s.probe.timing != RowTimingOff {
			cs.step, cs.idle = phase("step"), phase("idle")
			cs.step.SampledBy(&s.samples)
			cs.idle.SampledBy(&s.samples)
		}
		return cs
	})
}

// affected gives the recorder of rows that statements have affected.
func (s *series) affected() *probe.Recorder {
	return s.rows.get(func() *probe.Recorder { return s.probe.core.Recorder(descAffected, s.attrs(kindExec)...) })
}

// failed counts an operation of kind k that failed.
func (s *series) failed(k kind, c class) {
	s.of(k).errors[c].get(func() *probe.Counter {
		return s.probe.core.Counter(descErrors, s.attrs(k, probe.Attr{Key: attrErrorType, Value: classNames[c]})...)
	}).Add(1)
}

// retried counts an attempt that database/sql repeats.
func (s *series) retried(k kind) {
	s.of(k).retries.get(func() *probe.Counter { return s.probe.core.Counter(descRetries, s.attrs(k)...) }).Add(1)
}
