package pgx

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/tidestaff/tidestaff/internal/e2e/sqlsuite"
	"github.com/tidestaff/tidestaff/sqlitetrace"
)

const name = "pgx"

// registered numbers the names that are registered, which last as long as the
// process.
var registered atomic.Int64

// options are those of every probe here.
var options = sqlitetrace.Options{System: "postgresql"}

// ways are all ways to wrap the driver.
func ways(p *sqlitetrace.Probe) map[string]sqlsuite.Open {
	traced := fmt.Sprint("pgx-traced-", registered.Add(1))
	sql.Register(traced, p.Driver(stdlib.GetDefaultDriver()))
	return map[string]sqlsuite.Open{
		"Open":   func(dsn string) (*sql.DB, error) { return p.Open(name, dsn) },
		"Driver": func(dsn string) (*sql.DB, error) { return sql.Open(traced, dsn) },
		"OpenDB": func(dsn string) (*sql.DB, error) {
			config, err := pgx.ParseConfig(dsn)
			if err != nil {
				return nil, err
			}
			return p.OpenDB(stdlib.GetConnector(*config)), nil
		},
	}
}

func bare(dsn string) (*sql.DB, error) { return sql.Open(name, dsn) }

// one opens a database of one connection through the probe, in a schema of its own.
func one(t *testing.T, p *sqlitetrace.Probe) *sql.DB {
	t.Helper()
	return sqlsuite.OpenOne(t, func(dsn string) (*sql.DB, error) { return p.Open(name, dsn) }, schema(t))
}

// TestSuite plays every scenario bare and wrapped in every way, each in a schema
// of its own, and wants equal transcripts.
func TestSuite(t *testing.T) {
	needServer(t)
	p, closed := sqlsuite.Watch(t, options)
	for _, sc := range slices.Concat(sqlsuite.Shared, scenarios) {
		t.Run(sc.Name, func(t *testing.T) {
			want := play(t, sc, bare)
			if len(want) < 3 {
				t.Fatalf("the bare driver's transcript has %d lines: the scenario sees nothing", len(want))
			}
			for way, open := range ways(p) {
				if diff := cmp.Diff(want, play(t, sc, open)); diff != "" {
					t.Errorf("%s: transcript (-bare +wrapped):\n%s", way, diff)
				}
			}
		})
	}
	r := closed()
	if n := sqlsuite.Total(r, "tidestaff.db.queries"); n == 0 {
		t.Error("no query was counted")
	}
	if n := sqlsuite.Total(r, "tidestaff.db.cursor.active"); n != 0 {
		t.Errorf("active cursors: got %v, want 0", n)
	}
}

// TestDriver wants the very driver that is registered.
func TestDriver(t *testing.T) { sqlsuite.SameDriver(t, name) }

// TestEndings ends transactions and queries by their context.
func TestEndings(t *testing.T) {
	needServer(t)
	t.Run("transaction", func(t *testing.T) { sqlsuite.CanceledTx(t, options, one) })
	t.Run("rows", func(t *testing.T) {
		sqlsuite.CanceledRows(t, options, one, "SELECT generate_series(1, 100000000)")
	})
}

// TestNumbers wants what the wrapper counted, exactly.
func TestNumbers(t *testing.T) {
	p, closed := sqlsuite.Watch(t, options)
	db := one(t, p)
	const lists, all = 3, 20_000
	for range lists {
		rows, err := db.QueryContext(sqlsuite.As("list"), "SELECT i, 'name ' || i FROM generate_series(1, $1) i", all)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
		}
		rows.Close()
	}
	sqlsuite.Must(t, db, "CREATE TABLE item (id bigserial, name text)")
	var id int64
	if err := db.QueryRowContext(sqlsuite.As("insert"), "INSERT INTO item (name) VALUES ($1) RETURNING id", "new").Scan(&id); err != nil {
		t.Error(err)
	}
	r := closed()
	want := map[string]float64{"list": lists * all, "insert": 1}
	if diff := cmp.Diff(want, sqlsuite.Sum(r, "db.client.response.returned_rows")); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	want = map[string]float64{"setup": 1, "list": lists, "insert": 1}
	if diff := cmp.Diff(want, sqlsuite.Sum(r, "tidestaff.db.queries")); diff != "" {
		t.Errorf("queries (-want +got):\n%s", diff)
	}
}

