package sqlsuite

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// CanceledTx ends a transaction by its context, so that database/sql rolls it
// back on a goroutine of its own, which knows no method: the rollback must count
// for the method that began. open opens a database of the probe's; the table
// item (name) is made in it.
func CanceledTx(t *testing.T, o sqlitetrace.Options, open func(*testing.T, *sqlitetrace.Probe) *sql.DB) {
	p, closed := Watch(t, o)
	db := open(t, p)
	Must(t, db, "CREATE TABLE item (name TEXT)")
	const rounds = 20
	for range rounds {
		ctx, cancel := context.WithCancel(As("mover"))
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.ExecContext(As("insert"), "INSERT INTO item VALUES ('gone')"); err != nil {
			t.Fatal(err)
		}
		cancel()
		AwaitIdle(db)
		if err := tx.Commit(); err == nil {
			t.Fatal("commit after the end of the context: got no error")
		}
	}
	var n int
	if err := db.QueryRowContext(As("setup"), "SELECT count(*) FROM item").Scan(&n); err != nil || n != 0 {
		t.Errorf("rows that were rolled back: got %d, %v, want 0", n, err)
	}
	want := map[string]uint64{"setup": 2, "mover": 2 * rounds, "insert": rounds} // begin and rollback
	if diff := cmp.Diff(want, Operations(closed())); diff != "" {
		t.Errorf("operations by method (-want +got):\n%s", diff)
	}
}

// CanceledRows ends queries by their context while their rows are read, so that
// database/sql closes them on a goroutine of its own in between two steps: each
// row that the program got counts, each cursor is closed, once. It is a test for
// the race detector. open opens a database of the probe's; query makes many rows.
func CanceledRows(t *testing.T, o sqlitetrace.Options, open func(*testing.T, *sqlitetrace.Probe) *sql.DB, query string) {
	p, closed := Watch(t, o)
	db := open(t, p)
	const rounds = 20
	got := 0
	for round := range rounds {
		ctx, cancel := context.WithCancel(As("list"))
		rows, err := db.QueryContext(ctx, query)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for rows.Next() {
			if n++; n == 1+round*10 {
				go cancel()
			}
		}
		if err := rows.Err(); err == nil {
			t.Errorf("round %d: read %d rows to their end, want the context's error", round, n)
		}
		cancel()
		rows.Close()
		AwaitIdle(db)
		got += n
	}
	r := closed()
	if rows := Sum(r, "db.client.response.returned_rows")["list"]; rows != float64(got) {
		t.Errorf("rows: counted %v, the program got %d", rows, got)
	}
	if n := Operations(r)["list"]; n != rounds {
		t.Errorf("operations: got %d, want %d", n, rounds)
	}
	checkCounted(t, r)
}

// Endings runs CanceledTx and CanceledRows on a file of a SQLite driver.
func Endings(t *testing.T, driverName string) {
	open := func(t *testing.T, p *sqlitetrace.Probe) *sql.DB {
		open := func(dsn string) (*sql.DB, error) { return p.Open(driverName, dsn) }
		return OpenOne(t, open, filepath.Join(t.TempDir(), "app.db"))
	}
	t.Run("transaction", func(t *testing.T) { CanceledTx(t, sqlitetrace.Options{}, open) })
	t.Run("rows", func(t *testing.T) {
		CanceledRows(t, sqlitetrace.Options{}, open, "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n")
	})
}
