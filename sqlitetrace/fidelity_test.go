package sqlitetrace_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// A scenario uses a database of one connection and writes down what it sees.
// The server writes down what reaches it, in the same journal.
type scenario struct {
	name string
	run  func(s *server, db *sql.DB, ctx context.Context)
}

var scenarios = []scenario{
	{"execute", func(s *server, db *sql.DB, ctx context.Context) {
		for _, query := range []string{"plain", "skip", "skips", "wrapped-skip", "fail", "busy"} {
			res, err := db.ExecContext(ctx, query)
			if err != nil {
				s.log("got error %v", err)
				continue
			}
			n, err := res.RowsAffected()
			s.log("affected %d, %v", n, err)
		}
	}},
	{"query", func(s *server, db *sql.DB, ctx context.Context) {
		for _, query := range []string{"rows 3", "sets", "skip", "skips", "wrapped-skip", "fail", "breaks", "fails to close"} {
			rows, err := db.QueryContext(ctx, query)
			if err != nil {
				s.log("got error %v", err)
				continue
			}
			readAll(s, rows)
		}
	}},
	{"query one row", func(s *server, db *sql.DB, ctx context.Context) {
		for _, query := range []string{"rows 3", "rows 0", "fail", "fails to close"} {
			var n int
			s.log("got %d, %v", n, db.QueryRowContext(ctx, query).Scan(&n))
		}
	}},
	{"arguments", func(s *server, db *sql.DB, ctx context.Context) {
		stmt, err := db.PrepareContext(ctx, "plain")
		s.log("got %v", err)
		for _, args := range arguments(s) {
			_, err := db.ExecContext(ctx, "plain", args...)
			s.log("exec: %v", err)
			drain(s, func() (*sql.Rows, error) { return db.QueryContext(ctx, "plain", args...) })
			_, err = stmt.ExecContext(ctx, args...)
			s.log("stmt exec: %v", err)
			drain(s, func() (*sql.Rows, error) { return stmt.QueryContext(ctx, args...) })
		}
		s.log("close: %v", stmt.Close())
	}},
	{"out parameter", func(s *server, db *sql.DB, ctx context.Context) {
		var out string
		_, err := db.ExecContext(ctx, "plain", sql.Out{Dest: &out})
		s.log("got %q, %v", out, err)
	}},
	{"prepared", func(s *server, db *sql.DB, ctx context.Context) {
		for _, query := range []string{"rows 1", "skip", "skips", "wrapped-skip", "fail"} {
			stmt, err := db.PrepareContext(ctx, query)
			s.log("got %v", err)
			_, err = stmt.ExecContext(ctx)
			s.log("exec: %v", err)
			drain(s, func() (*sql.Rows, error) { return stmt.QueryContext(ctx) })
			s.log("close: %v", stmt.Close())
		}
	}},
	{"contexts of a statement", func(s *server, db *sql.DB, ctx context.Context) {
		other := context.WithValue(context.Background(), valuer{}, 1) // ends never
		for _, each := range [][2]context.Context{{ctx, other}, {other, ctx}} {
			stmt, err := db.PrepareContext(each[0], "rows 1")
			s.log("got %v", err)
			_, err = stmt.ExecContext(each[1])
			s.log("exec: %v", err)
			drain(s, func() (*sql.Rows, error) { return stmt.QueryContext(each[1]) })
			s.log("close: %v", stmt.Close())
		}
	}},
	{"statements in a transaction", func(s *server, db *sql.DB, ctx context.Context) {
		stmt, err := db.PrepareContext(ctx, "rows 1")
		s.log("got %v", err)
		tx, err := db.BeginTx(ctx, nil)
		s.log("begin: %v", err)
		again := tx.StmtContext(ctx, tx.StmtContext(ctx, stmt)) // the second takes what the first has prepared
		_, err = again.ExecContext(ctx)
		s.log("exec: %v", err)
		own, err := tx.PrepareContext(ctx, "rows 2")
		s.log("got %v", err)
		drain(s, func() (*sql.Rows, error) { return own.QueryContext(ctx) })
		s.log("commit: %v", tx.Commit())
		_, err = own.ExecContext(ctx)
		s.log("after the commit: %v", err)
		drain(s, func() (*sql.Rows, error) { return stmt.QueryContext(ctx) })
		s.log("close: %v", stmt.Close())
	}},
	{"two cursors in a transaction", func(s *server, db *sql.DB, ctx context.Context) {
		tx, err := db.BeginTx(ctx, nil)
		s.log("begin: %v", err)
		first, err := tx.QueryContext(ctx, "rows 2")
		s.log("got %v", err)
		second, err := tx.QueryContext(ctx, "rows 3")
		s.log("got %v", err)
		for first.Next() && second.Next() {
			var a, b any
			s.log("rows %v, %v, %v, %v", first.Scan(&a), second.Scan(&b), a, b)
		}
		s.log("commit: %v", tx.Commit()) // closes both
		s.log("rows: %v, %v; close: %v, %v", first.Err(), second.Err(), first.Close(), second.Close())
	}},
	{"cursor in a column", func(s *server, db *sql.DB, ctx context.Context) {
		rows, err := db.QueryContext(ctx, "cursor")
		if err != nil {
			s.log("got %v", err)
			return
		}
		for rows.Next() {
			var inner sql.Rows
			err := rows.Scan(&inner)
			s.log("scan: %v", err)
			if err == nil {
				readAll(s, &inner)
			}
		}
		s.log("rows: %v; close: %v", rows.Err(), rows.Close())
	}},
	{"transaction", func(s *server, db *sql.DB, ctx context.Context) {
		for _, o := range []*sql.TxOptions{nil, {}, {ReadOnly: true}, {Isolation: sql.LevelSerializable}} {
			tx, err := db.BeginTx(ctx, o)
			s.log("begin %+v: %v", o, err)
			if err != nil {
				continue
			}
			_, err = tx.ExecContext(ctx, "plain")
			s.log("exec: %v; commit: %v; again: %v; rollback: %v", err, tx.Commit(), tx.Commit(), tx.Rollback())
		}
		tx, err := db.BeginTx(ctx, nil)
		s.log("begin: %v; rollback: %v", err, tx.Rollback())
	}},
	{"transaction whose context ends", func(s *server, db *sql.DB, ctx context.Context) {
		ending, end := context.WithCancel(ctx)
		tx, err := db.BeginTx(ending, nil)
		s.log("begin: %v", err)
		end() // database/sql rolls back on a goroutine of its own
		awaitIdle(db)
		s.log("commit: %v; open: %d", tx.Commit(), db.Stats().OpenConnections)
		_, err = db.ExecContext(ctx, "plain")
		s.log("exec: %v", err)
	}},
	{"context ends in prepare and begin", func(s *server, db *sql.DB, ctx context.Context) {
		ending, end := context.WithCancel(ctx)
		s.onCall = end
		_, err := db.PrepareContext(ending, "plain")
		s.log("prepare: %v", err)
		ending, end = context.WithCancel(ctx)
		s.onCall = end
		_, err = db.BeginTx(ending, nil)
		awaitIdle(db) // database/sql may roll back beside us
		s.log("begin: %v", err)
		s.onCall = nil
		ending, end = context.WithCancel(ctx)
		stmt, err := db.PrepareContext(ctx, "hook")
		s.log("prepare: %v", err)
		s.onCall = end
		_, err = stmt.ExecContext(ending)
		s.log("exec: %v", err)
	}},
	{"bad connections", func(s *server, db *sql.DB, ctx context.Context) {
		for _, n := range []int{1, 2, 3} {
			s.bad = n
			_, err := db.ExecContext(ctx, "bad")
			s.log("exec: %v", err)
			s.bad = n
			drain(s, func() (*sql.Rows, error) { return db.QueryContext(ctx, "bad") })
			s.bad = n
			_, err = db.ExecContext(ctx, "wrapped-bad")
			s.log("exec: %v", err)
		}
		s.bad = 1
		tx, _ := db.BeginTx(ctx, nil)
		_, err := tx.ExecContext(ctx, "bad")
		s.log("exec: %v; commit: %v", err, tx.Commit())
	}},
	{"invalid connection", func(s *server, db *sql.DB, ctx context.Context) {
		s.invalid = true
		for range 2 {
			_, err := db.ExecContext(ctx, "plain")
			s.log("exec: %v; open: %d", err, db.Stats().OpenConnections)
		}
	}},
	{"failing reset", func(s *server, db *sql.DB, ctx context.Context) {
		for _, err := range []error{errFake, driver.ErrBadConn, fmt.Errorf("wrapped: %w", driver.ErrBadConn)} {
			s.reset = err
			_, err := db.ExecContext(ctx, "plain")
			s.log("exec: %v", err)
		}
	}},
	{"ping", func(s *server, db *sql.DB, ctx context.Context) { s.log("ping: %v", db.PingContext(ctx)) }},
	{"panic", func(s *server, db *sql.DB, ctx context.Context) {
		defer func() { s.log("recovered %v; open: %d", recover(), db.Stats().OpenConnections) }()
		db.ExecContext(ctx, "panic")
	}},
	{"driver", func(s *server, db *sql.DB, _ context.Context) { s.log("driver %T", db.Driver()) }},
}

