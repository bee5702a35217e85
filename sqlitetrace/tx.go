package sqlitetrace

import (
	"context"
	"database/sql/driver"

	"github.com/tidestaff/tidestaff/probe"
)

// A tx wraps a transaction. Its commit or rollback belongs to the method that
// began it: database/sql may roll back on a goroutine of its own. One that was
// begun while nobody watched has no method, and its end is not counted.
//
// A transaction that statements begin and end ("BEGIN IMMEDIATE" on a *sql.Conn)
// is one as well, of no driver.Tx.
type tx struct {
	conn   *conn
	inner  driver.Tx // nil for one that statements began
	series *series
	op     *probe.Op
	ctx    context.Context
	open   bool // neither committed nor rolled back
	over   bool // SQLite has rolled it back by itself
	gone   bool // SQLite says that there was none to end
	id     int64

	began      int64 // ns that the begin took
	start      int64 // of the hold: when the begin had ended
	busy       int64 // ns of its statements
	statements int64
}

// A txPart is what an execution is to its transaction.
type txPart uint8

const (
	txStatement txPart = iota
	txBegin
	txCommit
	txRollback
)

// Begin implements [driver.Conn]. database/sql uses BeginTx; this is for who
// gets at the connection through (*sql.Conn).Raw.
func (c *conn) Begin() (driver.Tx, error) {
	c.refresh(context.Background())
	var x execution
	x.beginTx(c, context.Background(), driver.TxOptions{})
	defer x.end()
	t, err := legacyConn(c.inner).Begin()
	x.returned(err)
	return c.wrapTx(t, err, &x)
}

// BeginTx implements [driver.ConnBeginTx].
func (c *conn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	ctx = c.served(ctx)
	c.refresh(ctx)
	var x execution
	x.beginTx(c, ctx, opts)
	defer x.end()
	t, err := c.beginInner(ctx, opts)
	x.returned(err)
	return c.wrapTx(t, err, &x)
}

// beginTx begins the execution that begins a transaction, and that asks for the
// write lock if transactions of these options do.
func (x *execution) beginTx(c *conn, ctx context.Context, opts driver.TxOptions) {
	if !c.probe.core.Watched() {
		return
	}
	x.beginAs(c, ctx, kindTx, c.probe.series.Named(ctx, ""), probe.OpOf(ctx), noStatement)
	if x.series != nil && c.beginsLocked(opts) {
		x.bidForLock()
	}
}

// beginInner begins a transaction of the original connection. Without BeginTx
// it refuses the options that cannot be passed on, and looks at the context once
// the transaction is there, as database/sql does.
func (c *conn) beginInner(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if b, ok := c.inner.(driver.ConnBeginTx); ok {
		return b.BeginTx(ctx, opts)
	}
	if opts.Isolation != 0 {
		return nil, errIsolation
	}
	if opts.ReadOnly {
		return nil, errReadOnly
	}
	t, err := legacyConn(c.inner).Begin()
	if err == nil && done(ctx) != nil {
		t.Rollback()
		return nil, ctx.Err()
	}
	return t, err
}

// wrapTx wraps what the original has returned. A connection has one transaction
// at a time, whose wrapper is part of the connection's; only a caller that goes
// around database/sql can make a second one.
func (c *conn) wrapTx(inner driver.Tx, err error, x *execution) (driver.Tx, error) {
	if err != nil || inner == nil {
		return inner, err
	}
	t := &c.tx
	if t.open && t.inner != nil {
		t = new(tx)
	}
	t.enter(c, inner, x)
	return t, nil
}

// enter begins the transaction: x is the execution that has begun it.
func (t *tx) enter(c *conn, inner driver.Tx, x *execution) {
	if t.open { // of statements, one of which has ended it and was not understood
		t.leave()
	}
	*t = tx{conn: c, inner: inner, series: x.series, op: x.op, ctx: x.ctx, open: true, id: t.id + 1}
	if t.series != nil {
		t.series.transactions().active.Add(1)
		c.open.setTx(t.series, x.span.Start())
		x.tx, x.txID, x.part = t, t.id, txBegin
	}
}

