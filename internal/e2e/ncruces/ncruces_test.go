// Package ncruces holds the wrapped github.com/ncruces/go-sqlite3 driver against
// the bare one. It has tests alone.
package ncruces

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"

	"github.com/tidestaff/tidestaff/internal/e2e/sqlsuite"
	"github.com/tidestaff/tidestaff/sqlitetrace"
)

const name = "sqlite3"

// registered numbers the names that TestSuite registers, which last as long as
// the process.
var registered atomic.Int64

// TestSuite wraps the driver in every way there is.
func TestSuite(t *testing.T) {
	sqlsuite.Run(t, name, func(p *sqlitetrace.Probe) map[string]sqlsuite.Open {
		traced := fmt.Sprint("sqlite3-traced-", registered.Add(1))
		sql.Register(traced, p.Driver(&driver.SQLite{}))
		return map[string]sqlsuite.Open{
			"Open":   func(dsn string) (*sql.DB, error) { return p.Open(name, dsn) },
			"Driver": func(dsn string) (*sql.DB, error) { return sql.Open(traced, dsn) },
			"OpenDB": func(dsn string) (*sql.DB, error) {
				c, err := new(driver.SQLite).OpenConnector(dsn)
				if err != nil {
					return nil, err
				}
				return p.OpenDB(c), nil
			},
		}
	})
}

// TestNumbers, TestClasses and TestEndings are the checks that every SQLite
// driver must pass.
func TestNumbers(t *testing.T) { sqlsuite.Numbers(t, name) }
func TestClasses(t *testing.T) { sqlsuite.Classes(t, name) }
func TestEndings(t *testing.T) { sqlsuite.Endings(t, name) }

// TestPlans and TestPlansLeaveTransactions look at each statement's plan.
func TestPlans(t *testing.T)                  { sqlsuite.Plans(t, name) }
func TestPlansLeaveTransactions(t *testing.T) { sqlsuite.PlansLeaveTransactions(t, name) }

// TestPitfalls runs the traps of reading plans.
func TestPitfalls(t *testing.T) { sqlsuite.Pitfalls(t, name) }

// TestWaits waits for the write lock, in the driver's busy handler.
func TestWaits(t *testing.T) {
	sqlsuite.Waits(t, name, "?_txlock=immediate&_pragma=busy_timeout(60000)")
}

// TestDriver wants the driver's own type. It has no fields, and each connector
// makes one of its own, so there is no identity to compare.
func TestDriver(t *testing.T) {
	sqlsuite.Both(t, name, func(t *testing.T, open sqlsuite.Open) {
		db := sqlsuite.OpenOne(t, open, ":memory:")
		sqlsuite.Must(t, db, "SELECT 1")
		if _, ok := db.Driver().(*driver.SQLite); !ok {
			t.Errorf("got a %T", db.Driver())
		}
	})
}

