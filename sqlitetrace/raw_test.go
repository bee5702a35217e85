package sqlitetrace_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"testing"

	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// Wrappers that others have around a connection.
type (
	unwrapper struct{ driver.Conn }
	rawer     struct{ driver.Conn }
	wrapped   struct{ driver.Conn }
	circle    struct{ driver.Conn }
	nothing   struct{ driver.Conn }
)

func (u unwrapper) Unwrap() driver.Conn    { return u.Conn }
func (r rawer) Raw() driver.Conn           { return r.Conn }
func (w wrapped) WrappedConn() driver.Conn { return w.Conn }
func (c circle) Unwrap() driver.Conn       { return c }
func (nothing) Raw() driver.Conn           { return nil }

// A oneConn is a connector of one connection.
type oneConn struct {
	*server
	conn driver.Conn
}

func (c oneConn) Connect(context.Context) (driver.Conn, error) { return c.conn, nil }

func TestRawUnwraps(t *testing.T) {
	own := &lockConn{file: &lockFile{}}
	for name, tc := range map[string]struct{ conn, want driver.Conn }{
		"own":     {own, own},
		"others":  {unwrapper{rawer{wrapped{own}}}, own},
		"circle":  {circle{own}, circle{own}},
		"nothing": {nothing{own}, nothing{own}},
	} {
		db := sqlitetrace.New(sqlitetrace.Options{}).OpenDB(oneConn{&server{}, tc.conn})
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		err = sqlitetrace.Raw(t.Context(), conn, func(dc any) error {
			if dc != tc.want {
				t.Errorf("%s: got %T, want %T", name, dc, tc.want)
			}
			return errFake
		})
		if !errors.Is(err, errFake) {
			t.Errorf("%s: error: got %v, want fn's", name, err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := sqlitetrace.Raw(ended, conn, func(any) error { panic("called") }); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error: got %v, want the context's", name, err)
		}
		conn.Close()
		db.Close()
	}
}

func TestDriverAs(t *testing.T) {
	s := &server{shape: shape{conn: "EQ"}}
	p := sqlitetrace.New(sqlitetrace.Options{DriverAs: sqlitetrace.DriverAsWrapper})
	db := p.OpenDB(s)
	defer db.Close()
	d := db.Driver()
	if u, ok := d.(interface{ Unwrap() driver.Driver }); !ok || u.Unwrap() != s.Driver() {
		t.Fatalf("driver: got %T, want a wrapper of the original", d)
	}
	w := watch(t, p)
	conn, err := d.Open("app.db")
	if err != nil {
		t.Fatal(err)
	}
	conn.(driver.ExecerContext).ExecContext(labelled("m"), "plain", nil)
	conn.Close()
	if got := total(w.Close(), "tidestaff.db.queries"); got != 1 {
		t.Errorf("queries of a connection that the driver opened: got %v, want 1", got)
	}
}
