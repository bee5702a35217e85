package sqlsuite

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// A pair of connections to one file: what one of them does to the write lock is
// looked at through the other.
type lockPair struct {
	*testing.T
	holder, other *sql.DB
	path          string
	probe         *sqlitetrace.Probe
	window        *probe.Window // since before the test
	open          Open
}

// lockTest runs a test of the ledger on a new file, and gives what was measured.
// No connection waits for a lock.
func lockTest(t *testing.T, driverName, journal string, run func(*lockPair)) *probe.Reading {
	p := sqlitetrace.New(sqlitetrace.Options{})
	w, err := p.Watch()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	pair := &lockPair{T: t, probe: p, window: w, path: filepath.Join(t.TempDir(), "app.db")}
	pair.open = func(dsn string) (*sql.DB, error) { return p.Open(driverName, dsn) }
	pair.holder, pair.other = pair.another(), pair.another()
	Must(t, pair.holder, "PRAGMA journal_mode = "+journal)
	Must(t, pair.holder, "CREATE TABLE item (name TEXT UNIQUE)")
	Must(t, pair.holder, "CREATE TABLE log (n INTEGER)")
	run(pair)
	// Whoever still is on the ledger would be charged with this write's time.
	pair.write("afterwards")
	return w.Close()
}

func (p *lockPair) another() *sql.DB {
	db := OpenOne(p.T, p.open, p.path)
	Must(p.T, db, "PRAGMA busy_timeout = 0")
	return db
}

// write writes on the other connection, for some milliseconds.
func (p *lockPair) write(method string) {
	p.Helper()
	const long = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 50000) INSERT INTO log SELECT i FROM n"
	if _, err := p.other.ExecContext(As(method), long); err != nil {
		p.Errorf("%s: %v", method, err)
	}
}

