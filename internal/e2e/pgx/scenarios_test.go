package pgx

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tidestaff/tidestaff/internal/e2e/sqlsuite"
)

// A session is a database and the transcript of its use.
type session struct {
	sqlsuite.Transcript
	t         *testing.T
	db, other *sql.DB
}

// play runs a scenario in a new schema and returns the transcript.
func play(t *testing.T, run func(*session), open sqlsuite.Open) []string {
	t.Helper()
	dsn := schema(t)
	s := &session{t: t, db: sqlsuite.OpenOne(t, open, dsn), other: sqlsuite.OpenOne(t, open, dsn)}
	s.Exec(s.db, "CREATE TABLE item (id bigserial PRIMARY KEY, name text UNIQUE NOT NULL, size float8, price numeric(10, 2), data bytea, made timestamptz, done boolean, code varchar(9))")
	run(s)
	s.Log("closed: %v, %v", s.db.Close(), s.other.Close())
	return s.Lines
}

var scenarios = []struct {
	name string
	run  func(*session)
}{
	{"values", values},
	{"slices", slicesIntoAny},
	{"prepared", prepared},
	{"transactions", transactions},
	{"failures", failures},
	{"canceled", canceled},
	{"locks", locks},
	{"connection", connection},
}

// values puts all kinds of arguments in and reads them back.
func values(s *session) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	const insert = "INSERT INTO item (name, size, price, data, made, done, code) VALUES ($1, $2, $3, $4, $5, $6, $7)"
	s.Exec(s.db, insert, "a", 1.5, "12.30", []byte{1, 2}, at, true, "x")
	s.Exec(s.db, insert, "b", nil, nil, nil, nil, nil, nil)
	s.Exec(s.db, insert, sql.NullString{String: "c", Valid: true}, int32(7), 3, []byte{}, sql.NullTime{}, sql.NullBool{}, "y")
	s.Exec(s.db, insert, "d", float32(1), int8(1), []byte("z"), at.In(time.FixedZone("x", 3600)), false, new("z"))
	s.Exec(s.db, insert, struct{}{}, 1, 1, nil, nil, nil, nil)
	s.Exec(s.db, insert, "too few")
	s.Exec(s.db, insert, "e", "no number", 1, nil, nil, nil, nil)
	s.Exec(s.db, "INSERT INTO item (name) VALUES (@name)", pgx.NamedArgs{"name": "named"})
	s.Exec(s.db, "INSERT INTO item (name) VALUES ($1)", sql.Named("name", "f"))
	s.Query(s.db, "SELECT id, name, size, price, data, made AT TIME ZONE 'UTC', done, code FROM item ORDER BY id")
	s.Query(s.db, "SELECT count(*), sum(size), max(name) FROM item WHERE size > $1", 1)
	s.Query(s.db, "SELECT 1; SELECT 2, 3")
	s.Query(s.db, "SELECT")
	s.Exec(s.db, "UPDATE item SET size = size + 1")
	s.Exec(s.db, "UPDATE item SET size = size + 1; DELETE FROM item WHERE name = 'a'")
	s.Query(s.db, "INSERT INTO item (name) VALUES ('r1'), ('r2') RETURNING name")
}

// slicesIntoAny passes and reads arrays and JSON, and scans them where that
// works and where it does not, which depends on the Go release.
func slicesIntoAny(s *session) {
	s.Query(s.db, "SELECT $1::bigint[], $2::text[], $3::jsonb, '{{1,2},{3,4}}'::int[]", []int64{1, 2}, []string{"a", "b,c"}, map[string]int{"x": 1})
	s.Query(s.db, "SELECT $1::int[]", []int32(nil))
	s.Query(s.db, "SELECT i FROM unnest($1::bigint[]) i", []int64{5, 6})
	var ids []int64
	err := s.db.QueryRow("SELECT $1::bigint[]", []int64{7, 8}).Scan(&ids)
	s.Log("into a slice: %v, %v", ids, err)
	var wrong int
	err = s.db.QueryRow("SELECT $1::bigint[]", []int64{7, 8}).Scan(&wrong)
	s.Log("into an int: %v, %v", wrong, err)
	var raw sql.RawBytes
	rows, err := s.db.Query("SELECT 'bytes'::bytea, 1")
	s.Log("query: %v", err)
	for rows.Next() {
		s.Log("too few: %v", rows.Scan(&raw))
		s.Log("raw: %v, %q, %d", rows.Scan(&raw, &wrong), raw, wrong)
	}
	s.Log("rows: %v; close: %v", rows.Err(), rows.Close())
}

