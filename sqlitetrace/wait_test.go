package sqlitetrace_test

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// TestPoolWait has three callers take turns at one connection: a transaction of
// 10 ms, a statement of 5 that waits for it from the start, and one that comes
// while that runs. (Which of two that wait comes first is chance.)
func TestPoolWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &lockFile{}
		p := sqlitetrace.New(sqlitetrace.Options{})
		db := p.Wrap(p.OpenDB(f))
		defer db.Close()
		db.SetMaxOpenConns(1)
		w := watch(t, p)
		go func() {
			tx, err := db.BeginTx(labelled("Save"), nil)
			if err != nil {
				panic(err)
			}
			time.Sleep(8 * time.Millisecond)
			tx.Commit() // 2 ms
		}()
		synctest.Wait()
		go db.ExecContext(labelled("Put"), "SELECT 5ms")
		time.Sleep(12 * time.Millisecond)
		var n int
		db.QueryRowContext(context.Background(), "-- name: Last :one\nSELECT 1ms").Scan(&n)
		conn, _ := db.Conn(t.Context())
		ctx, cancel := context.WithTimeout(labelled("Late"), 4*time.Millisecond)
		defer cancel()
		if _, err := db.ExecContext(ctx, "SELECT 1ms"); err == nil {
			t.Error("a call without a connection succeeded")
		}
		conn.Close()
		r := w.Close()
		wantMS(t, r, map[string]map[string]float64{
			"tidestaff.db.connection.wait.duration": {"Save": 0, "Put": 10, "Last": 3, "Late": 4},
			"tidestaff.db.others.wait.time":         {"Save": 10, "Put": 3},
		})
		for m := range r.Find("tidestaff.db.others.wait.time") {
			if got := m.Attr(sqlitetrace.AttrResource); got != "connection" {
				t.Errorf("resource: got %q, want connection", got)
			}
		}
	})
}

// TestMarkedContext wants the driver to get the caller's own context from every
// method of a DB, and from no other a change.
func TestMarkedContext(t *testing.T) {
	ctx := marked{labelled("m")}
	use := func(db interface {
		ExecContext(context.Context, string, ...any) (sql.Result, error)
		QueryContext(context.Context, string, ...any) (*sql.Rows, error)
		QueryRowContext(context.Context, string, ...any) *sql.Row
		PrepareContext(context.Context, string) (*sql.Stmt, error)
		BeginTx(context.Context, *sql.TxOptions) (*sql.Tx, error)
		PingContext(context.Context) error
	}) {
		var n int
		db.PingContext(ctx)
		db.ExecContext(ctx, "plain")
		db.ExecContext(ctx, "skip")
		if rows, err := db.QueryContext(ctx, "skip"); err == nil {
			rows.Close()
		}
		db.QueryRowContext(ctx, "rows 1").Scan(&n)
		if stmt, err := db.PrepareContext(ctx, "plain"); err == nil {
			stmt.Close()
		}
		if tx, err := db.BeginTx(ctx, nil); err == nil {
			tx.Commit()
		}
	}
	bare := &server{shape: shape{conn: "EQRVPCBN", stmt: "C"}}
	db := sql.OpenDB(bare)
	db.SetMaxOpenConns(1)
	use(db)
	db.Close()
	for _, watched := range []bool{false, true} {
		s := &server{shape: shape{conn: "EQRVPCBN", stmt: "C"}}
		p := sqlitetrace.New(sqlitetrace.Options{})
		if watched {
			watch(t, p)
		}
		db := p.Wrap(p.OpenDB(s))
		db.SetMaxOpenConns(1)
		use(db)
		db.Close()
		if diff := cmp.Diff(bare.journal, s.journal); diff != "" {
			t.Errorf("watched %v: calls (-bare +wrapped):\n%s", watched, diff)
		}
	}
	if n := strings.Count(strings.Join(bare.journal, "\n"), "with the caller's context"); n < 8 {
		t.Errorf("the bare driver got the context %d times: the test sees nothing", n)
	}
}