// Commit implements [driver.Tx]. In rollback-journal mode and with full
// synchronisation this is where SQLite waits for the disk. Whatever it returns,
// database/sql regards the transaction as ended.
func (t *tx) Commit() error {
	var x execution
	t.beginEnd(&x, txCommit)
	defer t.leave()
	defer x.end()
	err := t.inner.Commit()
	t.gone = noTransaction(err)
	x.returned(err)
	return err
}

// Rollback implements [driver.Tx].
func (t *tx) Rollback() error {
	var x execution
	t.beginEnd(&x, txRollback)
	defer t.leave()
	defer x.end()
	err := t.inner.Rollback()
	t.gone = noTransaction(err)
	x.returned(err)
	return err
}

// beginEnd begins the execution that ends the transaction, once: who goes around
// database/sql may roll back after a commit, which ends nothing.
func (t *tx) beginEnd(x *execution, part txPart) {
	if t.series == nil || !t.open {
		return
	}
	t.conn.ending()
	x.beginAs(t.conn, context.Background(), kindTx, t.series, t.op, noStatement)
	x.tx, x.txID, x.part = t, t.id, part
}

// settleTx says what the execution was to its transaction. A statement may have
// begun or ended one.
func (x *execution) settleTx(end, busy int64) {
	c, ran := x.conn, x.outcome == outcomeRan && x.failure == classNone
	if x.tx != nil && x.findsNone() {
		x.tx.gone, ran = true, true
	}
	switch e := x.text.effect; {
	case e == effectNone || !ran:
	case e == effectCheckpoint:
		x.checkpointed(busy)
	case (e == effectBegin || e == effectImmediate) && (!c.tx.open || c.tx.inner == nil):
		c.tx.enter(c, nil, x)
	case e == effectCommit && x.tx != nil:
		x.part = txCommit
	case e == effectRollback && x.tx != nil:
		x.part = txRollback
	}
	t := x.tx
	if t == nil || t.series == nil || !t.open || t.id != x.txID {
		return
	}
	switch x.part {
	case txBegin:
		t.began, t.start = busy, end
	case txStatement:
		t.busy += busy
		if x.outcome == outcomeRan {
			t.statements++
		}
		if x.bid == bidNone { // otherwise settleLock does
			c.doubt(x, end)
		}
		if x.text.effect >= effectCommit { // it has failed, and the transaction goes on
			c.hold.ending.Store(false)
		}
	default:
		t.series.ended(t, t.outcome(x), end-t.start, busy, t.conn.shard)
		t.leaveAt(end)
	}
}

// outcome says how the execution that ends the transaction has ended it.
func (t *tx) outcome(x *execution) txOutcome {
	switch {
	case x.part == txRollback && t.ctx != nil && t.ctx.Err() != nil:
		return txAbandoned
	case x.part == txRollback:
		return txRolledBack
	case x.failure != classNone || x.outcome != outcomeRan:
		return txFailed
	}
	return txCommitted
}

// leave ends the transaction also where nobody watches its end.
func (t *tx) leave() {
	if t.open {
		t.leaveAt(probe.Now())
	}
}

func (t *tx) leaveAt(end int64) {
	t.open = false
	t.ctx, t.op = nil, nil // an idle connection keeps nothing of a request alive
	if t.conn.planner != nil {
		t.conn.planner.unseen = 0
	}
	if t.series != nil {
		t.series.transactions().active.Add(-1)
		t.conn.open.setTx(nil, 0)
		if t.conn.probe.marked.Load() {
			t.conn.uses.add(t.series, t.start-t.began, end)
		}
	}
	if failed := t.conn.hold.failed.Load(); t.gone && failed != 0 {
		end = failed
	}
	t.conn.releaseLock(end)
}

// closed ends a transaction whose connection has been closed.
func (t *tx) closed() {
	if !t.open {
		return
	}
	end := probe.Now()
	if t.series != nil && t.conn.probe.core.Watched() {
		t.series.ended(t, txAbandoned, end-t.start, 0, t.conn.shard)
	}
	t.leaveAt(end)
}

// unwatched sees to it that a transaction of statements does not seem to go on
// because nobody watched its end.
func (c *conn) unwatched(query string) {
	if c.planner != nil {
		c.planner.missed(c.statement(query))
	}
	if c.tx.open && c.tx.inner == nil {
		if e := c.statement(query).effect; e == effectCommit || e == effectRollback {
			c.tx.leave()
		}
	}
}
