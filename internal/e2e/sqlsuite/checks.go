package sqlsuite

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// As is a context whose executions belong to a method.
func As(method string) context.Context {
	return probe.WithMethod(probe.WithRole(context.Background(), "request"), method)
}

// Must executes what a test has to have done before it looks at anything.
func Must(t *testing.T, on Target, query string, args ...any) {
	t.Helper()
	if _, err := on.ExecContext(As("setup"), query, args...); err != nil {
		t.Fatal(err)
	}
}

// OpenOne opens a database of one connection.
func OpenOne(t *testing.T, open Open, dsn string) *sql.DB {
	t.Helper()
	db, err := open(dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	return db
}

// Watch watches a new probe until the test calls the function that it returns.
func Watch(t *testing.T, o sqlitetrace.Options) (*sqlitetrace.Probe, func() *probe.Reading) {
	t.Helper()
	p := sqlitetrace.New(o)
	w, err := p.Watch()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return p, w.Close
}

// Both runs a check on the bare driver and on the wrapped one, each with a
// folder of its own.
func Both(t *testing.T, driverName string, check func(t *testing.T, open Open)) {
	t.Run("bare", func(t *testing.T) {
		check(t, func(dsn string) (*sql.DB, error) { return sql.Open(driverName, dsn) })
	})
	t.Run("wrapped", func(t *testing.T) {
		p, closed := Watch(t, sqlitetrace.Options{})
		check(t, func(dsn string) (*sql.DB, error) { return p.Open(driverName, dsn) })
		checkCounted(t, closed())
	})
}

// Sum adds up a metric by method: the value of a counter, the sum of a
// distribution.
func Sum(r *probe.Reading, name string) map[string]float64 {
	got := map[string]float64{}
	for m := range r.Find(name) {
		got[m.Attr(probe.AttrMethod)] += m.Value
	}
	return got
}

// Total adds up a metric over all methods.
func Total(r *probe.Reading, name string) (n float64) {
	for m := range r.Find(name) {
		n += m.Value
	}
	return n
}

// Operations counts operations by method.
func Operations(r *probe.Reading) map[string]uint64 {
	got := map[string]uint64{}
	for m := range r.Find("db.client.operation.duration") {
		got[m.Attr(probe.AttrMethod)] += m.Dist.Count()
	}
	return got
}

// Errors lists the classes of failures with their number, by method.
func Errors(r *probe.Reading) map[string]string {
	got := map[string]string{}
	for m := range r.Find("tidestaff.db.errors") {
		if m.Value != 0 {
			got[m.Attr(probe.AttrMethod)] += fmt.Sprint(m.Attr("error.type"), " ", m.Value)
		}
	}
	return got
}

// Numbers wants what the wrapper counted on a real database, exactly.
func Numbers(t *testing.T, driverName string) {
	p, closed := Watch(t, sqlitetrace.Options{})
	open := func(dsn string) (*sql.DB, error) { return p.Open(driverName, dsn) }
	db := OpenOne(t, open, filepath.Join(t.TempDir(), "app.db"))
	Must(t, db, "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT)")
	Must(t, db, "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000) INSERT INTO item SELECT i, 'name ' || i FROM n")
	const lists = 3
	var phases [lists]map[string]float64
	for i := range phases {
		w, err := p.Watch()
		if err != nil {
			t.Fatal(err)
		}
		rows, err := db.QueryContext(As("list"), "SELECT id, name FROM item")
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
		}
		rows.Close()
		phases[i] = map[string]float64{}
		for m := range w.Close().Find("tidestaff.db.query.time") {
			phases[i][m.Attr(sqlitetrace.AttrPhase)] = m.Value
		}
	}
	var id int
	if err := db.QueryRowContext(As("insert"), "INSERT INTO item (name) VALUES (?) RETURNING id", "new").Scan(&id); err != nil {
		t.Error(err)
	}
	r := closed()
	want := map[string]float64{"list": lists * 20_000, "insert": 1}
	if diff := cmp.Diff(want, Sum(r, "db.client.response.returned_rows")); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	want = map[string]float64{"setup": 2, "list": lists, "insert": 1}
	if diff := cmp.Diff(want, Sum(r, "tidestaff.db.queries")); diff != "" {
		t.Errorf("queries (-want +got):\n%s", diff)
	}
	// In any of them the machine may have been busy with others during the call.
	if !slices.ContainsFunc(phases[:], func(p map[string]float64) bool { return p["step"] > p["call"] }) {
		t.Errorf("the listings' times: got %v, want most in the steps", phases)
	}
}