// TestSavepoint uses the driver's function that passes a context of its own
// type down to its connection: a wrapper that hands on another context makes it
// return a savepoint of no connection, whose use panics.
func TestSavepoint(t *testing.T) {
	sqlsuite.Both(t, name, func(t *testing.T, open sqlsuite.Open) {
		db := sqlsuite.OpenOne(t, open, filepath.Join(t.TempDir(), "app.db"))
		sqlsuite.Must(t, db, "CREATE TABLE item (name TEXT)")
		tx, err := db.BeginTx(sqlsuite.As("setup"), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback()
		sqlsuite.Must(t, tx, "INSERT INTO item VALUES ('kept')")
		point := driver.Savepoint(tx)
		sqlsuite.Must(t, tx, "INSERT INTO item VALUES ('gone')")
		failed := context.Canceled // any error rolls back to the savepoint
		point.Release(&failed)
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		var names string
		if err := db.QueryRow("SELECT group_concat(name) FROM item").Scan(&names); err != nil || names != "kept" {
			t.Errorf("rows: got %q, %v, want the one before the savepoint", names, err)
		}
	})
}

// TestArguments passes what the connection's own check lets through and the
// statement's refuses, so that database/sql converts it: a wrapper without the
// statement's check makes the driver panic.
func TestArguments(t *testing.T) {
	type level int32
	args := []any{int32(1), level(2), uint8(3), float32(4), sql.NullString{String: "five", Valid: true},
		sql.NullString{}, sql.NullInt64{Int64: 7, Valid: true}, new(int32)}
	const insert, query = "INSERT INTO item (value) VALUES (?)", "SELECT typeof(?1), ?1"
	var seen [2][]string
	n := 0
	sqlsuite.Both(t, name, func(t *testing.T, open sqlsuite.Open) {
		db := sqlsuite.OpenOne(t, open, filepath.Join(t.TempDir(), "app.db"))
		sqlsuite.Must(t, db, "CREATE TABLE item (value ANY)")
		stmt, err := db.PrepareContext(sqlsuite.As("setup"), insert)
		if err != nil {
			t.Fatal(err)
		}
		defer stmt.Close()
		var s sqlsuite.Transcript
		for _, arg := range args {
			res, err := stmt.Exec(arg)
			s.Result(fmt.Sprintf("prepared %T", arg), res, err)
			s.Exec(db, insert, arg)
			s.Query(db, query, arg)
		}
		s.Query(db, "SELECT typeof(value), value FROM item")
		seen[n] = s.Lines
		n++
	})
	if diff := cmp.Diff(seen[0], seen[1]); diff != "" {
		t.Errorf("transcript (-bare +wrapped):\n%s", diff)
	}
	if len(seen[0]) < 4*len(args) {
		t.Errorf("the transcript has %d lines: it sees nothing", len(seen[0]))
	}
}

// TestRaw uses what only the driver's own connection can do. Its type is not
// exported, but an interface of it is.
func TestRaw(t *testing.T) {
	sqlsuite.Both(t, name, func(t *testing.T, open sqlsuite.Open) {
		db := sqlsuite.OpenOne(t, open, ":memory:")
		sqlsuite.Must(t, db, "CREATE TABLE item (n INTEGER)")
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		err = conn.Raw(func(c any) error {
			if w, ok := c.(interface{ Unwrap() sqldriver.Conn }); ok {
				c = w.Unwrap()
			}
			own, ok := c.(driver.Conn)
			if !ok {
				return fmt.Errorf("got a %T", c)
			}
			return own.Raw().CreateFunction("twice", 1, sqlite3.DETERMINISTIC, func(ctx sqlite3.Context, arg ...sqlite3.Value) {
				ctx.ResultInt64(2 * arg[0].Int64())
			})
		})
		if err != nil {
			t.Error(err)
		}
		conn.Close()
		var n int
		if err := db.QueryRowContext(sqlsuite.As("setup"), "SELECT twice(21)").Scan(&n); err != nil || n != 42 {
			t.Errorf("twice(21): got %d, %v, want 42", n, err)
		}
	})
}

// TestRolledBack, TestAborted and TestCommitBusy hold the ledger of the write
// lock to what SQLite does when statements and commits fail.
func TestRolledBack(t *testing.T) { sqlsuite.RolledBack(t, name, true) }
func TestAborted(t *testing.T)    { sqlsuite.Aborted(t, name) }
func TestCommitBusy(t *testing.T) { sqlsuite.CommitBusy(t, name) }

// TestReturningOpen and TestTwoFiles hold it to what SQLite locks.
func TestReturningOpen(t *testing.T) { sqlsuite.ReturningOpen(t, name) }
func TestTwoFiles(t *testing.T)      { sqlsuite.TwoFiles(t, name) }

// TestOtherProcess and TestAttached have locks that are not the file's in this
// process.
func TestOtherProcess(t *testing.T) { sqlsuite.OtherProcess(t, name) }
func TestAttached(t *testing.T)     { sqlsuite.Attached(t, name) }

// TestChaos writes at random.
func TestChaos(t *testing.T) { sqlsuite.Chaos(t, name) }
