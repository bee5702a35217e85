package plans

import (
	"bytes"
	"database/sql/driver"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/internal/sqlplan"
)

// effects hold an inspected run to a bare one, and the Inspector to the schema.
var effects = []test{
	{"nothing changes", func(d *database) {
		d.compare(func(d *database) (out []string) {
			for _, s := range []string{
				"INSERT INTO users (name, email) SELECT what, day FROM events",
				"UPDATE users SET created = created + 1",
				"INSERT INTO events (day, what) VALUES (changes(), 'before'), (total_changes(), 'all')",
				"WITH n AS (SELECT changes() AS c) INSERT INTO events (day) SELECT c FROM n",
				"DELETE FROM orders WHERE total > 15",
				"SELECT count(*) FROM users",
				"CREATE TABLE fresh (a, b DEFAULT (changes()))",
				"UPDATE users SET state = 'x'",
				"INSERT INTO fresh (a) VALUES (1)",
				"CREATE TRIGGER count_up AFTER INSERT ON orders BEGIN INSERT INTO events (day) SELECT \"changes\"(); END",
				"DELETE FROM fresh",
				"INSERT INTO orders (user_id, total) VALUES (1, 7)",
				"DELETE FROM events WHERE day IS NULL",
				"VACUUM",
			} {
				out = append(out, d.run(s), d.counters())
			}
			return append(out, d.run("SELECT * FROM events"), d.run("SELECT * FROM fresh"))
		})
	}},
	{"nothing changes in transactions", func(d *database) {
		d.compare(func(d *database) (out []string) {
			for _, s := range []string{
				"BEGIN", "UPDATE orders SET total = total + 1", "INSERT INTO events VALUES (1, 'x')", "COMMIT",
				"BEGIN IMMEDIATE", "CREATE TABLE t (a)", "INSERT INTO t VALUES (1)", "SELECT * FROM t", "ROLLBACK",
				"SELECT * FROM orders WHERE total = 1",
			} {
				out = append(out, d.run(s), d.counters())
			}
			return out
		})
	}},
	{"schema change in between", func(d *database) {
		q := "SELECT * FROM orders WHERE total = 1"
		d.want("scan: orders scan", q)
		if _, fresh, _ := d.in.Inspect(d, q, nil); fresh {
			d.Error("the second look is fresh, want the plan remembered")
		}
		other := open(d.T, d.driver, d.path)
		other.exec("CREATE INDEX orders_total ON orders (total)")
		d.want("search: orders search", q)
		other.exec("DROP INDEX orders_total")
		d.want("scan: orders scan", q)
		d.exec("CREATE TABLE later (a)")
		d.want("scan: later scan", "SELECT * FROM later")
	}},
	{"a plan does not outlive a rollback", func(d *database) {
		q := "SELECT * FROM orders WHERE total = 1"
		d.want("scan: orders scan", q)
		d.run("BEGIN")
		d.run("CREATE INDEX orders_total ON orders (total)")
		d.want("search: orders search", q)
		d.exec("ROLLBACK") // as database/sql does it: no text passes by
		d.inTx = false
		d.run("BEGIN")
		d.want("scan: orders scan", q)
		d.run("COMMIT")
		d.inspect(q)
		if _, fresh, _ := d.in.Inspect(d, q, nil); fresh {
			d.Error("after the transaction: the second look is fresh, want the plan remembered")
		}
	}},
	{"a write in a transaction takes no read lock first", func(d *database) {
		// Who has read cannot write once another has written: the look must leave
		// the transaction as it is, unread.
		d.exec("PRAGMA journal_mode = WAL")
		other := open(d.T, d.driver, d.path)
		insert := "INSERT INTO events VALUES (1, 'x')"
		for _, want := range []string{"unknown (the schema is not known in this transaction)", "none: events none"} {
			d.run("BEGIN")
			d.want(want, insert)
			other.exec(insert)
			d.exec(insert)
			d.run("COMMIT")
			if err := d.in.Refresh(d); err != nil {
				d.Fatal(err)
			}
		}
	}},
	{"a lock that the statement does not meet", func(d *database) {
		d.exec("ATTACH DATABASE ? AS far", filepath.Join(d.TempDir(), "far.db"))
		d.exec("CREATE TABLE far.away (a)")
		d.exec("PRAGMA busy_timeout = 0")
		other := open(d.T, d.driver, d.path)
		other.exec("BEGIN EXCLUSIVE")
		for range 2 { // new, then known
			d.want("none", "SELECT 1")
			d.want("scan: far.away scan", "SELECT * FROM far.away")
		}
		if p, _, err := d.in.Inspect(d, "SELECT * FROM users", nil); err == nil || p.Class != 0 {
			d.Errorf("the locked database: got %s, want unknown and an error", words(p))
		}
		other.exec("ROLLBACK")
	}},
	{"a read in a transaction learns the schema", func(d *database) {
		d.run("BEGIN")
		d.want("scan: orders scan", "SELECT * FROM orders WHERE total = 1")
		d.want("search: orders search, users search", "SELECT * FROM orders o JOIN users u ON u.id = o.user_id WHERE o.id = 1")
		d.want("scan: orders scan", "DELETE FROM orders WHERE total = 1")
		d.run("COMMIT")
	}},
	{"other statements", func(d *database) {
		for text, want := range map[string]string{
			"": "none", " -- nothing\n;": "none", "BEGIN": "none", "COMMIT;": "none",
			"PRAGMA user_version":                   "unknown (PRAGMA is not inspected)",
			"CREATE TABLE IF NOT EXISTS events (a)": "unknown (CREATE is not inspected)",
			"SELECT 'open":                          "unknown (not a single statement)",
		} {
			d.want(want, text)
		}
	}},
	{"many texts", func(d *database) {
		for i := range 1500 {
			d.want("search: users search", fmt.Sprintf("SELECT name FROM users WHERE id = %d", i))
		}
	}},
}

