package sqlitetrace_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"testing"

	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// setup opens the fake driver, bare or wrapped, watched or not, without a
// journal: a driver that costs next to nothing.
func setup(t testing.TB, wrapped, watched bool) *sql.DB {
	s := &server{shape: shape{conn: "EQRVPCBN", stmt: "C"}, quiet: true}
	db := sql.OpenDB(s)
	if wrapped {
		p := sqlitetrace.New(sqlitetrace.Options{})
		db = p.OpenDB(s)
		if watched {
			watch(t, p)
		}
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	return db
}

var workloads = []struct {
	name               string
	watched, unwatched float64 // allocations over the bare driver
	run                func(*testing.T, *sql.DB, context.Context) func()
}{
	{"Exec", 0, 0, func(_ *testing.T, db *sql.DB, ctx context.Context) func() {
		return func() { db.ExecContext(ctx, "plain") }
	}},
	{"Insert", 0, 0, func(_ *testing.T, db *sql.DB, ctx context.Context) func() {
		return func() { db.ExecContext(ctx, "INSERT INTO item VALUES (?)") }
	}},
	{"Named", 0, 0, func(_ *testing.T, db *sql.DB, _ context.Context) func() {
		ctx := probe.WithRole(context.Background(), "request")
		return func() { db.ExecContext(ctx, "-- name: Put :exec\nINSERT INTO item VALUES (?)") }
	}},
	{"QueryRow", 1, 0, func(_ *testing.T, db *sql.DB, ctx context.Context) func() {
		var n int
		return func() { db.QueryRowContext(ctx, "rows 1").Scan(&n) }
	}},
	{"Query100", 1, 0, func(t *testing.T, db *sql.DB, ctx context.Context) func() {
		return func() { read(t, db, ctx, "rows 100") }
	}},
	{"StmtExec", 0, 0, func(t *testing.T, db *sql.DB, ctx context.Context) func() {
		stmt, err := db.PrepareContext(ctx, "plain")
		if err != nil {
			t.Fatal(err)
		}
		return func() { stmt.ExecContext(ctx) }
	}},
}

// TestAllocations compares the allocations of each workload, with a complete
// label in the context, with those over the bare driver.
func TestAllocations(t *testing.T) {
	ctx := labelled("(*Store).Get")
	for _, wl := range workloads {
		measure := func(db *sql.DB) float64 { return testing.AllocsPerRun(200, wl.run(t, db, ctx)) }
		bare := measure(setup(t, false, false))
		if got := measure(setup(t, true, false)) - bare; got != wl.unwatched {
			t.Errorf("%s, unwatched: got %v allocations over the bare driver, want %v", wl.name, got, wl.unwatched)
		}
		if got := measure(setup(t, true, true)) - bare; got != wl.watched {
			t.Errorf("%s, watched: got %v allocations over the bare driver, want %v", wl.name, got, wl.watched)
		}
	}
}

// TestTransactionAllocations does it for begin, a write and commit at the driver's level:
// database/sql starts a goroutine for each transaction, and whether that
// allocates is chance.
func TestTransactionAllocations(t *testing.T) {
	ctx := labelled("(*Store).Save")
	s := &server{shape: shape{conn: "EQB"}, quiet: true}
	p := sqlitetrace.New(sqlitetrace.Options{})
	watch(t, p)
	measure := func(c driver.Connector) float64 {
		conn, err := c.Connect(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return testing.AllocsPerRun(200, func() {
			if tx, err := conn.(driver.ConnBeginTx).BeginTx(ctx, driver.TxOptions{}); err == nil {
				conn.(driver.ExecerContext).ExecContext(ctx, "INSERT INTO item VALUES (?)", nil)
				tx.Commit()
			}
		})
	}
	if bare, got := measure(s), measure(p.Connector(s)); got != bare {
		t.Errorf("got %v allocations, want the bare driver's %v", got, bare)
	}
}
