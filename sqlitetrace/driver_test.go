package sqlitetrace_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// register gives a driver a name of this test's own: the table in database/sql
// lasts as long as the process.
func register(t *testing.T, d driver.Driver) string {
	name := t.Name()
	for n := 0; slices.Contains(sql.Drivers(), name); n++ {
		name = fmt.Sprint(t.Name(), n)
	}
	sql.Register(name, d)
	return name
}

// TestOpen opens by a registered name, with and without DriverContext.
func TestOpen(t *testing.T) {
	for _, tc := range []struct {
		name string
		make func(*server) driver.Driver
		want []string
	}{
		{"driver", func(s *server) driver.Driver { return fakeDriver{s} },
			[]string{`open "file:x"`, "connect 1", `1: exec "plain"`, "1: close"}},
		{"context driver", func(s *server) driver.Driver { return fakeContextDriver{fakeDriver{s}} },
			[]string{`open connector "file:x"`, "close connector", `open connector "file:x"`,
				"connect 1 with the caller's context", `1: exec with the caller's context "plain"`, "1: close", "close connector"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := &server{shape: shape{conn: "EQ"}}
			d := tc.make(s)
			p := sqlitetrace.New(sqlitetrace.Options{})
			db, err := p.Open(register(t, d), "file:x")
			if err != nil {
				t.Fatal(err)
			}
			if got := db.Driver(); got != d {
				t.Errorf("Driver: got %T, want the original %T", got, d)
			}
			w := watch(t, p)
			ctx := marked{context.Background()}
			if _, err := db.ExecContext(ctx, "plain"); err != nil {
				t.Error(err)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
			want := slices.Clone(tc.want)
			if tc.name == "driver" { // its Open has no context
				want[2] = `1: exec with the caller's context "plain"`
			}
			if diff := cmp.Diff(want, s.journal); diff != "" {
				t.Errorf("journal (-want +got):\n%s", diff)
			}
			if got := total(w.Close(), "tidestaff.db.queries"); got != 1 {
				t.Errorf("queries: got %v, want 1", got)
			}
		})
	}
}

func TestOpenErrors(t *testing.T) {
	p := sqlitetrace.New(sqlitetrace.Options{})
	_, err := p.Open("no such driver", "")
	_, want := sql.Open("no such driver", "")
	if err == nil || err.Error() != want.Error() {
		t.Errorf("unknown driver: got %v, want %v", err, want)
	}
	name := register(t, fakeContextDriver{fakeDriver{new(server)}})
	_, err = p.Open(name, "")
	_, want = sql.Open(name, "")
	if err == nil || err.Error() != want.Error() {
		t.Errorf("driver that refuses the dsn: got %v, want %v", err, want)
	}
}

// TestDriver registers a wrapped driver by a name, as for an ORM.
func TestDriver(t *testing.T) {
	for _, tc := range []struct {
		name string
		make func(*server) driver.Driver
		want []string
	}{
		{"driver", func(s *server) driver.Driver { return fakeDriver{s} },
			[]string{`open "file:x"`, "connect 1", `1: exec "plain"`, "1: close"}},
		{"context driver", func(s *server) driver.Driver { return fakeContextDriver{fakeDriver{s}} },
			[]string{`open connector "file:x"`, "connect 1", `1: exec "plain"`, "1: close", "close connector"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := &server{shape: shape{conn: "EQ"}}
			p := sqlitetrace.New(sqlitetrace.Options{})
			d := tc.make(s)
			db, err := sql.Open(register(t, p.Driver(d)), "file:x")
			if err != nil {
				t.Fatal(err)
			}
			if got := db.Driver(); got != d {
				t.Errorf("Driver: got %T, want the original %T", got, d)
			}
			w := watch(t, p)
			if _, err := db.Exec("plain"); err != nil {
				t.Error(err)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(tc.want, s.journal); diff != "" {
				t.Errorf("journal (-want +got):\n%s", diff)
			}
			if got := total(w.Close(), "tidestaff.db.queries"); got != 1 {
				t.Errorf("queries: got %v, want 1", got)
			}
		})
	}
}

// TestDriverOpen uses a wrapped driver around database/sql.
func TestDriverOpen(t *testing.T) {
	d := fakeDriver{&server{shape: shape{conn: "EQ"}}}
	p := sqlitetrace.New(sqlitetrace.Options{})
	wrapped := p.Driver(d)
	w := watch(t, p)
	conn, err := wrapped.Open("file:x")
	if err != nil {
		t.Fatal(err)
	}
	conn.(driver.ExecerContext).ExecContext(labelled("m"), "plain", nil)
	if got := total(w.Close(), "tidestaff.db.queries"); got != 1 {
		t.Errorf("queries: got %v, want 1", got)
	}
	if got := wrapped.(interface{ Unwrap() driver.Driver }).Unwrap(); got != d {
		t.Errorf("Unwrap: got %v, want the original", got)
	}
}

// TestWrappedTwice watches a connector whose driver is watched already.
func TestWrappedTwice(t *testing.T) {
	p := sqlitetrace.New(sqlitetrace.Options{})
	db := p.OpenDB(p.Connector(&server{shape: shape{conn: "EQ"}}))
	defer db.Close()
	w := watch(t, p)
	db.Exec("plain")
	if got := total(w.Close(), "tidestaff.db.queries"); got != 1 {
		t.Errorf("queries: got %v, want 1", got)
	}
}

// TestTwoProbes puts one probe around another's connector: each counts.
func TestTwoProbes(t *testing.T) {
	p, q := sqlitetrace.New(sqlitetrace.Options{}), sqlitetrace.New(sqlitetrace.Options{})
	db := q.OpenDB(p.Connector(&server{shape: shape{conn: "EQ"}}))
	defer db.Close()
	v, w := watch(t, p), watch(t, q)
	db.Exec("plain")
	if a, b := total(v.Close(), "tidestaff.db.queries"), total(w.Close(), "tidestaff.db.queries"); a != 1 || b != 1 {
		t.Errorf("queries: got %v and %v, want 1 and 1", a, b)
	}
}

// TestRaw reaches the driver's own connection in the ways there are.
func TestRaw(t *testing.T) {
	ctx := context.Background()
	for name := range connShapes {
		db := sqlitetrace.New(sqlitetrace.Options{}).OpenDB(&server{shape: shape{conn: name}})
		conn, err := db.Conn(ctx)
		if err != nil {
			t.Fatal(err)
		}
		err = conn.Raw(func(dc any) error {
			w, ok := dc.(interface {
				Unwrap() driver.Conn
				Raw() driver.Conn
			})
			if !ok {
				return errors.New("no Unwrap and Raw")
			}
			for _, inner := range []driver.Conn{w.Unwrap(), w.Raw()} {
				if got := fmt.Sprintf("%T", inner); !strings.HasPrefix(got, "struct") {
					return fmt.Errorf("got a %s, want the fake's own struct", got)
				}
			}
			return nil
		})
		if err != nil {
			t.Errorf("shape %q: %v", name, err)
		}
		conn.Close()
		db.Close()
	}
}

// TestRawLegacy uses the connection around database/sql: the deprecated methods
// of package driver, two transactions at once, a second Close and a Rollback
// after a Commit.
func TestRawLegacy(t *testing.T) {
	s := &server{shape: shape{conn: "EQ", stmt: "C"}}
	p := sqlitetrace.New(sqlitetrace.Options{})
	w := watch(t, p)
	dc, err := p.Connector(s).Connect(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	begin := dc.(interface{ Begin() (driver.Tx, error) }).Begin
	first, _ := begin()
	second, _ := begin()
	stmt, _ := dc.Prepare("rows 1")
	old := stmt.(interface {
		Exec([]driver.Value) (driver.Result, error)
		Query([]driver.Value) (driver.Rows, error)
	})
	old.Exec(nil)
	rows, _ := old.Query(nil)
	rows.Close()
	rows.Close()
	second.Rollback()
	first.Commit()
	first.Rollback()
	want := []string{"connect 1", "1: begin", "1: begin", `1: prepare "rows 1"`, `1: legacy stmt exec "rows 1"`,
		`1: legacy stmt query "rows 1"`, "1: close rows", "1: close rows", "1: rollback", "1: commit", "1: rollback"}
	if diff := cmp.Diff(want, s.journal); diff != "" {
		t.Errorf("journal (-want +got):\n%s", diff)
	}
	r := w.Close()
	if queries, tx := total(r, "tidestaff.db.queries"), count(r, "db.client.operation.duration", kindIs("tx")); queries != 2 || tx != 4 {
		t.Errorf("queries, tx: got %v, %d, want 2, 4: an end beyond a transaction's own is not counted", queries, tx)
	}
	if got := total(r, "tidestaff.db.cursor.active"); got != 0 {
		t.Errorf("active cursors: got %v, want 0", got)
	}
}

// TestNil passes on what a driver should not return and some do: nil without an
// error. What database/sql makes of it is then its own affair.
func TestNil(t *testing.T) {
	ctx := labelled("m")
	s := &server{shape: shape{conn: "EQB"}, rows: func(*fakeRows) driver.Rows { return nil }}
	p := sqlitetrace.New(sqlitetrace.Options{})
	w := watch(t, p)
	conn, err := p.Connector(s).Connect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if rows, err := conn.(driver.QueryerContext).QueryContext(ctx, "rows 1", nil); rows != nil || err != nil {
		t.Errorf("rows: got %v, %v, want nil, nil", rows, err)
	}
	if conn, err := p.Driver(nilDriver{}).Open(""); conn != nil || err != nil {
		t.Errorf("connection: got %v, %v, want nil, nil", conn, err)
	}
	r := w.Close()
	if n, active := total(r, "tidestaff.db.queries"), total(r, "tidestaff.db.cursor.active"); n != 1 || active != 0 {
		t.Errorf("queries, active cursors: got %v, %v, want 1, 0", n, active)
	}
}

type nilDriver struct{}

func (nilDriver) Open(string) (driver.Conn, error) { return nil, nil }
