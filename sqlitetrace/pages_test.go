package sqlitetrace_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// answers are rows that a query is answered with, of one column or more.
type answers struct {
	*fakeRows
	rows [][]driver.Value
}

func (a *answers) Columns() []string { return make([]string, len(a.rows[0])) }

func (a *answers) Next(dest []driver.Value) error {
	if len(a.rows) == 1 { // the first is only there for its columns
		return io.EOF
	}
	copy(dest, a.rows[1])
	a.rows = a.rows[1:]
	return nil
}

// answering is a server that answers each query by its text, with one row.
func answering(s shape, rows map[string][]driver.Value) *server {
	return &server{shape: s, rows: func(r *fakeRows) driver.Rows {
		row, ok := rows[r.query]
		if !ok {
			return r
		}
		return &answers{r, [][]driver.Value{row, row}}
	}}
}

var pageAnswers = map[string][]driver.Value{
	"PRAGMA page_count": {int64(70)}, "PRAGMA freelist_count": {int64(30)}, "PRAGMA page_size": {int64(4096)},
}

// pageNumbers are the gauges of CountPages.
func pageNumbers(r *probe.Reading) map[string]float64 {
	got := map[string]float64{}
	for _, name := range []string{"pages", "free_pages", "page_size"} {
		for m := range r.Find("tidestaff.sqlite." + name) {
			got[name+" "+m.Attr(sqlitetrace.AttrNamespace)] = m.Value
		}
	}
	return got
}

// TestCountPages asks in each way that a driver has, also below another probe's
// wrapper, and is no query of anybody.
func TestCountPages(t *testing.T) {
	want := map[string]float64{"pages database": 70, "free_pages database": 30, "page_size database": 4096}
	for _, conn := range []string{"EQ", "q", "", "EQC", "EQRVPCBN"} {
		s := answering(shape{conn: conn}, pageAnswers)
		outer, p := sqlitetrace.New(sqlitetrace.Options{}), sqlitetrace.New(sqlitetrace.Options{})
		db := outer.OpenDB(p.Connector(s))
		defer db.Close()
		outside, w := watch(t, outer), watch(t, p)
		if got := pageNumbers(w.Close()); len(got) != 0 {
			t.Errorf("%q: got %v before anybody asked", conn, got)
		}
		w = watch(t, p)
		if err := p.CountPages(t.Context(), db); err != nil {
			t.Fatalf("%q: %v", conn, err)
		}
		r := w.Close()
		if diff := cmp.Diff(want, pageNumbers(r)); diff != "" {
			t.Errorf("%q: gauges (-want +got):\n%s", conn, diff)
		}
		if n := total(r, "tidestaff.db.queries") + total(outside.Close(), "tidestaff.db.queries"); n != 0 {
			t.Errorf("%q: got %v queries, want 0", conn, n)
		}
		if diff := cmp.Diff(want, pageNumbers(watch(t, p).Close())); diff != "" {
			t.Errorf("%q: a later window (-want +got):\n%s", conn, diff)
		}
	}
}

// TestCountPagesRefuses wants an error that says what is wrong, and no gauge.
func TestCountPagesRefuses(t *testing.T) {
	without := func(key string, row ...driver.Value) map[string][]driver.Value {
		all := map[string][]driver.Value{key: row}
		for k, v := range pageAnswers {
			if k != key {
				all[k] = v
			}
		}
		return all
	}
	good := func() *server { return answering(shape{conn: "EQ"}, pageAnswers) }
	p, other := sqlitetrace.New(sqlitetrace.Options{}), sqlitetrace.New(sqlitetrace.Options{})
	postgres := sqlitetrace.New(sqlitetrace.Options{System: "postgresql"})
	closed := p.OpenDB(good())
	closed.Close()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tc := range []struct {
		p    *sqlitetrace.Probe
		ctx  context.Context
		db   *sql.DB
		want string
	}{
		{p, t.Context(), sql.OpenDB(good()), "was not opened through this probe"},
		{p, t.Context(), other.OpenDB(good()), "was not opened through this probe"},
		{postgres, t.Context(), postgres.OpenDB(good()), `the probe's system is "postgresql", not "sqlite"`},
		{p, t.Context(), closed, "database is closed"},
		{p, ended, p.OpenDB(good()), "context canceled"},
		{p, t.Context(), p.OpenDB(answering(shape{conn: "EQ"}, without("PRAGMA page_size", "4096"))), `of "database": PRAGMA page_size: got [4096], want one number`},
		{p, t.Context(), p.OpenDB(answering(shape{conn: "EQ"}, without("PRAGMA page_count", int64(1), int64(2)))), "PRAGMA page_count: got [1 2], want one number"},
	} {
		defer tc.db.Close()
		err := tc.p.CountPages(tc.ctx, tc.db)
		if err == nil || !strings.HasPrefix(err.Error(), "sqlitetrace: count pages") || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("got error %v, want one with %q", err, tc.want)
		}
		if errors.Is(tc.ctx.Err(), context.Canceled) && !errors.Is(err, context.Canceled) {
			t.Errorf("got error %v, which is not the context's", err)
		}
	}
	for _, p := range []*sqlitetrace.Probe{p, other, postgres} {
		if got := pageNumbers(watch(t, p).Close()); len(got) != 0 {
			t.Errorf("got %v, want no gauge after an error", got)
		}
	}
}
