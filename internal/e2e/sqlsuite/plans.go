package sqlsuite

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// Plans runs statements of each class in every way that a program has, and wants
// each counted once by its plan, and each table that it scans.
func Plans(t *testing.T, driverName string) {
	p, closed := Watch(t, sqlitetrace.Options{Plans: sqlitetrace.PlansOnce, Slow: 1})
	db := OpenOne(t, func(dsn string) (*sql.DB, error) { return p.Open(driverName, dsn) }, filepath.Join(t.TempDir(), "app.db"))
	for _, s := range []string{
		"CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, size INTEGER)", "CREATE TABLE log (what TEXT)",
		"CREATE TRIGGER noted AFTER UPDATE ON item BEGIN UPDATE log SET what = 'x' WHERE what = 'y'; END",
		"INSERT INTO item (name) VALUES ('a'), ('b')",
	} {
		Must(t, db, s)
	}
	query := func(on Target, method, text string, args ...any) {
		t.Helper()
		var s Transcript
		rows, err := on.QueryContext(As(method), text, args...)
		if s.Rows(text, rows, err); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // new, then known
		query(db, "scan", "SELECT * FROM item WHERE name = ?", "a")
		query(db, "search", "SELECT * FROM item WHERE id = ?", 1)
	}
	query(db, "sort", "SELECT * FROM item ORDER BY name")
	query(db, "join", "SELECT count(*) FROM item a JOIN item b ON a.name = b.name")
	if _, err := db.ExecContext(As("trigger"), "UPDATE item SET size = 1 WHERE id = 1"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(As("fails"), "SELECT * FROM nothing"); err == nil {
		t.Error("a query of no table: got no error")
	}
	execPrepared(t, db)
	query(db, "indexed", "SELECT * FROM item WHERE size = 1")
	Must(t, db, "CREATE INDEX by_size ON item (size)")
	query(db, "indexed", "SELECT * FROM item WHERE size = 1")

	r := closed()
	scans := []string{"indexed|item|scan", "join|item|automatic index", "prepared|item|scan 3", "scan|item|scan 2", "sort|item|scan+sort", "trigger|log|scan"}
	if diff := cmp.Diff(scansOf(scans), counts(r, "tidestaff.sqlite.full_scans", probe.AttrMethod, sqlitetrace.AttrTable, sqlitetrace.AttrPlan)); diff != "" {
		t.Errorf("full scans (-want +got):\n%s", diff)
	}
	plans := []string{"indexed|scan", "indexed|search", "join|automatic index", "prepared|scan 3", "scan|scan 2", "search|search 2", "sort|scan+sort",
		"trigger|scan", "fails|unknown", "setup|unknown 4", "setup|none"}
	if diff := cmp.Diff(scansOf(plans), counts(r, "tidestaff.sqlite.plans", probe.AttrMethod, sqlitetrace.AttrPlan)); diff != "" {
		t.Errorf("plans (-want +got):\n%s", diff)
	}
	// Each statement and each transaction is looked at before it runs.
	looks, queries := Total(r, "tidestaff.sqlite.plan_looks"), Total(r, "tidestaff.db.queries")
	if took := Total(r, "tidestaff.sqlite.plan_look.time"); looks < queries || took <= 0 {
		t.Errorf("looks: got %v in %v s, want at least the %v queries", looks, took, queries)
	}
	slow := map[string]string{}
	for _, e := range r.Events {
		for _, a := range e.Attrs {
			if a.Key == sqlitetrace.AttrPlan {
				slow[a.Value] = a.Value
			}
		}
	}
	if slow["search"] == "" || slow["scan+sort"] == "" {
		t.Errorf("plans of the slow statements' events: got %v, want search and scan+sort among them", slow)
	}
}

// execPrepared executes one prepared statement on its own and in a transaction.
func execPrepared(t *testing.T, db *sql.DB) {
	ctx := As("prepared")
	stmt, err := db.PrepareContext(ctx, "DELETE FROM item WHERE name = ?")
	if err != nil {
		t.Fatal(err)
	}
	defer stmt.Close()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	own := tx.StmtContext(ctx, stmt)
	for _, s := range []*sql.Stmt{own, own} {
		if _, err := s.ExecContext(ctx, "none"); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if _, err := stmt.ExecContext(ctx, "none"); err != nil {
		t.Fatal(err)
	}
}

// PlansLeaveTransactions begins transactions in every way and has their first
// statement, a write, wait for another connection's: a look that had read first
// would make it fail at once, since who has read does not wait.
func PlansLeaveTransactions(t *testing.T, driverName string) {
	for _, begin := range []string{"BEGIN", "SAVEPOINT a", "SAVEPOINT a; SAVEPOINT b; RELEASE b"} {
		for _, watched := range []bool{true, false} { // when it begins
			t.Run(fmt.Sprintf("%s, watched %t", begin, watched), func(t *testing.T) {
				p := sqlitetrace.New(sqlitetrace.Options{Plans: sqlitetrace.PlansOnce})
				open := func(dsn string) (*sql.DB, error) { return p.Open(driverName, dsn) }
				path := filepath.Join(t.TempDir(), "app.db")
				db, other := OpenOne(t, open, path), OpenOne(t, open, path)
				Must(t, db, "PRAGMA journal_mode = WAL")
				Must(t, db, "PRAGMA busy_timeout = 60000")
				Must(t, db, "CREATE TABLE item (name TEXT)")
				if !watched {
					Must(t, db, begin)
				}
				w, err := p.Watch()
				if err != nil {
					t.Fatal(err)
				}
				defer w.Close()
				if watched {
					Must(t, db, begin)
				}
				writeBehind(t, p, db, other)
				Must(t, db, "COMMIT")
			})
		}
	}
}

// writeBehind writes on db while the other connection has the write lock, which
// that one gives up when db waits for it.
func writeBehind(t *testing.T, p *sqlitetrace.Probe, db, other *sql.DB) {
	Must(t, other, "BEGIN IMMEDIATE")
	Must(t, other, "INSERT INTO item VALUES ('other')")
	done := make(chan error, 1)
	go func() {
		_, err := db.ExecContext(As("own"), "INSERT INTO item VALUES ('own')")
		done <- err
	}()
	waits := func(o probe.Overlap) bool {
		return o.Name == "own" && o.Running && o.Duration > 5*time.Millisecond
	}
	for len(done) == 0 && !slices.ContainsFunc(p.Overlapping(nil, 0), waits) {
		runtime.Gosched()
	}
	Must(t, other, "COMMIT")
	if err := <-done; err != nil {
		t.Errorf("the write behind another one's: %v", err)
	}
}

// scansOf makes a map of "a|b" or, if it is not 1, "a|b 2".
func scansOf(lines []string) map[string]float64 {
	want := map[string]float64{}
	for _, l := range lines {
		n := 1.0
		if last := l[len(l)-1]; l[len(l)-2] == ' ' && last >= '2' && last <= '9' {
			l, n = l[:len(l)-2], float64(last-'0')
		}
		want[l] = n
	}
	return want
}

// counts lists a counter's series that are not 0 by some of their attributes.
func counts(r *probe.Reading, name string, attrs ...string) map[string]float64 {
	got := map[string]float64{}
	for m := range r.Find(name) {
		var values []string
		for _, a := range attrs {
			values = append(values, m.Attr(a))
		}
		if m.Value != 0 {
			got[strings.Join(values, "|")] += m.Value
		}
	}
	return got
}