// compare runs a program on two fresh files, bare and inspected, and holds what
// it saw and what it left to be the same.
func (d *database) compare(program func(d *database) []string) {
	d.Helper()
	run := func(bare bool) ([]string, []byte) {
		e := open(d.T, d.driver, "", shop...)
		e.bare = bare
		out := program(e)
		e.conn.Close()
		data, err := os.ReadFile(e.path)
		if err != nil {
			d.Fatal(err)
		}
		return out, data
	}
	want, wantFile := run(true)
	got, gotFile := run(false)
	if diff := cmp.Diff(want, got); diff != "" {
		d.Errorf("(-bare +inspected):\n%s", diff)
	}
	if !bytes.Equal(wantFile, gotFile) {
		d.Errorf("the file of %d bytes differs from the bare run's of %d", len(gotFile), len(wantFile))
	}
}

// run inspects a statement, unless the database is bare, and then runs it. It
// returns the statement and its rows.
func (d *database) run(text string) string {
	d.Helper()
	if !d.bare {
		d.inspect(text)
	}
	out := text + ":"
	if err := d.Query(text, nil, func(row []driver.Value) { out += fmt.Sprintf(" %v", row) }); err != nil {
		d.Fatalf("%s: %v", text, err)
	}
	switch sqlplan.Parse(text).Verb {
	case "BEGIN":
		d.inTx = true
	case "COMMIT", "ROLLBACK":
		d.inTx = false
	}
	return out
}

// counters are what a program can ask its connection for, but what time changes.
func (d *database) counters() (out string) {
	d.Helper()
	for _, s := range []string{"SELECT changes()", "SELECT total_changes()", "SELECT last_insert_rowid()", "PRAGMA data_version", "PRAGMA schema_version"} {
		out += d.scalar(s) + " "
	}
	return out
}
