package sqlitetrace_test

import (
	"context"
	"database/sql"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
)

// store is what methods are found in without a label.
type store struct{ db *sql.DB }

func (s *store) Get() int {
	var n int
	s.db.QueryRow("rows 1").Scan(&n)
	return n
}

func TestAttributionWithoutLabel(t *testing.T) {
	_, db, w := open(t, &server{shape: shape{conn: "EQ"}})
	(&store{db}).Get()
	r := w.Close()
	attrs := []probe.Attr{{Key: probe.AttrMethod, Value: "(*store).Get"}, {Key: probe.AttrRole, Value: "test"}}
	if got := total(r, "tidestaff.db.queries", attrs...); got != 1 {
		t.Errorf("queries of (*store).Get: got %v, want 1, in %v", got, r.Metrics)
	}
}

// TestSqlcMethod takes the method from sqlc's comment unless the context has one,
// prepared or not, and the role from where it always is.
func TestSqlcMethod(t *testing.T) {
	_, db, w := open(t, &server{shape: shape{conn: "EQ"}})
	ctx := context.Background()
	const query = "-- name: GetUser :one\nSELECT 1"
	db.ExecContext(ctx, query)
	read(t, db, probe.WithRole(ctx, "request"), query)
	stmt, err := db.PrepareContext(ctx, query)
	if err != nil {
		t.Fatal(err)
	}
	stmt.ExecContext(ctx)
	stmt.Close()
	db.ExecContext(labelled("(*Store).Get"), query)
	got := map[string]float64{}
	r := w.Close()
	for m := range r.Find("tidestaff.db.queries") {
		got[m.Attr(probe.AttrMethod)+" "+m.Attr(probe.AttrRole)] += m.Value
	}
	want := map[string]float64{"GetUser test": 2, "GetUser request": 1, "(*Store).Get request": 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("queries (-want +got):\n%s", diff)
	}
}

// TestOperation adds to the operation in the context.
func TestOperation(t *testing.T) {
	_, db, _ := open(t, &server{shape: shape{conn: "EQ"}})
	ops := new(probe.Ops)
	w := watch(t, ops)
	ctx, op := ops.Begin(labelled("m"), "request")
	db.ExecContext(ctx, "plain")
	read(t, db, ctx, "rows 30")
	late, _ := db.QueryContext(ctx, "rows 4")
	op.End(nil)
	late.Close()
	r := w.Close()
	queries, rows := total(r, "tidestaff.operation.queries"), total(r, "tidestaff.operation.rows")
	if queries != 3 || rows != 30 {
		t.Errorf("queries, rows: got %v, %v, want 3, 30: rows closed after the End do not count", queries, rows)
	}
	if got := total(r, "tidestaff.operation.sql.time"); got <= 0 {
		t.Errorf("SQL time: got %v, want some", got)
	}
}
