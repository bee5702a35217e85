package sqlitetrace_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// A hostileConn does in each of its methods what its driver wants: panic, return
// nothing, or fail in some way.
type hostileConn struct {
	do func(method string) error
}

func (h hostileConn) Connect(context.Context) (driver.Conn, error) { return h, nil }
func (h hostileConn) Driver() driver.Driver                        { return nilDriver{} }

func (h hostileConn) Prepare(string) (driver.Stmt, error) {
	if err := h.do("prepare"); err != nil {
		return nil, err
	}
	return hostileStmt(h), nil
}

func (h hostileConn) Begin() (driver.Tx, error)  { return hostileTx(h), h.do("begin") }
func (h hostileConn) Close() error               { return h.do("close") }
func (h hostileConn) Ping(context.Context) error { return h.do("ping") }
func (h hostileConn) ResetSession(context.Context) error {
	return h.do("reset")
}

func (h hostileConn) ExecContext(context.Context, string, []driver.NamedValue) (driver.Result, error) {
	return hostileResult(h), h.do("exec")
}

func (h hostileConn) QueryContext(context.Context, string, []driver.NamedValue) (driver.Rows, error) {
	return hostileRows(h), h.do("query")
}

type (
	hostileStmt   struct{ do func(string) error }
	hostileTx     struct{ do func(string) error }
	hostileRows   struct{ do func(string) error }
	hostileResult struct{ do func(string) error }
)

func (h hostileStmt) Close() error  { return h.do("close stmt") }
func (h hostileStmt) NumInput() int { return -1 }
func (h hostileStmt) Exec([]driver.Value) (driver.Result, error) {
	return hostileResult(h), h.do("stmt exec")
}
func (h hostileStmt) Query([]driver.Value) (driver.Rows, error) {
	return hostileRows(h), h.do("stmt query")
}

func (h hostileTx) Commit() error   { return h.do("commit") }
func (h hostileTx) Rollback() error { return h.do("rollback") }

func (h hostileRows) Columns() []string { h.do("columns"); return []string{"n"} }
func (h hostileRows) Close() error      { return h.do("close rows") }
func (h hostileRows) Next(dest []driver.Value) error {
	if err := h.do("next"); err != nil {
		return err
	}
	dest[0] = int64(1)
	return io.EOF
}

func (h hostileResult) LastInsertId() (int64, error) { return -1, h.do("last id") }
func (h hostileResult) RowsAffected() (int64, error) { return math.MinInt64, h.do("affected") }

var hostileMethods = []string{"prepare", "begin", "close", "ping", "reset", "exec", "query", "close stmt", "stmt exec", "stmt query",
	"commit", "rollback", "columns", "close rows", "next", "last id", "affected"}

// useHostile calls everything there is, twice, and writes down what came of it.
// database/sql keeps locks that are held when a driver panics, so every call has a
// database of its own.
func useHostile(open func() *sql.DB) (seen []string) {
	ctx := labelled("m")
	calls := []func(db *sql.DB) any{
		func(db *sql.DB) any { return db.PingContext(ctx) },
		func(db *sql.DB) any {
			res, err := db.ExecContext(ctx, "INSERT INTO t VALUES (1)")
			if err != nil {
				return err
			}
			n, err := res.RowsAffected()
			id, idErr := res.LastInsertId()
			return fmt.Sprint(n, err, id, idErr)
		},
		func(db *sql.DB) any {
			var n int
			return fmt.Sprint(db.QueryRowContext(ctx, "SELECT 1").Scan(&n), n)
		},
		func(db *sql.DB) any {
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				return err
			}
			_, err = tx.ExecContext(ctx, "INSERT INTO t VALUES (1)")
			return fmt.Sprint(err, tx.Commit())
		},
		func(db *sql.DB) any {
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				return err
			}
			return tx.Rollback()
		},
		func(db *sql.DB) any {
			stmt, err := db.PrepareContext(ctx, "DELETE FROM t RETURNING n")
			if err != nil {
				return err
			}
			_, err = stmt.ExecContext(ctx)
			rows, qErr := stmt.QueryContext(ctx)
			if qErr == nil {
				for rows.Next() {
				}
				qErr = errors.Join(rows.Err(), rows.Close())
			}
			return fmt.Sprint(err, qErr, stmt.Close())
		},
	}
	for i, call := range calls {
		db := open()
		db.SetMaxOpenConns(2)
		for range 2 {
			func() {
				defer func() {
					if p := recover(); p != nil {
						seen = append(seen, fmt.Sprintf("%d: panic %v", i, p))
					}
				}()
				seen = append(seen, fmt.Sprintf("%d: %v", i, call(db)))
			}()
			if strings.Contains(seen[len(seen)-1], "panic") {
				break
			}
		}
		// After a panic database/sql may hold locks for good, and Close wait for them.
		if !strings.Contains(seen[len(seen)-1], "panic") {
			func() {
				defer func() { seen = append(seen, fmt.Sprintf("%d: recovered %v", i, recover())) }()
				seen = append(seen, fmt.Sprintf("%d: close: %v", i, db.Close()))
			}()
		}
	}
	return seen
}

