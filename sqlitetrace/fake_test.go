package sqlitetrace_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// A server is a fake database that writes down every call that reaches it. What
// a statement does follows from its first word; see fakeConn.run. Which optional
// interfaces its connections, statements and rows have is chosen in its shape.
type server struct {
	shape shape

	mu      sync.Mutex
	journal []string
	conns   int
	bad     int    // how many executions of "bad" still fail with ErrBadConn
	invalid bool   // what IsValid denies
	reset   error  // of ResetSession
	onCall  func() // called in Prepare, Begin and "hook" statements
	quiet   bool   // no journal, for benchmarks

	// explain, if set, is what becomes of a look at a plan.
	explain func() error

	// rows, if set, makes the rows of queries.
	rows func(*fakeRows) driver.Rows
}

// A shape says which optional interfaces there are: see connShapes and
// stmtShapes for the letters.
type shape struct {
	conn, stmt string
	richRows   bool // all optional interfaces of Rows
}

func (s *server) log(format string, args ...any) {
	if s.quiet {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.journal = append(s.journal, fmt.Sprintf(format, args...))
}

func (s *server) called() {
	if s.onCall != nil {
		s.onCall()
	}
}

// Connect, Driver and Close make the server a driver.Connector.
func (s *server) Connect(ctx context.Context) (driver.Conn, error) {
	s.mu.Lock()
	s.conns++
	id := s.conns
	s.mu.Unlock()
	s.log("connect %d%s", id, of(ctx))
	c := &fakeConn{server: s, id: id}
	return connShapes[s.shape.conn](c), nil
}

func (s *server) Driver() driver.Driver { return fakeDriver{s} }

func (s *server) Close() error {
	s.log("close connector")
	return nil
}

// A fakeDriver has no DriverContext, a fakeContextDriver has one.
type fakeDriver struct{ server *server }

func (d fakeDriver) Open(dsn string) (driver.Conn, error) {
	d.server.log("open %q", dsn)
	return d.server.Connect(context.Background())
}

type fakeContextDriver struct{ fakeDriver }

func (d fakeContextDriver) OpenConnector(dsn string) (driver.Connector, error) {
	d.server.log("open connector %q", dsn)
	if dsn == "" {
		return nil, errors.New("fake: no dsn")
	}
	return fakeConnector{d.server, d}, nil
}

type fakeConnector struct {
	*server
	driver driver.Driver
}

func (c fakeConnector) Driver() driver.Driver { return c.driver }

// A marked context is one that a driver recognises by its type.
type marked struct{ context.Context }

// of says whether ctx is the caller's own, unchanged.
func of(ctx context.Context) string {
	if _, ok := ctx.(marked); ok {
		return " with the caller's context"
	}
	return ""
}

// A fakeConn has all the methods that a connection may have; connShapes hides
// some.
type fakeConn struct {
	server *server
	id     int
}

func (c *fakeConn) log(format string, args ...any) {
	if !c.server.quiet {
		c.server.log("%d: %s", c.id, fmt.Sprintf(format, args...))
	}
}

var errFake = errors.New("fake: failed")

// A codeError is an error with one of SQLite's result codes.
type codeError int

func (e codeError) Error() string { return fmt.Sprintf("fake: code %d", int(e)) }
func (e codeError) Code() int     { return int(e) }

// run is what a statement does. direct is a call without a prepared statement.
func (c *fakeConn) run(query string, direct bool) error {
	word, _, _ := strings.Cut(query, " ")
	switch word {
	case "skip":
		if direct {
			return driver.ErrSkip
		}
	case "skips":
		return driver.ErrSkip
	case "wrapped-skip":
		return fmt.Errorf("wrapped: %w", driver.ErrSkip)
	case "bad", "wrapped-bad":
		if c.server.bad > 0 {
			c.server.bad--
			return badConn[word]
		}
	case "fail":
		return errFake
	case "busy":
		return fmt.Errorf("wrapped: %w", codeError(5))
	case "panic":
		panic("fake: panic")
	case "hook":
		c.server.called()
	case "EXPLAIN":
		if c.server.explain != nil {
			return c.server.explain()
		}
	}
	return nil
}

var badConn = map[string]error{"bad": driver.ErrBadConn, "wrapped-bad": fmt.Errorf("wrapped: %w", driver.ErrBadConn)}

// named writes arguments down.
func named(args []driver.NamedValue) string {
	var b strings.Builder
	for _, a := range args {
		fmt.Fprintf(&b, " %s#%d=", a.Name, a.Ordinal)
		b.WriteString(values([]driver.Value{a.Value}))
	}
	return b.String()
}

// values writes legacy arguments down, and serves an out parameter.
func values(args []driver.Value) string {
	var b strings.Builder
	for _, a := range args {
		if out, ok := a.(sql.Out); ok {
			*out.Dest.(*string) = "out"
			a = "(an out parameter)"
		}
		fmt.Fprintf(&b, " %T(%v)", a, a)
	}
	return b.String()
}

func (c *fakeConn) execute(what, query string, direct bool) (driver.Result, error) {
	c.log("%s %q", what, query)
	if err := c.run(query, direct); err != nil {
		return nil, err
	}
	switch query {
	case "INSERT unknown":
		return driver.ResultNoRows, nil
	case "INSERT panics":
		return (*brokenResult)(nil), nil
	case "INSERT nothing":
		return nil, nil
	}
	return driver.RowsAffected(3), nil
}

// A brokenResult panics when it is asked, if it is nil.
type brokenResult struct{ n int64 }

func (r *brokenResult) LastInsertId() (int64, error) { return r.n, nil }
func (r *brokenResult) RowsAffected() (int64, error) { return r.n, nil }

func (c *fakeConn) rows(what, query string, direct bool) (driver.Rows, error) {
	c.log("%s %q", what, query)
	if err := c.run(query, direct); err != nil {
		return nil, err
	}
	r := &fakeRows{conn: c, query: query, left: 2}
	if n, ok := strings.CutPrefix(query, "rows "); ok {
		r.left, _ = strconv.Atoi(n)
	}
	switch {
	case c.server.rows != nil:
		return c.server.rows(r), nil
	case c.server.shape.richRows:
		return richRows{r}, nil
	}
	return r, nil
}

func (c *fakeConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if c.server.quiet {
		return c.execute("", query, true)
	}
	return c.execute("exec"+of(ctx)+named(args), query, true)
}

func (c *fakeConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if c.server.quiet {
		return c.rows("", query, true)
	}
	return c.rows("query"+of(ctx)+named(args), query, true)
}

func (c *fakeConn) Exec(query string, args []driver.Value) (driver.Result, error) {
	return c.execute("legacy exec"+values(args), query, true)
}

func (c *fakeConn) Query(query string, args []driver.Value) (driver.Rows, error) {
	return c.rows("legacy query"+values(args), query, true)
}

func (c *fakeConn) ResetSession(ctx context.Context) error {
	c.log("reset%s", of(ctx))
	return c.server.reset
}

func (c *fakeConn) IsValid() bool {
	c.log("valid?")
	return !c.server.invalid
}

func (c *fakeConn) Ping(ctx context.Context) error {
	c.log("ping%s", of(ctx))
	return errFake
}

func (c *fakeConn) Prepare(query string) (driver.Stmt, error) {
	c.log("prepare %q", query)
	c.server.called()
	return stmtShapes[c.server.shape.stmt](&fakeStmt{c, query}), nil
}

func (c *fakeConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	c.log("prepare%s", of(ctx))
	return c.Prepare(query)
}

func (c *fakeConn) Begin() (driver.Tx, error) {
	c.log("begin")
	c.server.called()
	return fakeTx{c}, nil
}

func (c *fakeConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	c.log("begin%s %+v", of(ctx), o)
	c.server.called()
	return fakeTx{c}, nil
}

func (c *fakeConn) Close() error {
	c.log("close")
	return nil
}

// Types of arguments that only one of the checkers accepts.
type (
	connOnly    string
	stmtOnly    string
	convertOnly string
	removed     struct{}
)

func (c *fakeConn) CheckNamedValue(nv *driver.NamedValue) error {
	return c.check(nv, "conn", reflect.TypeFor[connOnly]())
}

func (c *fakeConn) check(nv *driver.NamedValue, who string, accepts reflect.Type) error {
	c.log("%s checks %T", who, nv.Value)
	switch nv.Value.(type) {
	case removed:
		return driver.ErrRemoveArgument
	case sql.Out:
		return nil
	}
	if reflect.TypeOf(nv.Value) == accepts {
		nv.Value = who + " accepted " + reflect.ValueOf(nv.Value).String()
		return nil
	}
	return driver.ErrSkip
}

type fakeTx struct{ conn *fakeConn }

func (t fakeTx) Commit() error {
	t.conn.log("commit")
	return nil
}

func (t fakeTx) Rollback() error {
	t.conn.log("rollback")
	return errFake
}

// A fakeStmt has all the methods that a statement may have.
type fakeStmt struct {
	conn  *fakeConn
	query string
}

func (s *fakeStmt) Close() error {
	s.conn.log("close stmt")
	return nil
}

func (s *fakeStmt) NumInput() int { return -1 }

func (s *fakeStmt) Exec(args []driver.Value) (driver.Result, error) {
	return s.conn.execute("legacy stmt exec"+values(args), s.query, false)
}

func (s *fakeStmt) Query(args []driver.Value) (driver.Rows, error) {
	return s.conn.rows("legacy stmt query"+values(args), s.query, false)
}

func (s *fakeStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return s.conn.execute("stmt exec"+of(ctx)+named(args), s.query, false)
}

func (s *fakeStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return s.conn.rows("stmt query"+of(ctx)+named(args), s.query, false)
}

func (s *fakeStmt) CheckNamedValue(nv *driver.NamedValue) error {
	return s.conn.check(nv, "stmt", reflect.TypeFor[stmtOnly]())
}

func (s *fakeStmt) ColumnConverter(i int) driver.ValueConverter { return converter{s.conn, i} }

type converter struct {
	conn  *fakeConn
	index int
}

func (c converter) ConvertValue(v any) (driver.Value, error) {
	c.conn.log("converter %d converts %T", c.index, v)
	if s, ok := v.(convertOnly); ok {
		return "converted " + string(s), nil
	}
	return driver.DefaultParameterConverter.ConvertValue(v)
}
