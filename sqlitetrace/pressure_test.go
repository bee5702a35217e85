package sqlitetrace_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// TestManyStatements executes 10,000 texts, one of them of 4 MB, in the memory of
// a thousand.
func TestManyStatements(t *testing.T) {
	_, db, w := open(t, &server{shape: shape{conn: "EQ"}, quiet: true})
	ctx := labelled("m")
	const n = 10_000
	for i := range n {
		if _, err := db.ExecContext(ctx, fmt.Sprintf("INSERT INTO t%d VALUES (1)", i)); err != nil {
			t.Fatal(err)
		}
	}
	long := "INSERT INTO t VALUES (1)" + strings.Repeat(", ('it''s')", 400_000)
	for range 2 {
		db.ExecContext(ctx, long)
		read(t, db, ctx, "SELECT "+strings.Repeat("(", 1<<20))
	}
	r := w.Close()
	if got := total(r, "tidestaff.db.queries"); got != n+4 {
		t.Errorf("queries: got %v, want %d", got, n+4)
	}
	if got := count(r, "tidestaff.db.affected_rows"); got != n+2 {
		t.Errorf("statements with affected rows: got %d, want %d", got, n+2)
	}
}

// TestOneConnectorTwice opens one connector in two databases, and closes both.
func TestOneConnectorTwice(t *testing.T) {
	s := &server{shape: shape{conn: "EQ"}}
	p := sqlitetrace.New(sqlitetrace.Options{})
	c := p.Connector(s)
	w := watch(t, p)
	for range 2 {
		db, second := sql.OpenDB(c), p.OpenDB(s)
		db.ExecContext(labelled("m"), "plain")
		second.ExecContext(labelled("m"), "plain")
		db.Close()
		second.Close()
	}
	if got := total(w.Close(), "tidestaff.db.queries"); got != 4 {
		t.Errorf("queries: got %v, want 4", got)
	}
	if n := strings.Count(strings.Join(s.journal, "\n"), "close connector"); n != 4 {
		t.Errorf("the connector was closed %d times, want once for each database", n)
	}
}

// TestStmtReprepared executes a prepared statement on a second connection, on
// which database/sql prepares it again: the execution still belongs to who executes.
func TestStmtReprepared(t *testing.T) {
	s := &server{shape: shape{conn: "EQ", stmt: "C"}}
	p := sqlitetrace.New(sqlitetrace.Options{})
	db := p.OpenDB(s)
	defer db.Close()
	w := watch(t, p)
	stmt, err := db.PrepareContext(labelled("prepare"), "rows 2")
	if err != nil {
		t.Fatal(err)
	}
	defer stmt.Close()
	first, err := stmt.QueryContext(labelled("first"))
	if err != nil {
		t.Fatal(err)
	}
	second, err := stmt.QueryContext(labelled("second"))
	if err != nil {
		t.Fatal(err)
	}
	second.Close()
	first.Close()
	if n := strings.Count(strings.Join(s.journal, "\n"), "prepare"); n != 2 {
		t.Fatalf("prepared %d times, want on two connections", n)
	}
	got := map[string]float64{}
	r := w.Close()
	for m := range r.Find("tidestaff.db.queries") {
		got[m.Attr(probe.AttrMethod)] += m.Value
	}
	if diff := cmp.Diff(map[string]float64{"first": 1, "second": 1}, got); diff != "" {
		t.Errorf("queries (-want +got):\n%s", diff)
	}
}

// TestWindowsDuringQueries opens and closes windows while queries, transactions
// and their ends run, with contexts that end at any point; for the race detector.
// Nothing may be left: no cursor, no transaction, no holder of the lock.
func TestWindowsDuringQueries(t *testing.T) {
	p := sqlitetrace.New(sqlitetrace.Options{DBKey: func(string) string { return "file" }, Slow: 1, Plans: sqlitetrace.PlansOnce})
	db := p.Wrap(p.OpenDB(&server{shape: shape{conn: "EQRV", stmt: "C"}, quiet: true}))
	db.SetMaxOpenConns(3)
	var wg sync.WaitGroup
	for g := range 6 {
		wg.Go(func() {
			for i := range 60 {
				ctx, cancel := context.WithCancel(labelled(fmt.Sprint("m", g)))
				if i%3 == 0 {
					go cancel()
				}
				db.ExecContext(ctx, "INSERT INTO t VALUES (1)")
				if rows, err := db.QueryContext(ctx, "rows 50"); err == nil {
					rows.Next()
					if i%3 != 0 { // otherwise its context closes it, at any time
						rows.Close()
					}
				}
				if tx, err := db.BeginTx(ctx, nil); err == nil {
					tx.ExecContext(ctx, "INSERT INTO t VALUES (1)")
					if i%5 == 0 {
						tx.ExecContext(ctx, "COMMIT") // in words, and again below
					}
					tx.Commit()
				}
				cancel()
			}
		})
	}
	done := make(chan struct{})
	go func() {
		wg.Wait()
		close(done)
	}()
	for ended := false; !ended; {
		select {
		case <-done:
			ended = true
		default:
		}
		w, err := p.Watch()
		if err != nil {
			t.Fatal(err)
		}
		var r probe.Reading
		w.Next(&r)
		p.Held()
		p.Overlapping(nil, 0)
		w.Close()
	}
	awaitIdle(db.DB)
	w := watch(t, p)
	db.Close()
	if err := p.AtRest(); err != nil {
		t.Error(err)
	}
	if held := p.Held(); len(held) != 0 {
		t.Errorf("held: got %v, want nothing", held)
	}
	r := w.Close()
	for _, name := range []string{"tidestaff.db.cursor.active", "tidestaff.db.transaction.active"} {
		if got := total(r, name); got != 0 {
			t.Errorf("%s: got %v, want 0", name, got)
		}
	}
}

// TestCloseUnderCursors closes a database while cursors and transactions are open.
func TestCloseUnderCursors(t *testing.T) {
	p := sqlitetrace.New(sqlitetrace.Options{DBKey: func(string) string { return "file" }})
	db := p.OpenDB(&server{shape: shape{conn: "EQ"}})
	w := watch(t, p)
	rows, err := db.QueryContext(labelled("cursor"), "rows 3")
	if err != nil {
		t.Fatal(err)
	}
	tx, err := db.BeginTx(labelled("tx"), nil)
	if err != nil {
		t.Fatal(err)
	}
	tx.ExecContext(labelled("tx"), "INSERT INTO t VALUES (1)")
	returning, err := tx.QueryContext(labelled("returning"), "INSERT INTO t VALUES (1) RETURNING n")
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	returning.Close()
	rows.Close()
	tx.Rollback()
	awaitIdle(db)
	if err := p.AtRest(); err != nil {
		t.Error(err)
	}
	if held := p.Held(); len(held) != 0 {
		t.Errorf("held: got %v, want nothing", held)
	}
	r := w.Close()
	if got := total(r, "tidestaff.db.cursor.active") + total(r, "tidestaff.db.transaction.active"); got != 0 {
		t.Errorf("active: got %v, want 0", got)
	}
}
