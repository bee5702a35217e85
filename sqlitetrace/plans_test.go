package sqlitetrace_test

import (
	"context"
	"database/sql/driver"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// runPlanned runs one statement on the fake driver and returns what reached the
// driver, and the looks at its plan apart from it.
func runPlanned(t *testing.T, s *server, p *sqlitetrace.Probe) (calls, looks []string) {
	t.Helper()
	var connector driver.Connector = s
	if p != nil {
		connector = p.Connector(s)
	}
	c, err := connector.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var rows driver.Rows
	ctx := marked{context.Background()}
	args := []driver.NamedValue{{Ordinal: 1, Value: int64(7)}}
	if q, ok := c.(driver.QueryerContext); ok {
		rows, err = q.QueryContext(ctx, "SELECT 1", args)
	} else {
		var stmt driver.Stmt
		if stmt, err = c.Prepare("SELECT 1"); err != nil {
			t.Fatal(err)
		}
		rows, err = stmt.(driver.StmtQueryContext).QueryContext(ctx, args)
	}
	if err != nil {
		t.Fatal(err)
	}
	rows.Close()
	for _, call := range s.journal {
		if strings.Contains(call, "EXPLAIN") {
			looks = append(looks, call)
		} else if strings.Contains(call, "SELECT 1") {
			calls = append(calls, call)
		}
	}
	if n := len(looks); n > 0 && slices.Index(s.journal, looks[n-1]) > slices.Index(s.journal, calls[len(calls)-1]) {
		t.Errorf("a look came after the statement: %q", s.journal)
	}
	return calls, looks
}

// TestLookFails has the driver answer a look in every wrong way: the statement
// runs as on the bare driver, and its plan is unknown.
func TestLookFails(t *testing.T) {
	for name, explain := range map[string]func() error{
		"no such form": nil,
		"error":        func() error { return errFake },
		"bad":          func() error { return driver.ErrBadConn },
		"skip":         func() error { return driver.ErrSkip },
		"panic":        func() error { panic("fake: panic in a look") },
	} {
		for _, sh := range []shape{{conn: "EQ"}, {conn: "EQPCBN", stmt: "C"}, {conn: "", stmt: "C"}, {conn: "PCBN", stmt: "C"}} {
			want, _ := runPlanned(t, &server{shape: sh}, nil)
			p := sqlitetrace.New(sqlitetrace.Options{Plans: sqlitetrace.PlansOnce})
			w := watch(t, p)
			got, looks := runPlanned(t, &server{shape: sh, explain: explain}, p)
			if diff := cmp.Diff(want, got); diff != "" || len(looks) == 0 {
				t.Errorf("%s, %+v: %d looks, want some; calls (-bare +watched):\n%s", name, sh, len(looks), diff)
			}
			for _, look := range looks {
				if strings.Contains(look, "the caller's context") {
					t.Errorf("%s, %+v: %s: want a context that the driver does not know", name, sh, look)
				}
			}
			r := w.Close()
			unknown := total(r, "tidestaff.sqlite.plans", probe.Attr{Key: sqlitetrace.AttrPlan, Value: "unknown"})
			if queries := total(r, "tidestaff.db.queries"); queries != 1 || unknown != 1 {
				t.Errorf("%s, %+v: queries, unknown plans: got %v, %v, want 1, 1", name, sh, queries, unknown)
			}
		}
	}
}

// TestLookWhen wants no look where nobody asked for one.
func TestLookWhen(t *testing.T) {
	for name, tc := range map[string]struct {
		o       sqlitetrace.Options
		watched bool
	}{
		"off":            {sqlitetrace.Options{}, true},
		"unwatched":      {sqlitetrace.Options{Plans: sqlitetrace.PlansOnce}, false},
		"another system": {sqlitetrace.Options{Plans: sqlitetrace.PlansOnce, System: "postgresql"}, true},
	} {
		p := sqlitetrace.New(tc.o)
		var w *probe.Window
		if tc.watched {
			w = watch(t, p)
		}
		if _, looks := runPlanned(t, &server{shape: shape{conn: "EQ"}}, p); len(looks) > 0 {
			t.Errorf("%s: got looks %q, want none", name, looks)
		}
		if w == nil {
			w = watch(t, p)
		}
		for m := range w.Close().Find("tidestaff.sqlite.plan_looks") {
			t.Errorf("%s: got %v looks counted, want none", name, m.Value)
		}
	}
}

// TestLookCost has each EXPLAIN take 5 ms, and wants that to be the looks' time
// and nobody else's.
func TestLookCost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := sqlitetrace.New(sqlitetrace.Options{Plans: sqlitetrace.PlansOnce})
		db := p.OpenDB(&server{shape: shape{conn: "EQ"}, explain: func() error {
			time.Sleep(5 * time.Millisecond)
			return errFake
		}})
		defer db.Close()
		w := watch(t, p)
		ctx := labelled("m")
		read(t, db, ctx, "SELECT 1")
		db.ExecContext(ctx, "SELECT 1")        // its look failed, so there is another one
		db.ExecContext(ctx, "PRAGMA optimize") // a look that asks nothing
		tx, err := db.BeginTx(ctx, nil)        // a look at the schema
		if err != nil {
			t.Fatal(err)
		}
		tx.Rollback()
		r := w.Close()
		if looks, time := total(r, "tidestaff.sqlite.plan_looks"), total(r, "tidestaff.sqlite.plan_look.time"); looks != 4 || time != 0.010 {
			t.Errorf("looks, their time: got %v, %v, want 4, 0.01", looks, time)
		}
		if got := total(r, "db.client.operation.duration"); got != 0 {
			t.Errorf("time of the program's own: got %v, want 0", got)
		}
	})
}

// TestScansBounded scans more tables than are kept apart, and wants none lost.
func TestScansBounded(t *testing.T) {
	p := sqlitetrace.New(sqlitetrace.Options{})
	w := watch(t, p)
	const n = 1200
	p.Scans(n)
	r := w.Close()
	other := probe.Attr{Key: sqlitetrace.AttrTable, Value: "(other)"}
	if all, rest := total(r, "tidestaff.sqlite.full_scans"), total(r, "tidestaff.sqlite.full_scans", other); all != n || rest != n-1000 {
		t.Errorf("scans, of other tables: got %v, %v, want %v, %v", all, rest, n, n-1000)
	}
}
