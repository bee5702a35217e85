package plans

import (
	"context"
	"path/filepath"
)

// places are the kinds of databases and tables that names come from.
var places = []test{
	{"attached database", func(d *database) {
		d.exec("ATTACH DATABASE ? AS "+`"my aux"`, filepath.Join(d.TempDir(), "aux.db"))
		d.exec(`CREATE TABLE "my aux".users (x INTEGER, y TEXT)`)
		d.want("scan: my aux.users scan", `SELECT * FROM "my aux".users WHERE x = 1`)
		d.want("scan: my aux.users scan, users search", `SELECT * FROM "my aux".users a JOIN main.users b ON b.id = a.x`)
		d.exec(`CREATE INDEX "my aux".users_x ON users (x)`)
		d.want("search: my aux.users search", `SELECT * FROM "my aux".users WHERE x = 1`)
	}},
	{"temporary table", func(d *database) {
		d.want("search: users search", "SELECT * FROM users WHERE id = 1")
		d.run("CREATE TEMP TABLE users (id INTEGER, z)")
		d.want("scan: temp.users scan", "SELECT * FROM users WHERE id = 1")
		d.run("CREATE TEMP TRIGGER watch AFTER DELETE ON main.events BEGIN DELETE FROM orders WHERE total = old.day; END")
		d.want("scan: events scan, orders scan via trigger watch", "DELETE FROM main.events")
	}},
	{"no temporary database is made", func(d *database) {
		before := d.scalar("SELECT count(*) FROM pragma_database_list")
		d.want("scan: events scan", "SELECT * FROM events")
		if got := d.scalar("SELECT count(*) FROM pragma_database_list"); got != before {
			d.Errorf("databases: got %s, want %s", got, before)
		}
	}},
	{"without rowid", func(d *database) {
		d.exec("CREATE TABLE pairs (a TEXT, b TEXT, c, PRIMARY KEY (a, b)) WITHOUT ROWID")
		d.exec("CREATE INDEX pairs_c ON pairs (c)")
		d.want("search: pairs search", "SELECT * FROM pairs WHERE a = 'x'")
		d.want("search: pairs search", "SELECT * FROM pairs WHERE c = 'x'")
		d.want("scan: pairs scan", "SELECT * FROM pairs WHERE b = 'x'")
	}},
	{"foreign key cascade", func(d *database) {
		d.exec("CREATE TABLE notes (id INTEGER PRIMARY KEY, order_id INTEGER REFERENCES orders (id) ON DELETE CASCADE)")
		d.want("scan: notes scan, notes scan via foreign key action, orders search", "DELETE FROM orders WHERE id = 1")
	}},
	{"read-only database", func(d *database) {
		dsn := "file:" + d.path + "?mode=ro"
		ro := open(d.T, d.driver, dsn)
		ro.want("scan: orders scan", "SELECT * FROM orders WHERE total = 1")
		ro.want("none: orders none", "INSERT INTO orders (user_id) VALUES (1)")
		if _, err := ro.conn.ExecContext(context.Background(), "INSERT INTO orders (user_id) VALUES (1)"); err == nil {
			ro.Error("insert: got no error: the database is not read-only")
		}
	}},
	{"missing table", func(d *database) {
		if p, fresh, err := d.in.Inspect(d, "SELECT * FROM nowhere", nil); err == nil || p.Class != 0 || fresh {
			d.Errorf("got %v, %v, %v, want unknown, false and an error", p, fresh, err)
		}
	}},
}