// TestHostile has each method of a driver panic or fail in an odd way, bare and
// wrapped. The program sees the same, and what has ended is not under way.
func TestHostile(t *testing.T) {
	for name, odd := range map[string]func() error{
		"panics":  func() error { panic("hostile") },
		"fails":   func() error { return errFake },
		"bad":     func() error { return driver.ErrBadConn },
		"skips":   func() error { return driver.ErrSkip },
		"ends":    func() error { return io.EOF },
		"nil":     func() error { return (*brokenError)(nil) },
		"no text": func() error { return errors.Join(nil, &brokenError{}) },
	} {
		for _, method := range hostileMethods {
			t.Run(method+" "+name, func(t *testing.T) {
				do := func(m string) error {
					if m == method {
						return odd()
					}
					return nil
				}
				want := useHostile(func() *sql.DB { return sql.OpenDB(hostileConn{do}) })
				p := sqlitetrace.New(sqlitetrace.Options{DBKey: func(string) string { return "file" }, Slow: 1})
				w := watch(t, p)
				got := useHostile(func() *sql.DB { return p.OpenDB(hostileConn{do}) })
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("(-bare +wrapped):\n%s", diff)
				}
				r := w.Close()
				if n := total(r, "tidestaff.db.queries"); n < 0 || count(r, "db.client.operation.duration") == 0 {
					t.Errorf("queries: got %v, operations %d, want some", n, count(r, "db.client.operation.duration"))
				}
				if name == "panics" {
					return // what panics in the middle of rows leaves them open
				}
				if n := total(r, "tidestaff.db.cursor.active"); n != 0 {
					t.Errorf("active cursors: got %v, want 0", n)
				}
				if err := p.AtRest(); err != nil {
					t.Error(err)
				}
				if held := p.Held(); len(held) != 0 {
					t.Errorf("held: got %v, want nothing", held)
				}
			})
		}
	}
}

// A brokenError panics when it is asked for anything, if it is nil.
type brokenError struct{ text string }

func (e *brokenError) Error() string {
	if e == nil {
		return "broken"
	}
	return e.text
}
func (e *brokenError) Code() int { return len(e.text) }

// A vexedError panics when it is asked for its kind or its state.
type vexedError struct{ text string }

func (e *vexedError) Error() string        { return "vexed" }
func (e *vexedError) Is(target error) bool { return target != driver.ErrBadConn && len(e.text) > 0 }
func (e *vexedError) SQLState() string     { return e.text }

// TestVexed has a driver return errors that cannot be asked anything, for a
// SQLite and for another system: they are of class other.
func TestVexed(t *testing.T) {
	for _, system := range []string{"sqlite", "postgresql"} {
		for _, e := range []error{(*vexedError)(nil), (*brokenError)(nil), brokenState{}} {
			p := sqlitetrace.New(sqlitetrace.Options{System: system})
			w := watch(t, p)
			db := p.OpenDB(hostileConn{func(method string) error {
				if method == "exec" {
					return e
				}
				return nil
			}})
			if _, err := db.ExecContext(labelled("m"), "INSERT INTO t VALUES (1)"); err != e {
				t.Errorf("%s, %T: got error %v, want the driver's", system, e, err)
			}
			db.Close()
			if got := total(w.Close(), "tidestaff.db.errors", classIs("other")); got != 1 {
				t.Errorf("%s, %T: errors of class other: got %v, want 1", system, e, got)
			}
		}
	}
}

type brokenState struct{ *vexedError }

// TestNoContext calls a connection that does not look at its context, around
// database/sql and without one.
func TestNoContext(t *testing.T) {
	s := &server{shape: shape{conn: "EQB", stmt: "C"}}
	p := sqlitetrace.New(sqlitetrace.Options{})
	w := watch(t, p)
	c, err := p.Connector(s).Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var none context.Context
	tx, err := c.(driver.ConnBeginTx).BeginTx(none, driver.TxOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c.(driver.ExecerContext).ExecContext(none, "plain", nil)
	if rows, err := c.(driver.QueryerContext).QueryContext(none, "rows 1", nil); err == nil {
		rows.Close()
	}
	if stmt, err := c.Prepare("plain"); err == nil {
		stmt.(driver.StmtExecContext).ExecContext(none, nil)
	}
	tx.Commit()
	if got := total(w.Close(), "tidestaff.db.queries"); got != 3 {
		t.Errorf("queries: got %v, want 3", got)
	}
}

// TestNilParts passes on a statement and a transaction that are not there.
func TestNilParts(t *testing.T) {
	ctx := labelled("m")
	p := sqlitetrace.New(sqlitetrace.Options{})
	w := watch(t, p)
	c, err := p.Connector(noParts{}).Connect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := c.Prepare("SELECT 1"); s != nil || err != nil {
		t.Errorf("statement: got %v, %v, want nil, nil", s, err)
	}
	if tx, err := c.(driver.ConnBeginTx).BeginTx(ctx, driver.TxOptions{}); tx != nil || err != nil {
		t.Errorf("transaction: got %v, %v, want nil, nil", tx, err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if got := total(w.Close(), "tidestaff.db.transaction.active"); got != 0 {
		t.Errorf("active transactions: got %v, want 0", got)
	}
}

type noParts struct{}

func (noParts) Connect(context.Context) (driver.Conn, error) { return noParts{}, nil }
func (noParts) Driver() driver.Driver                        { return nilDriver{} }
func (noParts) Prepare(string) (driver.Stmt, error)          { return nil, nil }
func (noParts) Begin() (driver.Tx, error)                    { return nil, nil }
func (noParts) Close() error                                 { return nil }
