package sqlitetrace

import (
	"context"
	"database/sql/driver"
)

// A conn wraps a connection. By itself it has the interfaces whose presence
// makes no difference to database/sql, because it answers as database/sql would
// in their absence; [Probe.wrapConn] adds those whose presence does. Like every
// driver.Conn it is used by one goroutine at a time.
type conn struct {
	inner driver.Conn
	probe *Probe
	db    *database
	maker maker
	shard int // of the recorders: a connection has its own

	// Optional interfaces of inner, nil where it lacks them. A legacy one is
	// only looked for in the absence of its successor.
	execer        driver.ExecerContext
	legacyExecer  legacyExecer
	queryer       driver.QueryerContext
	legacyQueryer legacyQueryer
	resetter      driver.SessionResetter
	validator     driver.Validator
	checker       driver.NamedValueChecker

	// last is the statement that a call without a prepared statement had last.
	last *statement

	planner *planner // nil if no plan is asked for

	open openList
	uses uses

	// tx is the transaction under way. It is a part of the connection so that
	// none is allocated, and so that a bad connection is known to be in one:
	// database/sql then does not try another.
	tx tx

	// The write lock of the database, which only a transaction can hold from one
	// execution to the next.
	hold      hold // on the ledger
	holding   bool
	heldSince int64
}

// wrapConn wraps what a driver's Open or Connect has returned. A connection
// that this probe wraps already, because both its driver and its connector are
// watched, stays as it is: nothing is counted twice.
func (p *Probe) wrapConn(inner driver.Conn, err error, db *database) (driver.Conn, error) {
	if err != nil || inner == nil {
		return inner, err
	}
	if w, ok := inner.(interface{ watchedBy() *Probe }); ok && w.watchedBy() == p {
		return inner, nil
	}
	c := &conn{inner: inner, probe: p, db: db, maker: makerOf(inner), shard: int(p.shards.Add(1))}
	c.checker, _ = inner.(driver.NamedValueChecker)
	c.resetter, _ = inner.(driver.SessionResetter)
	c.validator, _ = inner.(driver.Validator)
	if c.execer, _ = inner.(driver.ExecerContext); c.execer == nil {
		c.legacyExecer, _ = inner.(legacyExecer)
	}
	if c.queryer, _ = inner.(driver.QueryerContext); c.queryer == nil {
		c.legacyQueryer, _ = inner.(legacyQueryer)
	}
	c.planner = p.newPlanner(c)
	p.conns.add(c)
	return c.exact(), nil
}

func (c *conn) watchedBy() *Probe { return c.probe }

// Unwrap is the original connection. modernc.org/sqlite looks for it under this
// name.
func (c *conn) Unwrap() driver.Conn { return c.inner }

// Raw is the original connection, under the name that other wrappers use.
func (c *conn) Raw() driver.Conn { return c.inner }

// Close implements [driver.Conn].
func (c *conn) Close() error {
	c.probe.conns.remove(c)
	c.abandonBids()
	if c.tx.open { // (*sql.Conn).Raw or a bad connection can bring that about
		defer c.tx.closed()
	}
	return c.inner.Close()
}

// Ping implements [driver.Pinger]. database/sql takes the absence of a Pinger
// for success.
func (c *conn) Ping(ctx context.Context) error {
	ctx = c.served(ctx)
	if p, ok := c.inner.(driver.Pinger); ok {
		return p.Ping(ctx)
	}
	return nil
}

// CheckNamedValue implements [driver.NamedValueChecker]. ErrSkip sends
// database/sql on to the statement's column converter and then to the default
// conversion, as the interface's absence would.
func (c *conn) CheckNamedValue(nv *driver.NamedValue) error {
	if c.checker != nil {
		return c.checker.CheckNamedValue(nv)
	}
	return driver.ErrSkip
}

// Prepare implements [driver.Conn].
func (c *conn) Prepare(query string) (driver.Stmt, error) {
	s, err := c.inner.Prepare(query)
	return c.wrapStmt(s, query, err)
}

// PrepareContext implements [driver.ConnPrepareContext]. For a driver without
// it the context is looked at once the statement is there, as database/sql does.
func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	s, err := c.prepareInner(c.served(ctx), query)
	return c.wrapStmt(s, query, err)
}

func (c *conn) prepareInner(ctx context.Context, query string) (driver.Stmt, error) {
	if p, ok := c.inner.(driver.ConnPrepareContext); ok {
		return p.PrepareContext(ctx, query)
	}
	s, err := c.inner.Prepare(query)
	if err == nil {
		if err := done(ctx); err != nil {
			s.Close()
			return nil, err
		}
	}
	return s, err
}

// exec is ExecContext, for connections that have it. An ErrSkip goes back as the
// very value that the driver returned: database/sql compares it so, and then
// prepares; that it executes after all is counted by the statement.
func (c *conn) exec(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	ctx = c.served(ctx)
	if !c.watched(query) {
		return c.execInner(ctx, query, args)
	}
	var x execution
	x.plan = c.plan(ctx, query, args)
	x.begin(c, ctx, kindExec, c.statement(query))
	x.bound(args)
	defer x.end()
	res, err := c.execInner(ctx, query, args)
	x.skipped(err)
	x.changed(res, err)
	return res, err
}

// watched reports whether anybody reads what a statement does. Everything that
// costs more than an atomic load comes after this question.
func (c *conn) watched(query string) bool {
	if c.probe.core.Watched() {
		return true
	}
	c.unwatched(query)
	return false
}

func (c *conn) execInner(ctx context.Context, query string, named []driver.NamedValue) (driver.Result, error) {
	if c.execer != nil {
		return c.execer.ExecContext(ctx, query, named)
	}
	args, err := legacyArgs(ctx, named)
	if err != nil {
		return nil, err
	}
	return c.legacyExecer.Exec(query, args)
}

// query is QueryContext, for connections that have it; see exec. The rows that
// it returns go on with the execution.
func (c *conn) query(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	ctx = c.served(ctx)
	if !c.watched(query) {
		return c.queryInner(ctx, query, args)
	}
	var x execution
	x.plan = c.plan(ctx, query, args)
	x.begin(c, ctx, kindQuery, c.statement(query))
	x.bound(args)
	defer x.end()
	rows, err := c.queryInner(ctx, query, args)
	x.skipped(err)
	return x.wrapRows(rows, err)
}

func (c *conn) queryInner(ctx context.Context, query string, named []driver.NamedValue) (driver.Rows, error) {
	if c.queryer != nil {
		return c.queryer.QueryContext(ctx, query, named)
	}
	args, err := legacyArgs(ctx, named)
	if err != nil {
		return nil, err
	}
	return c.legacyQueryer.Query(query, args)
}