// TestClasses wants failures under the names that their SQLSTATE or their
// context gives them.
func TestClasses(t *testing.T) {
	p, closed := sqlsuite.Watch(t, options)
	dsn := schema(t)
	open := func(dsn string) (*sql.DB, error) { return p.Open(name, dsn) }
	db, other := sqlsuite.OpenOne(t, open, dsn), sqlsuite.OpenOne(t, open, dsn)
	sqlsuite.Must(t, db, "CREATE TABLE item (name text UNIQUE)")
	sqlsuite.Must(t, db, "INSERT INTO item VALUES ('a')")

	db.ExecContext(sqlsuite.As("constraint"), "INSERT INTO item VALUES ($1)", "a")
	db.ExecContext(sqlsuite.As("other"), "INSERT INTO nothing VALUES (1)")

	tx, err := db.BeginTx(sqlsuite.As("setup"), nil)
	if err != nil {
		t.Fatal(err)
	}
	sqlsuite.Must(t, tx, "LOCK TABLE item")
	blocked, err := other.BeginTx(sqlsuite.As("setup"), nil)
	if err != nil {
		t.Fatal(err)
	}
	blocked.ExecContext(sqlsuite.As("locked"), "LOCK TABLE item NOWAIT")
	blocked.Rollback()
	sqlsuite.Must(t, other, "SET lock_timeout = '10ms'")
	other.ExecContext(sqlsuite.As("locked, after a wait"), "INSERT INTO item VALUES ('b')")
	tx.Rollback()

	for method, with := range map[string]error{"deadline": context.DeadlineExceeded, "canceled": context.Canceled} {
		ctx, returned := sqlsuite.Interrupted(p, method, with)
		db.ExecContext(ctx, "SELECT pg_sleep(600)")
		returned()
		sqlsuite.Must(t, db, "SELECT 1") // on a new connection: the driver gives up the one that was interrupted
	}
	sqlsuite.Must(t, db, "SET statement_timeout = '10ms'")
	db.ExecContext(sqlsuite.As("canceled by the server"), "SELECT pg_sleep(600)")

	if tx, err = other.BeginTx(sqlsuite.As("setup"), nil); err != nil {
		t.Fatal(err)
	}
	tx.ExecContext(sqlsuite.As("terminated"), "SELECT pg_terminate_backend(pg_backend_pid())")
	tx.ExecContext(sqlsuite.As("bad_conn"), "SELECT 1")
	tx.Rollback()

	got := sqlsuite.Errors(closed())
	delete(got, "setup") // the rollback of the terminated transaction
	want := map[string]string{"constraint": "constraint 1", "other": "other 1", "locked": "locked 1",
		"locked, after a wait": "locked 1", "deadline": "deadline 1", "canceled": "canceled 1",
		"canceled by the server": "canceled 1", "terminated": "other 1", "bad_conn": "bad_conn 1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("errors by method (-want +got):\n%s", diff)
	}
}

// TestRaw uses what only the driver's own connection can do: COPY.
func TestRaw(t *testing.T) {
	p, _ := sqlsuite.Watch(t, options)
	for way, open := range ways(p) {
		db := sqlsuite.OpenOne(t, open, schema(t))
		sqlsuite.Must(t, db, "CREATE TABLE item (n bigint)")
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		err = conn.Raw(func(c any) error {
			own, ok := c.(interface{ Unwrap() driver.Conn }).Unwrap().(*stdlib.Conn)
			if !ok {
				return fmt.Errorf("got a %T around something else", c)
			}
			n, err := own.Conn().CopyFrom(t.Context(), pgx.Identifier{"item"}, []string{"n"},
				pgx.CopyFromRows([][]any{{int64(1)}, {int64(2)}}))
			if n != 2 {
				return fmt.Errorf("copied %d rows: %w", n, err)
			}
			return err
		})
		if err != nil {
			t.Errorf("%s: %v", way, err)
		}
		conn.Close()
		var sum int
		if err := db.QueryRow("SELECT sum(n) FROM item").Scan(&sum); err != nil || sum != 3 {
			t.Errorf("%s: sum: got %d, %v, want 3", way, sum, err)
		}
	}
}

