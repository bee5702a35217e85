package modernc_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// TestEveryMetric has a program do a little of everything, and wants each metric
// that the probe describes, and no other, to have been made.
func TestEveryMetric(t *testing.T) {
	p := sqlitetrace.New(sqlitetrace.Options{Plans: sqlitetrace.PlansOnce, Statements: 1000})
	w, err := p.Watch()
	if err != nil {
		t.Fatal(err)
	}
	db, err := p.Open("sqlite", filepath.Join(t.TempDir(), "app.db")+"?_pragma=journal_mode(WAL)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(2)
	everything(t, p, db)
	r := w.Close()
	// database/sql asks for a second connection only of a driver that says ErrBadConn.
	unseen := []string{"tidestaff.db.retries"}
	for _, d := range p.Describe() {
		made := false
		for range r.Find(d.Name) {
			made = true
		}
		if want := !slices.Contains(unseen, d.Name); made != want {
			t.Errorf("%s: got a series %v, want %v", d.Name, made, want)
		}
	}
	for _, m := range r.Metrics {
		if !slices.Contains(p.Describe(), m.Desc) {
			t.Errorf("%s is not described", m.Name)
		}
	}
}

// everything executes what the metrics are about.
func everything(t *testing.T, p *sqlitetrace.Probe, db *sql.DB) {
	t.Helper()
	ctx, wrapped := t.Context(), p.Wrap(db)
	exec := func(text string) {
		t.Helper()
		if _, err := wrapped.ExecContext(ctx, text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	exec("CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT UNIQUE)")
	exec("INSERT INTO users(name) VALUES ('a'), ('b')")
	var n int
	if err := wrapped.QueryRowContext(ctx, "SELECT count(*) FROM users WHERE name LIKE '%a'").Scan(&n); err != nil {
		t.Fatal(err)
	}
	if _, err := wrapped.ExecContext(ctx, "INSERT INTO users(name) VALUES ('a')"); err == nil {
		t.Fatal("a violated constraint is no error")
	}
	waitForHolder(t, ctx, db)
	var busy, log, moved int
	if err := db.QueryRowContext(ctx, "PRAGMA wal_checkpoint").Scan(&busy, &log, &moved); err != nil {
		t.Fatal(err)
	}
	if err := p.CountPages(ctx, db); err != nil {
		t.Fatal(err)
	}
}

// waitForHolder has one connection fail because another one has the write lock.
func waitForHolder(t *testing.T, ctx context.Context, db *sql.DB) {
	t.Helper()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, "UPDATE users SET name = 'c' WHERE id = 1"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(ctx, "UPDATE users SET name = 'd' WHERE id = 2"); err == nil {
		t.Fatal("two connections have the write lock")
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}
