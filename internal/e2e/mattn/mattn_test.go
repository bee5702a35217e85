//go:build cgo

package mattn

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/mattn/go-sqlite3"

	"github.com/tidestaff/tidestaff/internal/e2e/sqlsuite"
	"github.com/tidestaff/tidestaff/sqlitetrace"
)

const name = "sqlite3"

// registered numbers the names that TestSuite registers, which last as long as
// the process.
var registered atomic.Int64

// A dsnConnector is what who has only a driver and a name writes for OpenDB.
type dsnConnector struct{ dsn string }

func (c dsnConnector) Connect(context.Context) (driver.Conn, error) { return c.Driver().Open(c.dsn) }
func (c dsnConnector) Driver() driver.Driver                        { return &sqlite3.SQLiteDriver{} }

// TestSuite wraps the driver in every way there is.
func TestSuite(t *testing.T) {
	sqlsuite.Run(t, name, func(p *sqlitetrace.Probe) map[string]sqlsuite.Open {
		traced := fmt.Sprint("sqlite3-traced-", registered.Add(1))
		sql.Register(traced, p.Driver(&sqlite3.SQLiteDriver{}))
		return map[string]sqlsuite.Open{
			"Open":   func(dsn string) (*sql.DB, error) { return p.Open(name, dsn) },
			"Driver": func(dsn string) (*sql.DB, error) { return sql.Open(traced, dsn) },
			"OpenDB": func(dsn string) (*sql.DB, error) { return p.OpenDB(dsnConnector{dsn}), nil },
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
func TestWaits(t *testing.T) { sqlsuite.Waits(t, name, "?_txlock=immediate&_busy_timeout=60000") }

// TestDriver wants the very driver that is registered.
func TestDriver(t *testing.T) { sqlsuite.SameDriver(t, name) }

// TestMemoryLost ends a transaction of a database in memory by its context. The
// driver has neither a SessionResetter nor a Validator, so database/sql discards
// the connection, and with it the database. A wrapper that adds the two keeps
// a connection that the bare driver does not.
func TestMemoryLost(t *testing.T) {
	sqlsuite.Both(t, name, func(t *testing.T, open sqlsuite.Open) {
		if err := sqlsuite.MemoryAfterCancel(t, open); err == nil {
			t.Error("the table is still there after the transaction, want the connection to be discarded")
		}
	})
}

// raw calls f with the driver's own connection, behind the wrapper if there is
// one.
func raw(t *testing.T, db *sql.DB, f func(*sqlite3.SQLiteConn) error) {
	t.Helper()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	err = conn.Raw(func(c any) error {
		if w, ok := c.(interface{ Unwrap() driver.Conn }); ok {
			c = w.Unwrap()
		}
		own, ok := c.(*sqlite3.SQLiteConn)
		if !ok {
			return fmt.Errorf("got a %T", c)
		}
		return f(own)
	})
	if err != nil {
		t.Error(err)
	}
}

// TestRaw uses what only the driver's own connection can do: a function in Go
// and the online backup.
func TestRaw(t *testing.T) {
	sqlsuite.Both(t, name, func(t *testing.T, open sqlsuite.Open) {
		db := sqlsuite.OpenOne(t, open, filepath.Join(t.TempDir(), "app.db"))
		sqlsuite.Must(t, db, "CREATE TABLE item (n INTEGER)")
		raw(t, db, func(c *sqlite3.SQLiteConn) error {
			return c.RegisterFunc("twice", func(n int64) int64 { return 2 * n }, true)
		})
		sqlsuite.Must(t, db, "INSERT INTO item VALUES (twice(21))")

		copied := sqlsuite.OpenOne(t, open, filepath.Join(t.TempDir(), "copy.db"))
		raw(t, db, func(from *sqlite3.SQLiteConn) error {
			raw(t, copied, func(to *sqlite3.SQLiteConn) error {
				b, err := to.Backup("main", from, "main")
				if err != nil {
					return err
				}
				if done, err := b.Step(-1); !done || err != nil {
					t.Errorf("backup: done %t, %v", done, err)
				}
				return b.Finish()
			})
			return nil
		})
		var n int
		if err := copied.QueryRowContext(sqlsuite.As("setup"), "SELECT n FROM item").Scan(&n); err != nil || n != 42 {
			t.Errorf("copied: got %d, %v, want 42", n, err)
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
