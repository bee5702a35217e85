package sqlitetrace_test

import (
	"context"
	"database/sql"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// TestHeld lists what is open, the oldest first, and nothing when it is closed.
func TestHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sqlitetrace.New(sqlitetrace.Options{})
		db := p.OpenDB(&server{shape: shape{conn: "EQ"}})
		defer db.Close()
		w := watch(t, p)
		tx, _ := db.BeginTx(labelled("tx"), nil)
		time.Sleep(time.Second)
		var all []*sql.Rows
		for i := range 3 {
			rows, err := tx.QueryContext(labelled(fmt.Sprint("m", i)), "rows 3 -- secret")
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, rows)
			time.Sleep(time.Second)
		}
		w.Close() // what was opened before stays
		start := time.Now().Add(-4 * time.Second)
		held := func(kind, method, query string, age time.Duration) sqlitetrace.Held {
			return sqlitetrace.Held{Kind: kind, Method: method, Role: "request", Query: query, Start: start.Add(4*time.Second - age), Age: age}
		}
		want := []sqlitetrace.Held{held("transaction", "tx", "", 4*time.Second), held("cursor", "m0", "rows ?", 3*time.Second),
			held("cursor", "m1", "rows ?", 2*time.Second), held("cursor", "m2", "rows ?", time.Second)}
		if diff := cmp.Diff(want, p.Held()); diff != "" {
			t.Errorf("four are open (-want +got):\n%s", diff)
		}
		all[1].Close()
		all[1].Close()
		if diff := cmp.Diff([]sqlitetrace.Held{want[0], want[1], want[3]}, p.Held()); diff != "" {
			t.Errorf("the middle one is closed (-want +got):\n%s", diff)
		}
		all[0].Close()
		all[2].Close()
		tx.Commit()
		if got := p.Held(); len(got) != 0 {
			t.Errorf("all are closed: got %v, want nothing", got)
		}
	})
}

// TestRequestsCollected wants nothing of a request to be kept by the connection
// that has served it: it may stay idle for long.
func TestRequestsCollected(t *testing.T) {
	p := sqlitetrace.New(sqlitetrace.Options{})
	db := p.OpenDB(&server{shape: shape{conn: "EQ"}})
	defer db.Close()
	defer watch(t, p).Close()
	collected := make(chan struct{})
	serve := func() {
		type key struct{}
		r := new([1 << 10]byte)
		runtime.AddCleanup(r, func(done chan struct{}) { close(done) }, collected)
		ctx := context.WithValue(t.Context(), key{}, r)
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.ExecContext(ctx, "plain"); err != nil {
			t.Error(err)
		}
		if err := tx.Commit(); err != nil {
			t.Error(err)
		}
	}
	serve()
	for range 200 {
		runtime.GC()
		select {
		case <-collected:
			return
		default:
			runtime.Gosched() // to the goroutines of the transaction and of cleanups
		}
	}
	t.Error("the context of a transaction that is over is still alive")
}