// Classes wants SQLite's own failures under their names, but for the classes in
// except.
func Classes(t *testing.T, driverName string, except ...string) {
	p, closed := Watch(t, sqlitetrace.Options{})
	open := func(dsn string) (*sql.DB, error) { return p.Open(driverName, dsn) }
	path := filepath.Join(t.TempDir(), "app.db")
	db, other := OpenOne(t, open, path), OpenOne(t, open, path)
	Must(t, db, "PRAGMA journal_mode = WAL")
	Must(t, db, "PRAGMA busy_timeout = 0")
	Must(t, other, "PRAGMA busy_timeout = 0")
	Must(t, db, "CREATE TABLE item (name TEXT UNIQUE)")
	Must(t, db, "INSERT INTO item VALUES ('a')")

	db.ExecContext(As("constraint"), "INSERT INTO item VALUES ('a')")
	db.ExecContext(As("constraint, with an argument"), "INSERT INTO item VALUES (?)", "a")
	db.ExecContext(As("other"), "INSERT INTO nothing VALUES ('a')")
	failByLocks(t, db, other)
	failByContext(t, p, db)

	want := map[string]string{"constraint": "constraint 1", "constraint, with an argument": "constraint 1", "other": "other 1",
		"busy": "busy 1", "busy_snapshot": "busy_snapshot 1", "locked": "locked 1", "deadline": "deadline 1", "canceled": "canceled 1"}
	got := Errors(closed())
	for _, class := range except {
		delete(want, class)
		delete(got, class)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("errors by method (-want +got):\n%s", diff)
	}
}

// failByLocks runs into the write lock of another connection, into a snapshot
// that is too old to write (a plain BEGIN, since ncruces begins transactions
// with the write lock), and into the connection's own open cursor.
func failByLocks(t *testing.T, db, other *sql.DB) {
	Must(t, db, "BEGIN IMMEDIATE")
	other.ExecContext(As("busy"), "INSERT INTO item VALUES ('b')")
	Must(t, db, "COMMIT")

	Must(t, other, "BEGIN")
	var n int
	if err := other.QueryRowContext(As("setup"), "SELECT count(*) FROM item").Scan(&n); err != nil {
		t.Fatal(err)
	}
	Must(t, db, "INSERT INTO item VALUES ('c')")
	other.ExecContext(As("busy_snapshot"), "INSERT INTO item VALUES ('d')")
	Must(t, other, "ROLLBACK")

	conn, err := db.Conn(As("setup"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	rows, err := conn.QueryContext(As("setup"), "SELECT name FROM item")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	if !rows.Next() {
		t.Fatal(rows.Err())
	}
	conn.ExecContext(As("locked"), "DROP TABLE item")
}

// Soon is how long a statement has run when its context ends: long enough for the
// driver to have begun with it.
const Soon = 100 * time.Millisecond

// Interrupted is a context of a method's that ends with an error when one of its
// statements has run for a while, however long it takes to begin. The function is
// to be called after the statement.
func Interrupted(p *sqlitetrace.Probe, method string, with error) (context.Context, func()) {
	ctx := &interrupted{Context: As(method), done: make(chan struct{}), err: with}
	returned := make(chan struct{})
	var looking sync.WaitGroup
	looking.Go(func() {
		for runs := running(p, method, Soon); !runs(); {
			select {
			case <-returned:
				return
			case <-time.After(time.Millisecond):
			}
		}
		close(ctx.done)
	})
	return ctx, func() {
		close(returned)
		looking.Wait()
	}
}

// An interrupted is a context that ends when done is closed.
type interrupted struct {
	context.Context
	done chan struct{}
	err  error
}

func (c *interrupted) Done() <-chan struct{} { return c.done }

func (c *interrupted) Err() error {
	select {
	case <-c.done:
		return c.err
	default:
		return nil
	}
}

// failByContext stops a query by a deadline and by a cancelation.
func failByContext(t *testing.T, p *sqlitetrace.Probe, db *sql.DB) {
	for method, with := range map[string]error{"deadline": context.DeadlineExceeded, "canceled": context.Canceled} {
		ctx, returned := Interrupted(p, method, with)
		var n int
		db.QueryRowContext(ctx, endless).Scan(&n)
		returned()
		Must(t, db, "SELECT 1") // on a new connection, if the driver gave up the last one
	}
}

// MemoryAfterCancel makes a table in a database in memory, ends a transaction by
// its context, and tells whether the table is still there: it is where the
// driver says that the connection is still good.
func MemoryAfterCancel(t *testing.T, open Open) error {
	db := OpenOne(t, open, ":memory:")
	Must(t, db, "CREATE TABLE item (name TEXT)")
	ctx, cancel := context.WithCancel(As("mover"))
	defer cancel()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	Must(t, tx, "INSERT INTO item VALUES ('gone')")
	cancel()
	AwaitIdle(db)
	_, err = db.ExecContext(As("setup"), "INSERT INTO item VALUES ('after')")
	return err
}

// SameDriver wants (*sql.DB).Driver of a wrapped database to be what it is of a
// bare one: programs switch on it to learn the dialect.
func SameDriver(t *testing.T, driverName string) {
	bare, err := sql.Open(driverName, "")
	if err != nil {
		t.Fatal(err)
	}
	defer bare.Close()
	p := sqlitetrace.New(sqlitetrace.Options{})
	wrapped, err := p.Open(driverName, "")
	if err != nil {
		t.Fatal(err)
	}
	defer wrapped.Close()
	if bare.Driver() != wrapped.Driver() {
		t.Errorf("driver: got %T %[1]p, bare %T %[2]p", wrapped.Driver(), bare.Driver())
	}
}