// arguments are lists of arguments; each accepted by other checkers, or by none.
func arguments(s *server) [][]any {
	v := valuer{s}
	return [][]any{
		{int64(1), "text", nil}, {int32(2)}, {uint64(1)}, {uint64(1 << 63)}, {sql.NullString{String: "null", Valid: true}}, {[]byte("bytes")},
		{sql.Named("name", 3)}, {v}, {removed{}, 4}, {connOnly("x")}, {stmtOnly("x")}, {convertOnly("x")},
		{struct{ unsupported int }{}}, {connOnly("x"), stmtOnly("y"), v},
	}
}

// A valuer writes down how often it is asked for its value.
type valuer struct{ server *server }

func (v valuer) Value() (driver.Value, error) {
	v.server.log("valuer")
	return "value", nil
}

func (valuer) String() string { return "valuer" }

func drain(s *server, query func() (*sql.Rows, error)) {
	rows, err := query()
	if err != nil {
		s.log("query: %v", err)
		return
	}
	for rows.Next() {
	}
	s.log("rows: %v; close: %v", rows.Err(), rows.Close())
}

// readAll reads all there is to know of rows.
func readAll(s *server, rows *sql.Rows) {
	columns, err := rows.ColumnTypes()
	s.log("columns: %v", err)
	for _, c := range columns {
		length, hasLength := c.Length()
		nullable, hasNullable := c.Nullable()
		precision, scale, hasDecimal := c.DecimalSize()
		s.log("column %s %v %q %d %t %t %t %d %d %t", c.Name(), c.ScanType(), c.DatabaseTypeName(),
			length, hasLength, nullable, hasNullable, precision, scale, hasDecimal)
	}
	for {
		for rows.Next() {
			var n any
			s.log("row %v %v", n, rows.Scan(&n))
		}
		if !rows.NextResultSet() {
			break
		}
	}
	s.log("rows: %v; close: %v, %v", rows.Err(), rows.Close(), rows.Close())
}

