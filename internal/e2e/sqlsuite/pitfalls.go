package sqlsuite

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// shop is the schema of the pitfalls.
var shop = []string{
	"CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, email TEXT, created INTEGER, state TEXT)",
	"CREATE INDEX users_name ON users (name)",
	"CREATE TABLE orders (id INTEGER PRIMARY KEY, user_id INTEGER REFERENCES users (id), total INTEGER)",
	"CREATE TABLE events (day INTEGER, what TEXT)",
	"CREATE TABLE wide (a INTEGER, b INTEGER, c TEXT)",
	"CREATE INDEX wide_ab ON wide (a, b)",
	"INSERT INTO users (name, email, created) VALUES ('ann', 'a@x', 1), ('bob', 'b@x', 2), ('cy', 'c@x', 3)",
	"INSERT INTO orders (user_id, total) VALUES (1, 10), (1, 20), (2, 30)",
	"PRAGMA foreign_keys = ON",
}

// pitfalls are the traps of reading plans, by their number in internal/e2e/plans,
// which has more of each. They run one after the other, on one connection.
var pitfalls = []struct {
	number int
	want   string // the class, then the tables that are read whole
	text   string
	args   []any
}{
	{1, "search", "SELECT id FROM users WHERE name GLOB ?", []any{"ab*"}},
	{1, "scan users", "SELECT id FROM users WHERE name GLOB ? AND 1", []any{nil}},
	{2, "unknown", "SELECT 1; INSERT INTO events VALUES (2, 'once'); UPDATE users SET state = 'new'", nil},
	{3, "unknown", "INSERT INTO events VALUES (changes(), 'changes')", nil},
	{4, "scan orders", "SELECT * FROM orders AS o JOIN users u ON u.id = o.user_id", nil},
	{5, "none", "SELECT * FROM json_each('[1]')", nil},
	{5, "none", "SELECT name FROM sqlite_schema", nil},
	{5, "none", "VALUES (1), (2)", nil},
	{6, "automatic index events orders", "SELECT * FROM events e LEFT JOIN orders o ON o.total = e.day AND o.user_id = e.what", nil},
	{7, "limited scan", "SELECT * FROM users LIMIT 1", nil},
	{7, "limited scan", "SELECT * FROM users ORDER BY id DESC LIMIT ?", []any{50}},
	{7, "limited scan", "SELECT EXISTS (SELECT 1 FROM orders)", nil},
	{7, "scan+sort users", "SELECT * FROM users ORDER BY email LIMIT 5", nil},
	{8, "scan users", "SELECT count(*) FROM users", nil},
	{9, "search", "SELECT max(id) FROM users", nil},
	{9, "scan users", "SELECT max(email) FROM users", nil},
	{9, "none", "INSERT INTO users (name) VALUES ('dan')", nil},
	{10, "scan users", "SELECT * FROM users WHERE name LIKE 'ab%'", nil},
	{11, "scan orders", "DELETE FROM users WHERE id = 9", nil},
	{11, "unknown", "CREATE TRIGGER ordered AFTER INSERT ON orders BEGIN INSERT INTO events SELECT 1, name FROM users WHERE email = new.total; END", nil},
	{11, "scan users", "INSERT INTO orders (user_id) VALUES (1)", nil},
	{13, "scan events", "SELECT * FROM events WHERE day = 1", nil},
	{14, "search", "SELECT * FROM users WHERE name = 'a' OR id = 1", nil},
	{14, "scan users", "SELECT * FROM users WHERE name = 'a' OR email = 'b'", nil},
	// ANALYZE changes the plans of small tables, so it is last.
	{12, "scan wide", "SELECT c FROM wide WHERE b = 7", nil},
	{12, "none", "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) INSERT INTO wide SELECT i % 2, i, 'x' FROM n", nil},
	{12, "unknown", "ANALYZE", nil},
	{12, "search", "SELECT c FROM wide WHERE b = 7", nil},
}

// Pitfalls runs them through the wrapper, and wants each statement counted by its
// plan and with the tables that it reads, and to have run once.
func Pitfalls(t *testing.T, driverName string) {
	p := sqlitetrace.New(sqlitetrace.Options{Plans: sqlitetrace.PlansOnce})
	db := OpenOne(t, func(dsn string) (*sql.DB, error) { return p.Open(driverName, dsn) }, filepath.Join(t.TempDir(), "shop.db"))
	for _, s := range shop {
		Must(t, db, s)
	}
	for _, pit := range pitfalls {
		w, err := p.Watch()
		if err != nil {
			t.Fatal(err)
		}
		run(t, db, pit.text, pit.args)
		r := w.Close()
		var got []string
		for class, n := range counts(r, "tidestaff.sqlite.plans", sqlitetrace.AttrPlan) {
			got = append(got, class)
			if n != 1 {
				t.Errorf("%d, %s: got %v statements of class %s, want 1", pit.number, pit.text, n, class)
			}
		}
		for m := range r.Find("tidestaff.sqlite.full_scans") {
			if m.Value != 0 {
				got = append(got, m.Attr(sqlitetrace.AttrTable))
			}
			if role := m.Attr(probe.AttrRole); role != "request" {
				t.Errorf("%d, %s: got role %q of the scan, want request", pit.number, pit.text, role)
			}
		}
		if diff := cmp.Diff(pit.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%d, %s: class and tables (-want +got):\n%s", pit.number, pit.text, diff)
		}
	}
	var days string
	if err := db.QueryRow("SELECT group_concat(day || what, ' ') FROM events").Scan(&days); err != nil || days != "2once 3changes" {
		t.Errorf("events: got %q, %v, want one of each statement: a text of several ran once, and changes() was the program's", days, err)
	}
}

// run runs a statement, and reads what it returns.
func run(t *testing.T, db *sql.DB, text string, args []any) {
	t.Helper()
	if verb, _, _ := strings.Cut(text, " "); verb != "SELECT" && verb != "VALUES" || strings.Contains(text, ";") {
		if _, err := db.ExecContext(As("m"), text, args...); err != nil {
			t.Fatal(fmt.Errorf("%s: %w", text, err))
		}
		return
	}
	rows, err := db.QueryContext(As("m"), text, args...)
	var s Transcript
	if s.Rows(text, rows, err); err != nil {
		t.Fatal(fmt.Errorf("%s: %w", text, err))
	}
}
