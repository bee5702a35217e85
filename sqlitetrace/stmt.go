package sqlitetrace

import (
	"context"
	"database/sql/driver"
)

// A stmt wraps a prepared statement.
type stmt struct {
	inner   driver.Stmt
	conn    *conn
	query   string
	text    *statement               // what is known of query, once it is asked for
	execer  driver.StmtExecContext   // nil if inner lacks it
	queryer driver.StmtQueryContext  // nil if inner lacks it
	checker driver.NamedValueChecker // nil if inner lacks it
}

// A convertingStmt wraps a statement that has a ColumnConverter, which only such
// a one may have: database/sql asks it before the default conversion.
//
// Note: to embed driver.ColumnConverter would not do it. The field of that name
// hides the method of that name, and the struct does not implement the interface.
type convertingStmt struct {
	stmt
	converter columnConverter
}

// columnConverter is driver.ColumnConverter, which is deprecated and in use.
type columnConverter interface {
	ColumnConverter(idx int) driver.ValueConverter
}

// ColumnConverter implements [driver.ColumnConverter].
func (s *convertingStmt) ColumnConverter(idx int) driver.ValueConverter {
	return s.converter.ColumnConverter(idx)
}

// wrapStmt wraps what a driver's Prepare has returned.
func (c *conn) wrapStmt(inner driver.Stmt, query string, err error) (driver.Stmt, error) {
	if err != nil || inner == nil {
		return inner, err
	}
	s := stmt{inner: inner, conn: c, query: query}
	s.execer, _ = inner.(driver.StmtExecContext)
	s.queryer, _ = inner.(driver.StmtQueryContext)
	s.checker, _ = inner.(driver.NamedValueChecker)
	if converter, ok := inner.(columnConverter); ok {
		return &convertingStmt{s, converter}, nil
	}
	return &s, nil
}

// begin begins an execution of the statement, whose text is looked up once.
func (s *stmt) begin(x *execution, ctx context.Context, k kind) {
	if s.text == nil {
		s.text = s.conn.lookUp(s.query)
	}
	x.begin(s.conn, ctx, k, s.text)
}

// Close implements [driver.Stmt].
func (s *stmt) Close() error { return s.inner.Close() }

// NumInput implements [driver.Stmt].
func (s *stmt) NumInput() int { return s.inner.NumInput() }

// CheckNamedValue implements [driver.NamedValueChecker]. database/sql asks the
// statement and, if that is no checker, its connection; since this one always
// is, it passes the question on.
func (s *stmt) CheckNamedValue(nv *driver.NamedValue) error {
	if s.checker != nil {
		return s.checker.CheckNamedValue(nv)
	}
	return s.conn.CheckNamedValue(nv)
}

// ExecContext implements [driver.StmtExecContext]. The execution belongs to the
// method that executes, which need not be the one that prepared. ErrSkip from a
// statement is a failure like any other: only a connection may fall back.
func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	ctx = s.conn.served(ctx)
	if !s.conn.watched(s.query) {
		return s.execInner(ctx, args)
	}
	var x execution
	x.plan = s.conn.plan(ctx, s.query, args)
	s.begin(&x, ctx, kindExec)
	x.bound(args)
	defer x.end()
	res, err := s.execInner(ctx, args)
	x.returned(err)
	x.changed(res, err)
	return res, err
}

func (s *stmt) execInner(ctx context.Context, named []driver.NamedValue) (driver.Result, error) {
	if s.execer != nil {
		return s.execer.ExecContext(ctx, named)
	}
	args, err := legacyArgs(ctx, named)
	if err != nil {
		return nil, err
	}
	return legacyStmt(s.inner).Exec(args)
}

// QueryContext implements [driver.StmtQueryContext].
func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	ctx = s.conn.served(ctx)
	if !s.conn.watched(s.query) {
		return s.queryInner(ctx, args)
	}
	var x execution
	x.plan = s.conn.plan(ctx, s.query, args)
	s.begin(&x, ctx, kindQuery)
	x.bound(args)
	defer x.end()
	rows, err := s.queryInner(ctx, args)
	x.returned(err)
	return x.wrapRows(rows, err)
}

func (s *stmt) queryInner(ctx context.Context, named []driver.NamedValue) (driver.Rows, error) {
	if s.queryer != nil {
		return s.queryer.QueryContext(ctx, named)
	}
	args, err := legacyArgs(ctx, named)
	if err != nil {
		return nil, err
	}
	return legacyStmt(s.inner).Query(args)
}

// Exec implements [driver.Stmt]. database/sql uses ExecContext; this is for who
// gets at the statement through (*sql.Conn).Raw.
func (s *stmt) Exec(args []driver.Value) (driver.Result, error) {
	if !s.conn.watched(s.query) {
		return legacyStmt(s.inner).Exec(args)
	}
	var x execution
	x.plan = s.conn.planNumbered(s.query, args)
	s.begin(&x, context.Background(), kindExec)
	x.boundNumbered(args)
	defer x.end()
	res, err := legacyStmt(s.inner).Exec(args)
	x.returned(err)
	x.changed(res, err)
	return res, err
}

// Query implements [driver.Stmt]; see Exec.
func (s *stmt) Query(args []driver.Value) (driver.Rows, error) {
	if !s.conn.watched(s.query) {
		return legacyStmt(s.inner).Query(args)
	}
	var x execution
	x.plan = s.conn.planNumbered(s.query, args)
	s.begin(&x, context.Background(), kindQuery)
	x.boundNumbered(args)
	defer x.end()
	rows, err := legacyStmt(s.inner).Query(args)
	x.returned(err)
	return x.wrapRows(rows, err)
}