// wantWaits wants the waits by who waited and who held, but for those for
// somebody outside that are not in want: on a machine that is busy enough, a
// BEGIN IMMEDIATE can look like one.
func wantWaits(t *testing.T, r *probe.Reading, want map[string]float64) {
	t.Helper()
	got := counts(r, "tidestaff.db.lock.waits", probe.AttrMethod, sqlitetrace.AttrHolder)
	for pair := range got {
		if want[pair] == 0 && strings.HasSuffix(pair, "|(external)") {
			delete(got, pair)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}
}

// now reads what was measured so far.
func now(p *lockPair) *probe.Reading {
	r := new(probe.Reading)
	p.window.Read(r)
	return r
}

// holds lists how often and how long, in seconds, a method held the lock.
func holds(r *probe.Reading, method string) (n uint64, sum float64) {
	for m := range r.Find("tidestaff.db.lock.hold.duration", probe.Attr{Key: probe.AttrMethod, Value: method}) {
		n, sum = n+m.Dist.Count(), sum+m.Value
	}
	return n, sum
}

// rollbacks are statements that end their transaction.
var rollbacks = []struct {
	name  string
	setup string
	run   func(*sqlitetrace.Probe, Target) error
}{
	{"OR ROLLBACK", "INSERT INTO item VALUES ('a')", statement("INSERT OR ROLLBACK INTO item VALUES ('a')")},
	{"ON CONFLICT ROLLBACK", "CREATE TABLE own (name TEXT UNIQUE ON CONFLICT ROLLBACK)", statement("INSERT INTO own VALUES ('a'), ('a')")},
	{"RAISE(ROLLBACK)", "CREATE TRIGGER never AFTER INSERT ON log BEGIN SELECT RAISE(ROLLBACK, 'never') WHERE new.n < 0; END",
		statement("INSERT INTO log VALUES (-1)")},
	{"disk full", "PRAGMA max_page_count = 20", statement("INSERT INTO item VALUES (hex(zeroblob(1000000)))")},
	{"interrupt", "SELECT 1", func(p *sqlitetrace.Probe, on Target) error {
		ctx, returned := Interrupted(p, "hold", context.DeadlineExceeded)
		defer returned()
		_, err := on.ExecContext(ctx, "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) INSERT INTO log SELECT i FROM n WHERE i < 0")
		return err
	}},
}

func statement(text string) func(*sqlitetrace.Probe, Target) error {
	return func(_ *sqlitetrace.Probe, on Target) error {
		_, err := on.ExecContext(As("hold"), text)
		return err
	}
}

// RolledBack has statements end a transaction in SQLite, of which database/sql
// does not know: the lock is free, and who writes next waits for nobody. If the
// driver tells, the hold has ended as soon as the statement has failed.
func RolledBack(t *testing.T, driverName string, tells bool) {
	for _, tc := range rollbacks {
		t.Run(tc.name, func(t *testing.T) {
			var most time.Duration
			r := lockTest(t, driverName, "WAL", func(p *lockPair) {
				Must(t, p.holder, tc.setup)
				start := time.Now()
				tx, err := p.holder.BeginTx(As("hold"), nil)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := tx.ExecContext(As("hold"), "INSERT INTO item VALUES ('b')"); err != nil {
					t.Fatal(err)
				}
				if err := tc.run(p.probe, tx); err == nil {
					t.Fatal("the statement did not fail")
				}
				most = time.Since(start)
				if n, _ := holds(now(p), "hold"); (n == 1) != tells {
					t.Errorf("holds right after the failure: got %d, driver tells: %t", n, tells)
				}
				p.write("next")
				p.write("again")
				tx.Rollback()
			})
			wantWaits(t, r, map[string]float64{})
			if n, sum := holds(r, "hold"); n != 1 || sum <= 0 || sum > most.Seconds() {
				t.Errorf("held %d times, for %v s, want once, until the failure after %v at most", n, sum, most)
			}
		})
	}
}

// Aborted has a statement fail that leaves its transaction as it is, also as the
// first one that needs the lock: it is held until the commit.
func Aborted(t *testing.T, driverName string) {
	for name, first := range map[string]string{"first write": "SELECT 1", "later write": "INSERT INTO item VALUES ('b')"} {
		t.Run(name, func(t *testing.T) {
			r := lockTest(t, driverName, "WAL", func(p *lockPair) {
				Must(t, p.holder, "INSERT INTO item VALUES ('a')")
				tx, err := p.holder.BeginTx(As("hold"), nil)
				if err != nil {
					t.Fatal(err)
				}
				Must(t, tx, first)
				if err := statement("INSERT INTO item VALUES ('a')")(p.probe, tx); err == nil {
					t.Fatal("the statement did not fail")
				}
				if _, err := p.other.ExecContext(As("busy"), "INSERT INTO item VALUES ('c')"); err == nil {
					t.Error("the lock was not held")
				}
				if err := tx.Commit(); err != nil {
					t.Error(err)
				}
			})
			wantWaits(t, r, map[string]float64{"busy|hold": 1})
		})
	}
}

// CommitBusy has a reader hold up a commit, with a rollback journal. The driver's
// Commit rolls back then, since database/sql does not use the transaction again;
// a COMMIT in words leaves it as it is.
func CommitBusy(t *testing.T, driverName string) {
	t.Run("commit", func(t *testing.T) {
		r := lockTest(t, driverName, "DELETE", func(p *lockPair) {
			done := p.read()
			tx, err := p.holder.BeginTx(As("hold"), nil)
			if err != nil {
				t.Fatal(err)
			}
			Must(t, tx, "INSERT INTO item VALUES ('b')")
			if err := tx.Commit(); err == nil {
				t.Fatal("the commit did not fail")
			}
			done()
			p.write("next")
			Must(t, p.holder, "BEGIN IMMEDIATE")
			Must(t, p.holder, "COMMIT")
		})
		wantWaits(t, r, map[string]float64{})
		if n, _ := holds(r, "hold"); n != 1 {
			t.Errorf("held %d times, want once", n)
		}
	})
	t.Run("words", func(t *testing.T) {
		r := lockTest(t, driverName, "DELETE", func(p *lockPair) {
			done := p.read()
			on := func(query string) error {
				_, err := p.holder.ExecContext(As("hold"), query)
				return err
			}
			if err := on("BEGIN IMMEDIATE"); err != nil {
				t.Fatal(err)
			}
			Must(t, p.holder, "INSERT INTO item VALUES ('b')")
			if err := on("COMMIT"); err == nil {
				t.Fatal("the commit did not fail")
			}
			done()
			if _, err := p.other.ExecContext(As("busy"), "BEGIN IMMEDIATE"); err == nil {
				t.Error("the lock was not held")
			}
			if err := on("COMMIT"); err != nil {
				t.Error(err)
			}
			if err := on("COMMIT"); err == nil { // there is none
				t.Error("the second commit did not fail")
			}
		})
		wantWaits(t, r, map[string]float64{"busy|hold": 1})
	})
}

// read begins to read on the other connection, until done is called.
func (p *lockPair) read() (done func() error) {
	p.Helper()
	Must(p.T, p.other, "INSERT INTO item VALUES ('x'), ('y')")
	rows, err := p.other.QueryContext(As("read"), "SELECT name FROM item")
	if err != nil {
		p.Fatal(err)
	}
	if !rows.Next() {
		p.Fatal(rows.Err())
	}
	return rows.Close
}

// ReturningOpen leaves the rows of a write open: it has the lock until they are
// closed.
func ReturningOpen(t *testing.T, driverName string) {
	r := lockTest(t, driverName, "WAL", func(p *lockPair) {
		rows, err := p.holder.QueryContext(As("hold"), "INSERT INTO item VALUES ('a'), ('b') RETURNING name")
		if err != nil {
			t.Fatal(err)
		}
		if !rows.Next() {
			t.Fatal(rows.Err())
		}
		if held := p.probe.Held(); len(held) != 1 || held[0].Method != "hold" {
			t.Errorf("held: got %+v, want the cursor", held)
		}
		if _, err := p.other.ExecContext(As("busy"), "INSERT INTO item VALUES ('c')"); err == nil {
			t.Error("the lock was not held")
		}
		if err := rows.Close(); err != nil {
			t.Error(err)
		}
	})
	wantWaits(t, r, map[string]float64{"busy|hold": 1})
	if n, _ := holds(r, "hold"); n != 1 {
		t.Errorf("held %d times, want once", n)
	}
}

// TwoFiles has one probe watch two files: who has the lock of one is not in the
// way of the other's writers.
func TwoFiles(t *testing.T, driverName string) {
	r := lockTest(t, driverName, "WAL", func(p *lockPair) {
		far := OpenOne(t, p.open, filepath.Join(t.TempDir(), "far.db"))
		if _, err := far.ExecContext(As("hold"), "BEGIN IMMEDIATE"); err != nil {
			t.Fatal(err)
		}
		p.write("here")
		if _, err := far.ExecContext(As("hold"), "COMMIT"); err != nil {
			t.Error(err)
		}
	})
	wantWaits(t, r, map[string]float64{})
	if n, _ := holds(r, "hold"); n != 1 {
		t.Errorf("held %d times, want once", n)
	}
}
