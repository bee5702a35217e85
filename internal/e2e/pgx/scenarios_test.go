package pgx

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tidestaff/tidestaff/internal/e2e/sqlsuite"
)

// postgres is the dialect.
var postgres = sqlsuite.Dialect{
	Schema:  "CREATE TABLE item (id bigserial PRIMARY KEY, name text UNIQUE NOT NULL, size float8, price numeric(10, 2), data bytea, made timestamptz, done boolean, code varchar(9))",
	Bind:    numbered,
	Endless: "SELECT 1 FROM pg_sleep(600)",
	InTx:    "SELECT current_setting('transaction_isolation'), current_setting('transaction_read_only')",
}

// numbered writes $1, $2 and so on for each ?.
func numbered(query string) string {
	for n := 1; strings.Contains(query, "?"); n++ {
		query = strings.Replace(query, "?", fmt.Sprint("$", n), 1)
	}
	return query
}

// play runs a scenario in a new schema and returns the transcript.
func play(t *testing.T, sc sqlsuite.Scenario, open sqlsuite.Open) []string {
	t.Helper()
	dsn := schema(t)
	s := &sqlsuite.Session{Dialect: postgres, Another: func() *sql.DB { return sqlsuite.OpenOne(t, open, dsn) }}
	s.Play(sc)
	return s.Lines
}

// scenarios are PostgreSQL's own.
var scenarios = []sqlsuite.Scenario{
	{Name: "values", Run: values},
	{Name: "slices", Run: slicesIntoAny},
	{Name: "locks", Run: locks},
}

// values puts all kinds of arguments in and reads them back.
func values(s *sqlsuite.Session) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	const insert = "INSERT INTO item (name, size, price, data, made, done, code) VALUES ($1, $2, $3, $4, $5, $6, $7)"
	s.Exec(s.DB, insert, "a", 1.5, "12.30", []byte{1, 2}, at, true, "x")
	s.Exec(s.DB, insert, "b", nil, nil, nil, nil, nil, nil)
	s.Exec(s.DB, insert, sql.NullString{String: "c", Valid: true}, int32(7), 3, []byte{}, sql.NullTime{}, sql.NullBool{}, "y")
	s.Exec(s.DB, insert, "d", float32(1), int8(1), []byte("z"), at.In(time.FixedZone("x", 3600)), false, new("z"))
	s.Exec(s.DB, insert, struct{}{}, 1, 1, nil, nil, nil, nil)
	s.Exec(s.DB, insert, "too few")
	s.Exec(s.DB, insert, "e", "no number", 1, nil, nil, nil, nil)
	s.Exec(s.DB, "INSERT INTO item (name) VALUES (@name)", pgx.NamedArgs{"name": "named"})
	s.Exec(s.DB, "INSERT INTO item (name) VALUES ($1)", sql.Named("name", "f"))
	s.Query(s.DB, "SELECT id, name, size, price, data, made AT TIME ZONE 'UTC', done, code FROM item ORDER BY id")
	s.Query(s.DB, "SELECT count(*), sum(size), max(name) FROM item WHERE size > $1", 1)
	s.Query(s.DB, "SELECT 1; SELECT 2, 3")
	s.Query(s.DB, "SELECT")
	s.Exec(s.DB, "UPDATE item SET size = size + 1")
	s.Exec(s.DB, "UPDATE item SET size = size + 1; DELETE FROM item WHERE name = 'a'")
	s.Query(s.DB, "INSERT INTO item (name) VALUES ('r1'), ('r2') RETURNING name")
}

// slicesIntoAny passes and reads arrays and JSON, and scans them where that
// works and where it does not, which depends on the Go release.
func slicesIntoAny(s *sqlsuite.Session) {
	s.Query(s.DB, "SELECT $1::bigint[], $2::text[], $3::jsonb, '{{1,2},{3,4}}'::int[]", []int64{1, 2}, []string{"a", "b,c"}, map[string]int{"x": 1})
	s.Query(s.DB, "SELECT $1::int[]", []int32(nil))
	s.Query(s.DB, "SELECT i FROM unnest($1::bigint[]) i", []int64{5, 6})
	var ids []int64
	err := s.DB.QueryRow("SELECT $1::bigint[]", []int64{7, 8}).Scan(&ids)
	s.Log("into a slice: %v, %v", ids, err)
	var wrong int
	err = s.DB.QueryRow("SELECT $1::bigint[]", []int64{7, 8}).Scan(&wrong)
	s.Log("into an int: %v, %v", wrong, err)
	var raw sql.RawBytes
	rows, err := s.DB.Query("SELECT 'bytes'::bytea, 1")
	s.Log("query: %v", err)
	for rows.Next() {
		s.Log("too few: %v", rows.Scan(&raw))
		s.Log("raw: %v, %q, %d", rows.Scan(&raw, &wrong), raw, wrong)
	}
	s.Log("rows: %v; close: %v", rows.Err(), rows.Close())
}

// locks runs into another connection's lock.
func locks(s *sqlsuite.Session) {
	other := s.Another()
	tx, err := s.DB.Begin()
	s.Log("begin: %v", err)
	s.Exec(tx, "LOCK TABLE item")
	blocked, err := other.Begin()
	s.Log("begin: %v", err)
	s.Exec(blocked, "LOCK TABLE item NOWAIT")
	s.Log("rollback: %v", blocked.Rollback())
	s.Exec(other, "SET lock_timeout = '10ms'")
	s.Exec(other, "INSERT INTO item (name) VALUES ('blocked')")
	s.Log("rollback: %v", tx.Rollback())
	s.Exec(other, "INSERT INTO item (name) VALUES ('free')")
	s.Query(s.DB, "SELECT name FROM item")
}