// awaitIdle waits until no connection is in use: until what database/sql does
// on goroutines of its own is done.
func awaitIdle(db *sql.DB) {
	for db.Stats().InUse > 0 {
		runtime.Gosched()
	}
}

// play runs a scenario and returns the journal. open makes the database.
func play(sh shape, sc scenario, open func(*server) *sql.DB) []string {
	s := &server{shape: sh}
	db := open(s)
	db.SetMaxOpenConns(1)
	sc.run(s, db, marked{context.Background()})
	s.log("closed: %v", db.Close())
	return s.journal
}

func bare(s *server) *sql.DB { return sql.OpenDB(s) }

// TestFidelity plays every scenario against every kind of driver, bare and
// wrapped, and wants the same calls to reach the driver and the same results to
// reach the program.
func TestFidelity(t *testing.T) {
	p := sqlitetrace.New(sqlitetrace.Options{})
	wrapped := func(s *server) *sql.DB { return p.OpenDB(s) }
	for _, watched := range []bool{false, true} {
		if watched {
			w, err := p.Watch()
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
		}
		for _, connShape := range slices.Sorted(maps.Keys(connShapes)) {
			for _, stmtShape := range slices.Sorted(maps.Keys(stmtShapes)) {
				for _, rich := range []bool{false, true} {
					compare(t, shape{connShape, stmtShape, rich}, wrapped)
				}
			}
		}
	}
}

func compare(t *testing.T, sh shape, wrapped func(*server) *sql.DB) {
	for _, sc := range scenarios {
		if sh.richRows && sc.name != "query" {
			continue // no other scenario looks at more than Next and Close
		}
		want, got := play(sh, sc, bare), play(sh, sc, wrapped)
		if !slices.Equal(want, got) {
			t.Errorf("%+v %s (-bare +wrapped):\n%s", sh, sc.name, cmp.Diff(want, got))
		}
	}
}

// TestFidelityCanFail wraps unfaithfully, in the ways that other wrappers do,
// and wants the comparison to notice.
func TestFidelityCanFail(t *testing.T) {
	for _, tc := range []struct {
		name     string
		scenario string
		shape    shape
		wrap     func(*fakeConn) driver.Conn
	}{
		{"hides Validator", "transaction whose context ends", shape{conn: "EQRVPCBN"}, connShapes["EQRPCBN"]},
		{"adds Validator", "transaction whose context ends", shape{conn: "R"}, connShapes["RV"]},
		{"adds ExecerContext", "arguments", shape{conn: "", stmt: "N"}, connShapes["E"]},
		{"hides NamedValueChecker", "arguments", shape{conn: "N"}, connShapes[""]},
		{"hides Execer", "execute", shape{conn: "e"}, connShapes[""]},
	} {
		i := slices.IndexFunc(scenarios, func(s scenario) bool { return s.name == tc.scenario })
		want := play(tc.shape, scenarios[i], bare)
		got := play(tc.shape, scenarios[i], func(s *server) *sql.DB { return sql.OpenDB(unfaithful{s, tc.wrap}) })
		if slices.Equal(want, got) {
			t.Errorf("%s: got no difference, want one", tc.name)
		}
	}
}

type unfaithful struct {
	*server
	wrap func(*fakeConn) driver.Conn
}

func (u unfaithful) Connect(ctx context.Context) (driver.Conn, error) {
	if _, err := u.server.Connect(ctx); err != nil {
		return nil, err
	}
	return u.wrap(&fakeConn{u.server, u.conns}), nil
}
