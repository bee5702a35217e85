package sqlsuite

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// Shared are the scenarios that run in every dialect.
var Shared = []Scenario{
	{"prepared", prepared},
	{"returning", returning},
	{"transactions", transactions},
	{"failures", failures},
	{"canceled", canceled},
	{"connection", connection},
}

// prepared uses a statement several times, and in a transaction.
func prepared(s *Session) {
	ctx := context.Background()
	stmt, err := s.DB.PrepareContext(ctx, s.bind("INSERT INTO item (name, size) VALUES (?, ?)"))
	s.Log("prepare: %v", err)
	for _, args := range [][]any{{"a", 1}, {sql.NullString{String: "b", Valid: true}, int32(2)}, {"a", 3}, {"c"}} {
		res, err := stmt.ExecContext(ctx, args...)
		s.Result("insert", res, err)
	}
	tx, err := s.DB.BeginTx(ctx, nil)
	s.Log("begin: %v", err)
	res, err := tx.StmtContext(ctx, stmt).ExecContext(ctx, "d", 4)
	s.Result("insert", res, err)
	s.Log("commit: %v; close: %v", tx.Commit(), stmt.Close())
	stmt, err = s.DB.PrepareContext(ctx, s.bind("SELECT name, size FROM item WHERE size >= ? ORDER BY id"))
	s.Log("prepare: %v", err)
	for _, arg := range []any{1, 2.5, "x", nil} {
		rows, err := stmt.QueryContext(ctx, arg)
		s.Rows("select", rows, err)
	}
	s.Log("close: %v", stmt.Close())
	_, err = s.DB.PrepareContext(ctx, "SELECT nothing")
	s.Log("prepare: %v", err)
}

// returning writes in a query's steps and in its close.
func returning(s *Session) {
	insert := s.bind("INSERT INTO item (name, size) VALUES (?, 1), (?, 2) RETURNING id, name")
	s.Query(s.DB, insert, "a", "b")
	var id int
	var name string
	err := s.DB.QueryRow(insert, "c", "d").Scan(&id, &name) // closed after one row of two
	s.Log("got %d, %q, %v", id, name, err)
	err = s.DB.QueryRow(s.bind("SELECT id FROM item WHERE name = ?"), "none").Scan(&id)
	s.Log("got %v, no rows: %t", err, errors.Is(err, sql.ErrNoRows))
	s.Query(s.DB, "SELECT id, name FROM item ORDER BY id")
}

// transactions commits, rolls back, and asks for what not every system has.
func transactions(s *Session) {
	ctx := context.Background()
	for _, o := range []*sql.TxOptions{nil, {}, {ReadOnly: true}, {Isolation: sql.LevelSerializable}, {Isolation: sql.LevelReadCommitted},
		{Isolation: sql.LevelSnapshot}, {Isolation: sql.LevelLinearizable}} {
		tx, err := s.DB.BeginTx(ctx, o)
		s.Log("begin %+v: %v", o, err)
		if err != nil {
			continue
		}
		s.Query(tx, s.InTx)
		s.Exec(tx, "INSERT INTO item (name) VALUES ('row ' || (SELECT count(*) FROM item))")
		s.Query(tx, "SELECT count(*) FROM item")
		if o == nil {
			s.Log("rollback: %v", tx.Rollback())
		}
		s.Log("commit: %v; rollback: %v", tx.Commit(), tx.Rollback())
	}
	s.Query(s.DB, "SELECT name FROM item ORDER BY name")
}

// failures reads the text and the type of errors.
func failures(s *Session) {
	s.Exec(s.DB, "INSERT INTO item (name) VALUES ('a')")
	s.Exec(s.DB, "INSERT INTO item (name) VALUES ('a')")
	s.Exec(s.DB, "INSERT INTO item (name) VALUES (NULL)")
	s.Exec(s.DB, "INSERT INTO nothing VALUES (1)")
	s.Query(s.DB, "SELECT FROM FROM")
	s.Query(s.DB, "SELECT abs(-9223372036854775808) FROM item")
}

// canceled stops queries by their context. What a driver does with the
// connection afterwards may depend on the time, so only kinds are written down.
func canceled(s *Session) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	var n int
	err := s.DB.QueryRowContext(ctx, s.Endless).Scan(&n)
	s.Log("deadline: %t", err != nil)
	AwaitIdle(s.DB)
	_, err = s.DB.ExecContext(ctx, "SELECT 1")
	s.Log("exec: %v", err)
	AwaitIdle(s.DB)
	s.Query(s.DB, "SELECT 1")
}

// connection pings and keeps one connection for itself.
func connection(s *Session) {
	ctx := context.Background()
	s.Log("ping: %v", s.DB.PingContext(ctx))
	s.Log("driver: %T", s.DB.Driver())
	conn, err := s.DB.Conn(ctx)
	s.Log("conn: %v", err)
	s.Exec(conn, "CREATE TEMP TABLE own (x INTEGER)")
	s.Exec(conn, "INSERT INTO own VALUES (1)")
	s.Query(conn, "SELECT x FROM own")
	s.Log("ping: %v; close: %v; stats: %d open", conn.PingContext(ctx), conn.Close(), s.DB.Stats().OpenConnections)
}
