// Package modernc holds the wrapped modernc.org/sqlite driver against the bare
// one. It has tests alone.
package modernc

import (
	"context"
	"database/sql"
	"fmt"
	"sync/atomic"
	"testing"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/tidestaff/tidestaff/internal/e2e/sqlsuite"
	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// registered numbers the names that TestSuite registers, which last as long as
// the process.
var registered atomic.Int64

// TestSuite wraps the driver in every way there is.
func TestSuite(t *testing.T) {
	sqlsuite.Run(t, "sqlite", func(p *sqlitetrace.Probe) map[string]sqlsuite.Open {
		name := fmt.Sprint("sqlite-traced-", registered.Add(1))
		sql.Register(name, p.Driver(&sqlite.Driver{}))
		return map[string]sqlsuite.Open{
			"Open":   func(dsn string) (*sql.DB, error) { return p.Open("sqlite", dsn) },
			"Driver": func(dsn string) (*sql.DB, error) { return sql.Open(name, dsn) },
			"OpenDB": func(dsn string) (*sql.DB, error) {
				c, err := sqlite.NewConnector(dsn)
				if err != nil {
					return nil, err
				}
				return p.OpenDB(c), nil
			},
		}
	})
}

// Short names for what the package's tests do all the time.
var as, must = sqlsuite.As, sqlsuite.Must

// open opens a database of one connection.
func open(t *testing.T, p *sqlitetrace.Probe, path string) *sql.DB {
	t.Helper()
	return sqlsuite.OpenOne(t, func(dsn string) (*sql.DB, error) { return p.Open("sqlite", dsn) }, path)
}

// TestNumbers, TestClasses and TestEndings are the checks that every SQLite
// driver must pass.
func TestNumbers(t *testing.T) { sqlsuite.Numbers(t, "sqlite") }
func TestClasses(t *testing.T) { sqlsuite.Classes(t, "sqlite") }
func TestEndings(t *testing.T) { sqlsuite.Endings(t, "sqlite") }

// TestPlans and TestPlansLeaveTransactions look at each statement's plan.
func TestPlans(t *testing.T)                  { sqlsuite.Plans(t, "sqlite") }
func TestPlansLeaveTransactions(t *testing.T) { sqlsuite.PlansLeaveTransactions(t, "sqlite") }

// TestPitfalls runs the traps of reading plans.
func TestPitfalls(t *testing.T) { sqlsuite.Pitfalls(t, "sqlite") }

// TestWaits waits for the write lock, in the driver's busy handler.
func TestWaits(t *testing.T) {
	sqlsuite.Waits(t, "sqlite", "?_txlock=immediate&_pragma=busy_timeout(60000)")
}

// TestMemoryKept ends a transaction of a database in memory by its context. The
// driver says that its connection is still good, which is the database: a
// wrapper that hides its Validator or its SessionResetter loses all tables.
func TestMemoryKept(t *testing.T) {
	sqlsuite.Both(t, "sqlite", func(t *testing.T, open sqlsuite.Open) {
		if err := sqlsuite.MemoryAfterCancel(t, open); err != nil {
			t.Errorf("the table after the transaction: %v", err)
		}
	})
}

// TestDriver wants the very driver that is registered.
func TestDriver(t *testing.T) { sqlsuite.SameDriver(t, "sqlite") }

// TestLimit uses a function of the driver that looks for its own connection
// behind the wrapper.
func TestLimit(t *testing.T) {
	p := sqlitetrace.New(sqlitetrace.Options{})
	db, err := p.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := sqlite.Limit(conn, sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 7); err != nil {
		t.Fatal(err)
	}
	got, err := sqlite.Limit(conn, sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, -1)
	if err != nil || got != 7 {
		t.Errorf("limit: got %d, %v, want the 7 that was set", got, err)
	}
}

// TestRolledBack, TestAborted and TestCommitBusy hold the ledger of the write
// lock to what SQLite does when statements and commits fail.
func TestRolledBack(t *testing.T) { sqlsuite.RolledBack(t, "sqlite", false) }
func TestAborted(t *testing.T)    { sqlsuite.Aborted(t, "sqlite") }
func TestCommitBusy(t *testing.T) { sqlsuite.CommitBusy(t, "sqlite") }

// TestReturningOpen and TestTwoFiles hold it to what SQLite locks.
func TestReturningOpen(t *testing.T) { sqlsuite.ReturningOpen(t, "sqlite") }
func TestTwoFiles(t *testing.T)      { sqlsuite.TwoFiles(t, "sqlite") }

// TestOtherProcess and TestAttached have locks that are not the file's in this
// process.
func TestOtherProcess(t *testing.T) { sqlsuite.OtherProcess(t, "sqlite") }
func TestAttached(t *testing.T)     { sqlsuite.Attached(t, "sqlite") }

// TestChaos writes at random.
func TestChaos(t *testing.T) { sqlsuite.Chaos(t, "sqlite") }
