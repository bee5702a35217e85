package plans

import (
	"database/sql"
	"slices"
	"strings"
	"testing"
)

// A test looks at one trap of reading plans, on one driver.
type test struct {
	name string
	run  func(d *database)
}

func suite(t *testing.T, driverName string) {
	for _, tests := range [][]test{pitfalls, shapes, places, effects, texts} {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) { tt.run(open(t, driverName, "", shop...)) })
		}
	}
}

// shop is the schema of the tests.
var shop = []string{
	"CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, email TEXT, created INTEGER, state TEXT)",
	"CREATE INDEX users_name ON users (name)",
	"CREATE INDEX users_active ON users (created) WHERE state = 'active'",
	"CREATE TABLE orders (id INTEGER PRIMARY KEY, user_id INTEGER REFERENCES users (id), total INTEGER)",
	"CREATE TABLE events (day INTEGER, what TEXT)",
	"INSERT INTO users (name, email, created, state) VALUES ('ann', 'a@x', 1, 'active'), ('bob', 'b@x', 2, 'new'), ('cy', 'c@x', 3, 'new')",
	"INSERT INTO orders (user_id, total) VALUES (1, 10), (1, 20), (2, 30)",
	"PRAGMA foreign_keys = ON",
}

var pitfalls = []test{
	{"1 arguments decide", func(d *database) {
		d.want("search: users search", "SELECT id FROM users WHERE name GLOB ?", "ab*")
		d.want("scan: users scan", "SELECT id FROM users WHERE name GLOB ? AND 1", nil)
		d.want("search: users search", "SELECT id FROM users WHERE created > 0 AND state = ?", "active")
		d.want("scan: users scan", "SELECT id FROM users WHERE created > 0 AND state = ? AND 1", "new")
		d.want("search: users search", "SELECT id FROM users WHERE name = :n", sql.Named("n", "a"))
		if p, _, err := d.in.Inspect(d, "SELECT id FROM users WHERE id = ? AND 2", nil); err == nil || p.Class != 0 {
			d.Errorf("without its argument: got %v, %v, want unknown and an error", p, err)
		}
	}},
	{"2 several statements", func(d *database) {
		d.want("unknown (not a single statement)", "SELECT 1; DELETE FROM orders")
		d.want("unknown (EXPLAIN is not inspected)", "EXPLAIN DELETE FROM orders")
		d.want("limited scan: orders limited scan", "SELECT * FROM orders LIMIT 1; -- DELETE FROM orders\n;")
		if got := d.scalar("SELECT count(*) FROM orders"); got != "3" {
			d.Errorf("orders: got %s, want 3", got)
		}
	}},
	{"3 before and not after", func(d *database) {
		d.exec("UPDATE orders SET total = 1")
		d.want("search: orders search", "SELECT total FROM orders WHERE id = 1")
		d.want("unknown (explaining it would change what its changes() returns)", "INSERT INTO events VALUES (changes(), 'x')")
		if got := d.scalar("SELECT changes()"); got != "3" {
			d.Errorf("changes(): got %s, want 3", got)
		}
	}},
	{"4 aliases", func(d *database) {
		d.want("scan: orders scan, users search", "SELECT * FROM orders AS o JOIN users u ON u.id = o.user_id")
		d.want("scan: users scan", "WITH a AS MATERIALIZED (SELECT * FROM users) SELECT * FROM a x WHERE x.email = 'a@x'")
		d.want("scan+sort: users scan+sort", "SELECT * FROM (SELECT email, count(*) n FROM users GROUP BY email) AS orders WHERE n > 1")
		d.want("scan: orders search, users scan", `SELECT * FROM users AS "orders" JOIN orders AS users ON users.id = "orders".created`)
		d.want("scan: orders scan, users search", "SELECT (SELECT max(id) FROM users u) FROM orders o WHERE total = 1")
		d.exec("CREATE VIEW v AS SELECT hidden.email FROM users AS hidden WHERE hidden.email > ''")
		d.want("scan: users scan", "SELECT * FROM v")
	}},
	{"5 what is no table", func(d *database) {
		d.want("none", "SELECT 1")
		d.want("none", "VALUES (1), (2)")
		d.want("none", "SELECT * FROM json_each('[1]')")
		d.want("none", "SELECT * FROM pragma_table_info('users')")
		d.want("none", "SELECT name FROM sqlite_schema")
		d.exec("CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT, v)")
		d.want("none: counted none", "INSERT INTO counted (v) VALUES (1)") // reads sqlite_sequence
	}},
	{"6 automatic index", func(d *database) {
		p := d.want("automatic index: events scan, orders automatic index", "SELECT * FROM events e LEFT JOIN orders o ON o.total = e.day AND o.user_id = e.what")
		if !strings.Contains(strings.Join(p.Lines, "\n"), "AUTOMATIC") {
			d.Errorf("lines: got %q, want one with AUTOMATIC", p.Lines)
		}
	}},
	{"7 limits", func(d *database) {
		d.want("limited scan: users limited scan", "SELECT * FROM users LIMIT 1")
		d.want("limited scan: users limited scan", "SELECT id, CASE WHEN created > 1 THEN 'a' ELSE name END FROM users ORDER BY id DESC LIMIT 50 OFFSET 2")
		d.want("limited scan: users limited scan", "SELECT * FROM users ORDER BY name LIMIT ?", 5)
		d.want("limited scan: orders limited scan, users search", "SELECT * FROM orders o JOIN users u ON u.id = o.user_id ORDER BY o.id LIMIT 5")
		d.want("limited scan: orders limited scan", "SELECT EXISTS (SELECT 1 FROM orders)")
		d.want("scan+sort: users scan+sort", "SELECT * FROM users ORDER BY email LIMIT 5")
		d.want("scan: users scan", "SELECT * FROM users WHERE email = 'a@x' LIMIT 1")
		d.want("scan: users scan", "SELECT count(email) FROM users LIMIT 1")
		d.want("scan: users scan", "SELECT * FROM users LIMIT -1")
	}},
	{"8 full pass over an index", func(d *database) {
		d.want("scan: users scan", "SELECT count(*) FROM users")
		d.want("scan: users scan", "SELECT name FROM users")
		d.want("scan: users scan", "SELECT * FROM users ORDER BY name")
	}},
	{"9 ends and empty plans", func(d *database) {
		d.want("search: users search", "SELECT max(id) FROM users")
		d.want("search: users search", "SELECT min(name) FROM users AS u")
		d.want("scan: users scan", "SELECT max(email) FROM users") // SEARCH, says the plan
		d.want("scan: users scan", "SELECT min(id) FROM users WHERE email > 'b'")
		d.want("none: users none", "INSERT INTO users (name) VALUES ('dan')")
		d.want("scan: events scan", "DELETE FROM events")
		d.want("scan: events none, users scan", "INSERT INTO events SELECT id, name FROM users")
		d.exec("CREATE TABLE archive (day INTEGER, what TEXT)")
		d.want("scan: archive none, events scan", "INSERT INTO archive SELECT * FROM events") // copied whole, with no line in the plan
	}},
	{"10 LIKE and GLOB", func(d *database) {
		d.want("scan: users scan", "SELECT * FROM users WHERE name LIKE 'ab%'")
		d.want("search: users search", "SELECT * FROM users WHERE name GLOB 'ab*'")
	}},
	{"11 triggers and foreign keys", func(d *database) {
		d.want("scan: orders scan, users search", "DELETE FROM users WHERE id = 9")
		d.want("none: users none", "INSERT INTO users (id, name) VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET name = excluded.name")
		// Code that waits for a violated foreign key, which the plan prints as a scan.
		p := d.want("none: users none", "INSERT INTO users (id, name) VALUES (7, 'a'), (8, 'b')")
		if !slices.Contains(p.Lines, "SCAN orders") {
			d.Errorf("lines: got %q, want SCAN orders among them", p.Lines)
		}
		d.want("scan: orders scan, users search", "UPDATE users SET id = 10 WHERE id = 1")
		d.exec("CREATE TRIGGER ordered AFTER INSERT ON orders BEGIN INSERT INTO events SELECT 1, name FROM users WHERE email = new.total; INSERT INTO events SELECT max(id), '' FROM users; END")
		d.want("scan: events none via trigger ordered, orders none, users search, users scan via trigger ordered", "INSERT INTO orders (user_id) VALUES (1)")
	}},
	{"12 builds and statistics", func(d *database) {
		d.exec("CREATE TABLE wide (a INTEGER, b INTEGER, c TEXT)")
		d.exec("CREATE INDEX wide_ab ON wide (a, b)")
		d.exec("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) INSERT INTO wide SELECT i % 2, i, 'x' FROM n")
		before := d.inspect("SELECT c FROM wide WHERE b = 7")
		d.exec("ANALYZE")
		d.inspect("ANALYZE")
		after := d.inspect("SELECT c FROM wide WHERE b = 7")
		if words(before) != "scan: wide scan" || words(after) != "search: wide search" {
			d.Errorf("got %q, then %q, want a scan, then the index skipped through", words(before), words(after))
		}
	}},
	{"13 small tables", func(d *database) {
		d.want("scan: events scan", "SELECT * FROM events WHERE day = 1") // empty: the caller allows it by name
	}},
	{"14 OR", func(d *database) {
		d.want("search: users search", "SELECT * FROM users WHERE name = 'a' OR id = 1")
		d.want("scan: users scan", "SELECT * FROM users WHERE name = 'a' OR email = 'b'")
	}},
}
