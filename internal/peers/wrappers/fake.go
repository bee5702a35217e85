package wrappers

import (
	"context"
	"database/sql/driver"
	"io"
)

// An instant driver answers the statements of a Store at once, with the values
// that the real ones would answer with. Its connections have the optional
// interfaces that today's drivers have, and count what reaches them. One
// connection at a time may use it.
type instant struct{ counts counts }

// counts are the calls that have reached an instant driver.
type counts struct{ prepares, execs, queries, rows, closes, begins, commits int }

// Open implements [driver.Driver].
func (d *instant) Open(string) (driver.Conn, error) { return &instantConn{&d.counts}, nil }

// instantJobs is the table that each query reads from the start: boxed once, so
// that a row costs no allocation.
var instantJobs = func() (all [jobs][2]driver.Value) {
	for i := range all {
		all[i] = [2]driver.Value{int64(i + 1), nameOfJob(i + 1)}
	}
	return all
}()

type instantConn struct{ counts *counts }

func (c *instantConn) Close() error                       { return nil }
func (c *instantConn) IsValid() bool                      { return true }
func (c *instantConn) ResetSession(context.Context) error { return nil }
func (c *instantConn) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{})
}

func (c *instantConn) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

// PrepareContext implements [driver.ConnPrepareContext].
func (c *instantConn) PrepareContext(_ context.Context, query string) (driver.Stmt, error) {
	c.counts.prepares++
	return &instantStmt{c, query}, nil
}

// BeginTx implements [driver.ConnBeginTx].
func (c *instantConn) BeginTx(context.Context, driver.TxOptions) (driver.Tx, error) {
	c.counts.begins++
	return c, nil
}

// Commit implements [driver.Tx], which the connection is itself.
func (c *instantConn) Commit() error {
	c.counts.commits++
	return nil
}

func (c *instantConn) Rollback() error { return nil }

// ExecContext implements [driver.ExecerContext]: any statement affects one row.
func (c *instantConn) ExecContext(context.Context, string, []driver.NamedValue) (driver.Result, error) {
	c.counts.execs++
	return driver.RowsAffected(1), nil
}

// QueryContext implements [driver.QueryerContext]: a query with an argument has
// one row, the first, and one without has all.
func (c *instantConn) QueryContext(_ context.Context, _ string, args []driver.NamedValue) (driver.Rows, error) {
	c.counts.queries++
	if len(args) > 0 {
		return &instantRows{counts: c.counts, end: 1}, nil
	}
	return &instantRows{counts: c.counts, end: jobs}, nil
}

type instantStmt struct {
	conn  *instantConn
	query string
}

func (s *instantStmt) Close() error  { return nil }
func (s *instantStmt) NumInput() int { return -1 }

func (s *instantStmt) Exec([]driver.Value) (driver.Result, error) {
	return s.ExecContext(context.Background(), nil)
}

func (s *instantStmt) Query([]driver.Value) (driver.Rows, error) {
	return s.QueryContext(context.Background(), nil)
}

// ExecContext implements [driver.StmtExecContext].
func (s *instantStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return s.conn.ExecContext(ctx, s.query, args)
}

// QueryContext implements [driver.StmtQueryContext].
func (s *instantStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return s.conn.QueryContext(ctx, s.query, args)
}

type instantRows struct {
	counts    *counts
	next, end int
}

var jobColumns = []string{"id", "name"}

func (r *instantRows) Columns() []string { return jobColumns }

func (r *instantRows) Close() error {
	r.counts.closes++
	return nil
}

// Next implements [driver.Rows].
func (r *instantRows) Next(dest []driver.Value) error {
	if r.next == r.end {
		return io.EOF
	}
	copy(dest, instantJobs[r.next][:])
	r.next++
	r.counts.rows++
	return nil
}
