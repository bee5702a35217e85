package sqlitetrace

import (
	"context"
	"database/sql/driver"
	"errors"

	"github.com/tidestaff/tidestaff/probe"
)

// An execution is one operation from its start to its end: an Exec's return, a
// commit's, or the close of a query's rows. It is used in this order, so that
// it is counted once also if the driver panics, which passes through:
//
//	x := c.begin(ctx, kindExec)
//	defer x.end()
//	... the driver's call
//	x.returned(err)
//
// The zero execution is one that nobody watches; its methods do nothing.
type execution struct {
	conn    *conn
	series  *series
	ctx     context.Context // of the call; tells a deadline from a cancelation
	op      *probe.Op
	span    probe.Span
	kind    kind
	outcome outcome
	failure class // for outcomeRan
}

// An outcome says whether a call counts.
type outcome uint8

const (
	outcomePanicked outcome = iota // it has not returned
	outcomeRan
	outcomeSkipped // ErrSkip: database/sql goes on to prepare
	outcomeRetried // ErrBadConn: database/sql tries another connection
)

// begin begins an execution by the method and role that [probe.LabelOf] finds.
//
// Everything that costs more than an atomic load comes after the question
// whether anybody watches. The method must be found now and not at the end:
// rows may be closed, and transactions ended, on other goroutines.
func (c *conn) begin(ctx context.Context, k kind) execution {
	if !c.probe.core.Watched() {
		return execution{}
	}
	return c.beginAs(ctx, k, c.probe.series.Of(probe.LabelOf(ctx)), probe.OpOf(ctx))
}

// beginAs begins an execution on behalf of a method that is known already.
func (c *conn) beginAs(ctx context.Context, k kind, s *series, op *probe.Op) execution {
	span := c.probe.core.Begin(s.label)
	if span.Start() == 0 { // the last window was closed in between
		return execution{}
	}
	return execution{conn: c, series: s, ctx: ctx, op: op, span: span, kind: k}
}

// returned notes how the driver's call ended.
func (x *execution) returned(err error) {
	if x.series == nil {
		return
	}
	x.outcome = outcomeRan
	switch {
	case err == nil:
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

// end ends the execution and counts it, unless wrapRows has handed it on.
func (x *execution) end() {
	if x.series == nil {
		return
	}
	ns, _ := x.conn.probe.core.End(x.span) // it was watched, or series were nil
	switch x.outcome {
	case outcomeSkipped:
		return
	case outcomeRetried:
		x.series.retried(x.kind)
		return
	case outcomePanicked:
		x.failure = classOther // and the panic goes on: nothing here recovers
	}
	x.began(ns)
	x.count(ns)
}

// began counts the statement as executed, after a call of ns nanoseconds. It
// is apart from count because a query's rows may be closed much later, or
// never, and the operation in the context may have ended by then.
func (x *execution) began(ns int64) {
	var n int64
	if x.kind != kindTx {
		x.series.of(x.kind).queries.Add(1)
		n = 1
	}
	x.op.AddQueries(n, ns, 0)
}

// count records what is known when the execution has ended.
func (x *execution) count(busy int64) {
	x.series.of(x.kind).duration.RecordShard(x.conn.shard, busy)
	if x.failure != classNone {
		x.series.failed(x.kind, x.failure)
	}
}
