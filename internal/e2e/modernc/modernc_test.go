// Package modernc holds the wrapped modernc.org/sqlite driver against the bare
// one. It has tests alone.
package modernc

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/tidestaff/tidestaff/internal/e2e/sqlsuite"
	"github.com/tidestaff/tidestaff/probe"
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

// open opens a database of one connection.
func open(t *testing.T, p *sqlitetrace.Probe, path string) *sql.DB {
	db, err := p.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	return db
}

func as(method string) context.Context {
	return probe.WithMethod(probe.WithRole(context.Background(), "request"), method)
}

func must(t *testing.T, db *sql.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(as("setup"), query, args...); err != nil {
		t.Fatal(err)
	}
}

// TestNumbers wants what the wrapper counted on a real database, exactly.
func TestNumbers(t *testing.T) {
	p := sqlitetrace.New(sqlitetrace.Options{})
	db := open(t, p, filepath.Join(t.TempDir(), "app.db"))
	must(t, db, "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT)")
	must(t, db, "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000) INSERT INTO item SELECT i, 'name ' || i FROM n")
	w, err := p.Watch()
	if err != nil {
		t.Fatal(err)
	}
	const lists = 3
	for range lists {
		rows, err := db.QueryContext(as("list"), "SELECT id, name FROM item")
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
		}
		rows.Close()
	}
	var id int
	if err := db.QueryRowContext(as("insert"), "INSERT INTO item (name) VALUES (?) RETURNING id", "new").Scan(&id); err != nil {
		t.Error(err)
	}
	r := w.Close()
	got := map[string]float64{}
	for m := range r.Find("db.client.response.returned_rows") {
		got[m.Attr(probe.AttrMethod)] += m.Value
	}
	if diff := cmp.Diff(map[string]float64{"list": lists * 20_000, "insert": 1}, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	phases := map[string]float64{}
	for m := range r.Find("tidestaff.db.query.time", probe.Attr{Key: probe.AttrMethod, Value: "list"}) {
		phases[m.Attr(sqlitetrace.AttrPhase)] = m.Value
	}
	if phases["step"] <= phases["call"] {
		t.Errorf("a listing's time: got %v, want most of it in the steps", phases)
	}
}

// TestClasses wants SQLite's own failures under their names.
func TestClasses(t *testing.T) {
	p := sqlitetrace.New(sqlitetrace.Options{})
	path := filepath.Join(t.TempDir(), "app.db")
	db, other := open(t, p, path), open(t, p, path)
	must(t, db, "PRAGMA journal_mode = WAL")
	must(t, db, "PRAGMA busy_timeout = 0")
	must(t, other, "PRAGMA busy_timeout = 0")
	must(t, db, "CREATE TABLE item (name TEXT UNIQUE)")
	must(t, db, "INSERT INTO item VALUES ('a')")
	w, err := p.Watch()
	if err != nil {
		t.Fatal(err)
	}

	db.ExecContext(as("constraint"), "INSERT INTO item VALUES ('a')")
	db.ExecContext(as("other"), "INSERT INTO nothing VALUES ('a')")

	must(t, db, "BEGIN IMMEDIATE")
	other.ExecContext(as("busy"), "INSERT INTO item VALUES ('b')")
	must(t, db, "COMMIT")

	tx, err := other.BeginTx(as("setup"), nil)
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := tx.QueryRowContext(as("setup"), "SELECT count(*) FROM item").Scan(&n); err != nil {
		t.Fatal(err)
	}
	must(t, db, "INSERT INTO item VALUES ('c')")
	tx.ExecContext(as("busy_snapshot"), "INSERT INTO item VALUES ('d')")
	tx.Rollback()

	const endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
	ctx, cancel := context.WithTimeout(as("deadline"), 20*time.Millisecond)
	defer cancel()
	db.QueryRowContext(ctx, endless).Scan(&n)
	ctx, cancel = context.WithCancel(as("canceled"))
	stop := time.AfterFunc(20*time.Millisecond, cancel)
	defer stop.Stop()
	db.QueryRowContext(ctx, endless).Scan(&n)

	r := w.Close()
	got := map[string]string{}
	for m := range r.Find("tidestaff.db.errors") {
		if m.Value != 0 {
			got[m.Attr(probe.AttrMethod)] += fmt.Sprint(m.Attr("error.type"), " ", m.Value)
		}
	}
	want := map[string]string{"constraint": "constraint 1", "other": "other 1", "busy": "busy 1",
		"busy_snapshot": "busy_snapshot 1", "deadline": "deadline 1", "canceled": "canceled 1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("errors by method (-want +got):\n%s", diff)
	}
}

// TestLimit uses a function of the driver that looks for its own connection
// behind the wrapper.
func TestLimit(t *testing.T) {
	db := open(t, sqlitetrace.New(sqlitetrace.Options{}), ":memory:")
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
