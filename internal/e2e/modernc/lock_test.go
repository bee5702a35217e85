package modernc

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/internal/e2e/sqlsuite"
	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// positive lists the series of a metric that are not 0, by waiter and holder.
// Waits for somebody outside are left out: a machine that is busy enough can
// make a BEGIN IMMEDIATE look like one.
func positive(r *probe.Reading, name string) map[string]bool {
	got := map[string]bool{}
	for m := range r.Find(name) {
		// What waited may have held for too short a time to tell from polling.
		if (m.Value > 0 || m.Dist != nil && m.Dist.Count() > 0) && m.Attr(sqlitetrace.AttrHolder) != "(external)" {
			got[m.Attr(probe.AttrMethod)+"|"+m.Attr(sqlitetrace.AttrHolder)] = true
		}
	}
	return got
}

// TestLedger has SQLite itself make one connection wait for another, by every
// way to take the lock. The two open the file by different names.
func TestLedger(t *testing.T) {
	begin := func(ctx context.Context, db *sql.DB) func() error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			t.Error(err)
			return func() error { return err }
		}
		return tx.Commit
	}
	statements := func(ctx context.Context, db *sql.DB) func() error {
		must(t, db, "SELECT 1")
		if _, err := db.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
			t.Error(err)
		}
		return func() error {
			_, err := db.ExecContext(ctx, "COMMIT")
			return err
		}
	}
	write := func(ctx context.Context, db *sql.DB) func() error {
		if _, err := db.ExecContext(ctx, "INSERT INTO item (name) VALUES ('x')"); err != nil {
			t.Error(err)
		}
		return func() error { return nil }
	}
	returning := func(ctx context.Context, db *sql.DB) func() error {
		var id int
		if err := db.QueryRowContext(ctx, "INSERT INTO item (name) VALUES ('y') RETURNING id").Scan(&id); err != nil {
			t.Error(err)
		}
		return func() error { return nil }
	}
	type take = func(context.Context, *sql.DB) func() error
	for _, tc := range []struct {
		name       string
		hold, wait take
	}{
		{"dsn, dsn", begin, begin},
		{"dsn, write", begin, write},
		{"words, returning", statements, returning},
		{"words, words", statements, statements},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := sqlitetrace.New(sqlitetrace.Options{})
			path := filepath.Join(t.TempDir(), "app.db")
			const params = "?_txlock=immediate&_pragma=busy_timeout(60000)"
			holder, waiter := open(t, p, path+params), open(t, p, "file:"+path+params)
			must(t, holder, "PRAGMA journal_mode = WAL")
			must(t, holder, "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT)")
			w, err := p.Watch()
			if err != nil {
				t.Fatal(err)
			}
			end := tc.hold(as("hold"), holder)
			done := make(chan error)
			go func() { done <- tc.wait(as("wait"), waiter)() }()
			sqlsuite.AwaitRunning(p, "wait", 5*time.Millisecond) // longer than the busy handler's first sleeps
			if err := end(); err != nil {
				t.Error(err)
			}
			if err := <-done; err != nil {
				t.Error(err)
			}
			r := w.Close()
			for _, name := range []string{"tidestaff.db.lock.wait.time", "tidestaff.db.lock.waits"} {
				if diff := cmp.Diff(map[string]bool{"wait|hold": true}, positive(r, name)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
			holds := map[string]bool{"hold|": true, "wait|": true}
			if diff := cmp.Diff(holds, positive(r, "tidestaff.db.lock.hold.duration")); diff != "" {
				t.Errorf("holds (-want +got):\n%s", diff)
			}
			var wait, poll float64
			for m := range r.Find("tidestaff.db.lock.wait.time", probe.Attr{Key: sqlitetrace.AttrHolder, Value: "hold"}) {
				wait += m.Value
			}
			for m := range r.Find("tidestaff.db.lock.poll.time", probe.Attr{Key: sqlitetrace.AttrHolder, Value: "hold"}) {
				poll += m.Value
			}
			if wait > r.Duration().Seconds() || poll >= wait {
				t.Errorf("waited %v s in %v, of which polled %v: want each less than the one before", wait, r.Duration(), poll)
			}
		})
	}
}

// TestUpgrade wants a reader that can no longer write to be counted as that, and
// not to have waited: SQLite does not ask the busy handler.
func TestUpgrade(t *testing.T) {
	p := sqlitetrace.New(sqlitetrace.Options{})
	path := filepath.Join(t.TempDir(), "app.db") + "?_pragma=busy_timeout(60000)"
	db, other := open(t, p, path), open(t, p, path)
	must(t, db, "PRAGMA journal_mode = WAL")
	must(t, db, "CREATE TABLE item (name TEXT)")
	w, err := p.Watch()
	if err != nil {
		t.Fatal(err)
	}
	tx, err := db.BeginTx(as("upgrade"), nil)
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := tx.QueryRowContext(as("upgrade"), "SELECT count(*) FROM item").Scan(&n); err != nil {
		t.Fatal(err)
	}
	must(t, other, "INSERT INTO item VALUES ('a')")
	if _, err := tx.ExecContext(as("upgrade"), "INSERT INTO item VALUES ('b')"); err == nil {
		t.Error("the upgrade succeeded")
	}
	tx.Rollback()
	r := w.Close()
	upgrades := 0.0
	for m := range r.Find("tidestaff.db.errors", probe.Attr{Key: "error.type", Value: "busy_snapshot"}) {
		upgrades += m.Value
	}
	if waits := positive(r, "tidestaff.db.lock.waits"); upgrades != 1 || len(waits) != 0 {
		t.Errorf("upgrades, waits: got %v, %v, want 1 and none", upgrades, waits)
	}
}

// TestAffected wants SQLite's counts, and none of a statement that affects no
// rows: SQLite still has that of the one before.
func TestAffected(t *testing.T) {
	p := sqlitetrace.New(sqlitetrace.Options{})
	db := open(t, p, filepath.Join(t.TempDir(), "app.db"))
	must(t, db, "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT)")
	w, err := p.Watch()
	if err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{
		"INSERT INTO item (name) VALUES ('a'), ('b'), ('c')", "BEGIN", "UPDATE item SET name = 'x' WHERE id > 1",
		"CREATE INDEX by_name ON item (name)", "COMMIT", "WITH n (i) AS (SELECT 1) DELETE FROM item WHERE id IN (SELECT i FROM n)",
	} {
		must(t, db, query)
	}
	rows, statements := 0.0, uint64(0)
	r := w.Close()
	for m := range r.Find("tidestaff.db.affected_rows") {
		rows += m.Value
		statements += m.Dist.Count()
	}
	if rows != 6 || statements != 3 {
		t.Errorf("rows, statements: got %v, %d, want 6, 3", rows, statements)
	}
}