// TestArrays passes slices as arguments, which only the connection's own
// NamedValueChecker lets through, also to a prepared statement, whose wrapper
// has a checker of its own; and scans them as the driver's type map does. From
// Go 1.27 on the driver's rows scan into slices by themselves.
func TestArrays(t *testing.T) {
	p, _ := sqlsuite.Watch(t, options)
	opens := ways(p)
	opens["bare"] = bare
	for way, open := range opens {
		db := sqlsuite.OpenOne(t, open, schema(t))
		ids, names := []int64{3, 1, 1 << 40}, []string{"a", `b "c", {d}`}
		const query = "SELECT $1::bigint[], $2::text[]"
		stmt, err := db.Prepare(query)
		if err != nil {
			t.Fatal(err)
		}
		for kind, query := range map[string]func(...any) *sql.Row{
			"query":    func(args ...any) *sql.Row { return db.QueryRow(query, args...) },
			"prepared": stmt.QueryRow,
		} {
			var gotIDs []int64
			var gotNames []string
			row := query(ids, names)
			if scansColumns {
				err = row.Scan(&gotIDs, &gotNames)
			} else {
				m := pgtype.NewMap()
				err = row.Scan(m.SQLScanner(&gotIDs), m.SQLScanner(&gotNames))
			}
			if err != nil || !slices.Equal(gotIDs, ids) || !slices.Equal(gotNames, names) {
				t.Errorf("%s: %s: got %v, %q, %v", way, kind, gotIDs, gotNames, err)
			}
		}
		stmt.Close()
	}
}

// TestReset wants the driver's SessionResetter to be asked as often as bare, and
// its answer to be heeded: a connection that it refuses is not used again.
func TestReset(t *testing.T) {
	dsn := schema(t)
	run := func(wrap func(driver.Connector) *sql.DB) (asked, connections int) {
		config, err := pgx.ParseConfig(dsn)
		if err != nil {
			t.Fatal(err)
		}
		db := wrap(stdlib.GetConnector(*config, stdlib.OptionResetSession(func(context.Context, *pgx.Conn) error {
			if asked++; asked%3 == 0 {
				return driver.ErrBadConn
			}
			return nil
		})))
		defer db.Close()
		db.SetMaxOpenConns(1)
		pids := map[int]bool{}
		for range 10 {
			var pid int
			if err := db.QueryRow("SELECT pg_backend_pid()").Scan(&pid); err != nil {
				t.Fatal(err)
			}
			pids[pid] = true
		}
		return asked, len(pids)
	}
	p, _ := sqlsuite.Watch(t, options)
	wantAsked, wantConns := run(sql.OpenDB)
	asked, conns := run(p.OpenDB)
	if wantAsked < 9 || wantConns < 3 {
		t.Fatalf("bare: asked %d times, %d connections: the test sees nothing", wantAsked, wantConns)
	}
	if asked != wantAsked || conns != wantConns {
		t.Errorf("got %d resets, %d connections, bare %d, %d", asked, conns, wantAsked, wantConns)
	}
}

// TestDiscarded ends a transaction by its context. The driver has a
// SessionResetter and no Validator, so database/sql discards the connection; a
// wrapper that adds a Validator puts it back into the pool.
func TestDiscarded(t *testing.T) {
	p, _ := sqlsuite.Watch(t, options)
	opens := ways(p)
	opens["bare"] = bare
	for way, open := range opens {
		db := sqlsuite.OpenOne(t, open, schema(t))
		ctx, cancel := context.WithCancel(t.Context())
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		sqlsuite.Must(t, tx, "CREATE TABLE item (name text)")
		cancel()
		sqlsuite.AwaitIdle(db)
		if n := db.Stats().OpenConnections; n != 0 {
			t.Errorf("%s: %d connections after the transaction, want it discarded", way, n)
		}
		sqlsuite.Must(t, db, "CREATE TABLE item (name text)") // the other one is rolled back
	}
}
