package sqlitetrace

import (
	"context"
	"database/sql/driver"
	"errors"

	"github.com/tidestaff/tidestaff/internal/sqlplan"
	"github.com/tidestaff/tidestaff/probe"
)

// An execution is one operation from its start to its end: an Exec's return, a
// commit's, or the close of a query's rows. It is used in this order, so that
// it is counted once also if the driver panics, which passes through:
//
//	var x execution
//	x.begin(c, ctx, kindExec, c.statement(query))
//	defer x.end()
//	... the driver's call
//	x.returned(err)
//
// The zero execution is one that nobody watches; its methods do nothing.
type execution struct {
	conn    *conn
	series  *series
	counts  *kindSeries     // of the series, from began on
	text    *statement      // noStatement for kindTx
	plan    *sqlplan.Plan   // nil if nobody looked
	ctx     context.Context // of the call; tells a deadline from a cancelation
	op      *probe.Op
	span    probe.Span
	tx      *tx // that it begins, ends or is part of; nil for none
	txID    int64
	kind    kind
	part    txPart
	bid     bid
	outcome outcome
	failure class               // for outcomeRan
	waited  int64               // ns, for the write lock
	args    []driver.NamedValue // nil unless something tells of them; see bound
}

// An outcome says whether a call counts.
type outcome uint8

const (
	outcomePanicked outcome = iota // it has not returned
	outcomeRan
	outcomeSkipped // ErrSkip: database/sql goes on to prepare
	outcomeRetried // ErrBadConn: database/sql tries another connection
)

// begin begins an execution by the method and role that [probe.LabelOf] finds,
// or the statement's own name.
//
// The method must be found now and not at the end: rows may be closed, and
// transactions ended, on other goroutines.
func (x *execution) begin(c *conn, ctx context.Context, k kind, text *statement) {
	x.beginAs(c, ctx, k, c.probe.series.Named(ctx, text.method), probe.OpOf(ctx), text)
	if x.series == nil {
		return
	}
	if c.tx.open {
		x.tx, x.txID = &c.tx, c.tx.id
		if text.effect >= effectCommit {
			c.ending()
		}
	}
	if text.writes || text.effect == effectImmediate {
		x.bidForLock()
	}
}

// beginAs begins an execution on behalf of a method that is known already.
func (x *execution) beginAs(c *conn, ctx context.Context, k kind, s *series, op *probe.Op, text *statement) {
	span := c.probe.core.Begin(s.label)
	if span.Start() == 0 { // the last window was closed in between
		return
	}
	x.conn, x.series, x.text, x.ctx, x.op, x.span, x.kind = c, s, text, ctx, op, span, k
}

// returned notes how the driver's call ended.
func (x *execution) returned(err error) {
	x.outcome = outcomeRan
	if err != nil {
		x.failed(err)
	}
}

// failed is returned for a call that failed.
func (x *execution) failed(err error) {
	switch {
	case x.series == nil:
	case errors.Is(err, driver.ErrBadConn) && !x.conn.tx.open:
		x.outcome = outcomeRetried
	default:
		x.failure = classOf(x.ctx, x.conn.probe.system, err)
	}
}

// skipped notes a return like returned, of a call that may fall back by ErrSkip:
// those of a connection may, those of a statement may not.
func (x *execution) skipped(err error) {
	if err == driver.ErrSkip { // not errors.Is: database/sql compares it so
		x.outcome = outcomeSkipped
		return
	}
	x.returned(err)
}

// changed records how many rows a statement has affected. SQLite keeps the
// number of the last statement that affected any, so it is only asked for those
// that do.
func (x *execution) changed(res driver.Result, err error) {
	if x.series != nil && x.text.changes && err == nil && res != nil {
		x.affected(res)
	}
}

// affected is changed for a statement that has.
func (x *execution) affected(res driver.Result) {
	if n, ok := rowsAffected(res); ok {
		x.series.affected().RecordShard(x.conn.shard, n)
	}
}

// rowsAffected asks a driver's result, which may not know, and which must not
// take the service down for the probe's asking.
func rowsAffected(res driver.Result) (n int64, ok bool) {
	defer func() {
		if recover() != nil {
			n, ok = 0, false
		}
	}()
	n, err := res.RowsAffected()
	return n, err == nil && n >= 0
}

// end ends the execution and counts it, unless wrapRows has handed it on.
func (x *execution) end() {
	if x.series == nil {
		return
	}
	ns, _ := x.conn.probe.core.End(x.span) // it was watched, or series were nil
	switch x.outcome {
	case outcomeSkipped:
		x.finish(ns, split{call: ns})
		return
	case outcomeRetried:
		x.series.retried(x.kind)
		x.finish(ns, split{call: ns})
		return
	case outcomePanicked:
		x.failure = classOther // and the panic goes on: nothing here recovers
	}
	x.began(ns)
	x.count(ns)
	x.finish(ns, split{call: ns})
}

// began counts the statement as executed, after a call of ns nanoseconds. It
// is apart from count because a query's rows may be closed much later, or
// never, and the operation in the context may have ended by then.
func (x *execution) began(ns int64) {
	var n int64
	x.counts = x.series.of(x.kind)
	if x.kind != kindTx {
		x.counts.queries.Add(1)
		n = 1
		if x.plan != nil {
			x.series.planned(x.plan)
		}
		x.countEach()
	}
	x.op.AddQueries(n, ns, 0)
}

// count records what is known when the execution has ended.
func (x *execution) count(busy int64) {
	x.counts.duration.RecordShard(x.conn.shard, busy)
	if x.failure != classNone {
		x.series.failed(x.kind, x.failure)
	}
}

// finish says what the execution means to the transaction and to the write
// lock, after wall nanoseconds, and whether it was slow.
func (x *execution) finish(wall int64, s split) {
	end := x.span.Start() + wall
	if x.tx != nil || x.text.effect != effectNone {
		x.settleTx(end, s.busy())
	}
	if x.bid != bidNone {
		x.settleLock(end, x.conn.tx.open)
	}
	if x.tx == nil && x.conn.probe.marked.Load() {
		x.conn.uses.add(x.series, x.span.Start(), end)
	}
	if slow := x.conn.probe.slow; slow > 0 && s.busy() >= slow && x.outcome <= outcomeRan {
		x.emitSlow(wall, s)
	}
}