// prepared uses a statement several times, and in a transaction.
func prepared(s *session) {
	ctx := context.Background()
	stmt, err := s.db.PrepareContext(ctx, "INSERT INTO item (name, size) VALUES ($1, $2)")
	s.Log("prepare: %v", err)
	for _, args := range [][]any{{"a", 1}, {sql.NullString{String: "b", Valid: true}, int32(2)}, {"a", 3}, {"c"}} {
		res, err := stmt.ExecContext(ctx, args...)
		s.Result("insert", res, err)
	}
	tx, err := s.db.BeginTx(ctx, nil)
	s.Log("begin: %v", err)
	res, err := tx.StmtContext(ctx, stmt).ExecContext(ctx, "d", 4)
	s.Result("insert", res, err)
	s.Log("commit: %v; close: %v", tx.Commit(), stmt.Close())
	stmt, err = s.db.PrepareContext(ctx, "SELECT name, size FROM item WHERE size = any($1) ORDER BY id")
	s.Log("prepare: %v", err)
	for _, arg := range []any{[]float64{1, 2}, []float64{}, nil, "x"} {
		rows, err := stmt.QueryContext(ctx, arg)
		s.Rows("select", rows, err)
	}
	s.Log("close: %v", stmt.Close())
	_, err = s.db.PrepareContext(ctx, "SELECT nothing")
	s.Log("prepare: %v", err)
}

// transactions commits, rolls back, and asks for isolation levels.
func transactions(s *session) {
	ctx := context.Background()
	for _, o := range []*sql.TxOptions{nil, {}, {ReadOnly: true}, {Isolation: sql.LevelSerializable}, {Isolation: sql.LevelSnapshot}, {Isolation: sql.LevelLinearizable}} {
		tx, err := s.db.BeginTx(ctx, o)
		s.Log("begin %+v: %v", o, err)
		if err != nil {
			continue
		}
		s.Query(tx, "SELECT current_setting('transaction_isolation'), current_setting('transaction_read_only')")
		s.Exec(tx, "INSERT INTO item (name) VALUES ('row ' || (SELECT count(*) FROM item))")
		s.Query(tx, "SELECT count(*) FROM item")
		if o == nil {
			s.Log("rollback: %v", tx.Rollback())
		}
		s.Log("commit: %v; rollback: %v", tx.Commit(), tx.Rollback())
	}
	s.Query(s.db, "SELECT name FROM item ORDER BY name")
}

// failures reads the text and the type of errors.
func failures(s *session) {
	s.Exec(s.db, "INSERT INTO item (name) VALUES ('a')")
	s.Exec(s.db, "INSERT INTO item (name) VALUES ('a')")
	s.Exec(s.db, "INSERT INTO item (name) VALUES (NULL)")
	s.Exec(s.db, "INSERT INTO nothing VALUES (1)")
	s.Query(s.db, "SELECT FROM FROM")
	s.Query(s.db, "SELECT 1 / (3 - i) FROM generate_series(1, 5) i")
	var n int
	err := s.db.QueryRow("SELECT id FROM item WHERE name = 'none'").Scan(&n)
	s.Log("got %v, no rows: %t", err, errors.Is(err, sql.ErrNoRows))
}

// canceled stops queries by their context; the driver then closes the
// connection, and the next query has another one.
func canceled(s *session) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err := s.db.ExecContext(ctx, "SELECT pg_sleep(600)")
	s.Log("deadline: %t", errors.Is(err, context.DeadlineExceeded))
	sqlsuite.AwaitIdle(s.db)
	_, err = s.db.ExecContext(ctx, "SELECT 1")
	s.Log("exec: %v", err)
	sqlsuite.AwaitIdle(s.db)
	s.Query(s.db, "SELECT 1")
}

// locks runs into another connection's lock.
func locks(s *session) {
	tx, err := s.db.Begin()
	s.Log("begin: %v", err)
	s.Exec(tx, "LOCK TABLE item")
	blocked, err := s.other.Begin()
	s.Log("begin: %v", err)
	s.Exec(blocked, "LOCK TABLE item NOWAIT")
	s.Log("rollback: %v", blocked.Rollback())
	s.Exec(s.other, "SET lock_timeout = '10ms'")
	s.Exec(s.other, "INSERT INTO item (name) VALUES ('blocked')")
	s.Log("rollback: %v", tx.Rollback())
	s.Exec(s.other, "INSERT INTO item (name) VALUES ('free')")
	s.Query(s.db, "SELECT name FROM item")
}

// connection pings and keeps one connection for itself.
func connection(s *session) {
	ctx := context.Background()
	s.Log("ping: %v", s.db.PingContext(ctx))
	s.Log("driver: %T", s.db.Driver())
	conn, err := s.db.Conn(ctx)
	s.Log("conn: %v", err)
	s.Exec(conn, "CREATE TEMP TABLE own (x int)")
	s.Exec(conn, "INSERT INTO own VALUES (1)")
	s.Query(conn, "SELECT x FROM own")
	s.Log("ping: %v; close: %v; stats: %d open", conn.PingContext(ctx), conn.Close(), s.db.Stats().OpenConnections)
}
