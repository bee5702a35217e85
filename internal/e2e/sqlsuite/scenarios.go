package sqlsuite

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

const schema = `CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, size REAL, data BLOB, made TIMESTAMP, done BOOLEAN);
CREATE INDEX item_size ON item (size);`

var scenarios = []scenario{
	{"values", values},
	{"prepared", prepared},
	{"returning", returning},
	{"transactions", transactions},
	{"failures", failures},
	{"canceled", canceled},
	{"canceled transaction in memory", inMemory},
	{"locks", locks},
	{"counters", counters},
	{"connection", connection},
}

// values puts all kinds of arguments in and reads them back.
func values(s *session) {
	s.Exec(s.db, schema)
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	insert := "INSERT INTO item (name, size, data, made, done) VALUES (?, ?, ?, ?, ?)"
	s.Exec(s.db, insert, "a", 1.5, []byte{1, 2}, at, true)
	s.Exec(s.db, insert, "b", nil, nil, nil, nil)
	s.Exec(s.db, insert, sql.NullString{String: "c", Valid: true}, int32(7), []byte{}, sql.NullTime{}, sql.NullBool{})
	s.Exec(s.db, insert, []byte("d"), uint8(1), "text", at.In(time.FixedZone("x", 3600)), int64(0))
	s.Exec(s.db, "INSERT INTO item (name, size) VALUES (:name, @size)", sql.Named("name", "e"), sql.Named("size", 2))
	s.Exec(s.db, insert, struct{}{}, 1, 1, 1, 1)
	s.Exec(s.db, insert, "too few")
	s.Query(s.db, "SELECT * FROM item ORDER BY id")
	s.Query(s.db, "SELECT count(*), sum(size), max(name) FROM item WHERE size > ?", 1)
	s.Query(s.db, "SELECT 1; SELECT 2, 3")
	s.Query(s.db, "SELECT changes(), total_changes()")
	s.Exec(s.db, "UPDATE item SET size = size + 1; DELETE FROM item WHERE name = 'a'")
	s.Query(s.db, "SELECT id, size FROM item ORDER BY id")
}

// prepared uses a statement several times, and in a transaction.
func prepared(s *session) {
	s.Exec(s.db, schema)
	ctx := context.Background()
	stmt, err := s.db.PrepareContext(ctx, "INSERT INTO item (name, size) VALUES (?, ?)")
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
	stmt, err = s.db.PrepareContext(ctx, "SELECT name, size FROM item WHERE size >= ? ORDER BY id")
	s.Log("prepare: %v", err)
	for _, arg := range []any{1, 2.5, "x", nil} {
		rows, err := stmt.QueryContext(ctx, arg)
		s.Rows("select", rows, err)
	}
	s.Log("close: %v", stmt.Close())
	_, err = s.db.PrepareContext(ctx, "SELECT nothing")
	s.Log("prepare: %v", err)
}

// returning writes in a query's steps and in its close.
func returning(s *session) {
	s.Exec(s.db, schema)
	insert := "INSERT INTO item (name, size) VALUES (?, 1), (?, 2) RETURNING id, name"
	s.Query(s.db, insert, "a", "b")
	var id int
	var name string
	err := s.db.QueryRow(insert, "c", "d").Scan(&id, &name) // closed after one row of two
	s.Log("got %d, %q, %v", id, name, err)
	err = s.db.QueryRow("SELECT id FROM item WHERE name = ?", "none").Scan(&id)
	s.Log("got %v, no rows: %t", err, errors.Is(err, sql.ErrNoRows))
	s.Query(s.db, "SELECT id, name FROM item ORDER BY id")
}

// transactions commits, rolls back, and asks for what SQLite does not have.
func transactions(s *session) {
	s.Exec(s.db, schema)
	ctx := context.Background()
	for _, o := range []*sql.TxOptions{nil, {}, {ReadOnly: true}, {Isolation: sql.LevelSerializable}, {Isolation: sql.LevelReadCommitted}} {
		tx, err := s.db.BeginTx(ctx, o)
		s.Log("begin %+v: %v", o, err)
		if err != nil {
			continue
		}
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
	s.Exec(s.db, schema)
	s.Exec(s.db, "INSERT INTO item (name) VALUES ('a')")
	s.Exec(s.db, "INSERT INTO item (name) VALUES ('a')")
	s.Exec(s.db, "INSERT INTO item (name) VALUES (NULL)")
	s.Exec(s.db, "INSERT INTO nothing VALUES (1)")
	s.Query(s.db, "SELECT FROM")
	s.Query(s.db, "SELECT abs(-9223372036854775808) FROM item")
}

// endless is a query that only an interrupt ends.
const endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

// canceled stops queries by their context. What a driver does with the
// connection afterwards may depend on the time, so only kinds are written down.
func canceled(s *session) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	var n int
	err := s.db.QueryRowContext(ctx, endless).Scan(&n)
	s.Log("deadline: %t", err != nil)
	AwaitIdle(s.db)
	_, err = s.db.ExecContext(ctx, "SELECT 1")
	s.Log("exec: %v", err)
	AwaitIdle(s.db)
	s.Query(s.db, "SELECT 1")
}

// inMemory ends a transaction of a database in memory by its context: who hides
// the connection's Validator loses the database here.
func inMemory(s *session) {
	db, err := s.open(":memory:")
	s.Log("open: %v", err)
	if err != nil {
		return
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	s.Exec(db, schema)
	s.Exec(db, "INSERT INTO item (name) VALUES ('kept')")
	ctx, cancel := context.WithCancel(context.Background())
	tx, err := db.BeginTx(ctx, nil)
	s.Log("begin: %v", err)
	s.Exec(tx, "INSERT INTO item (name) VALUES ('rolled back')")
	cancel()
	AwaitIdle(db)
	s.Log("commit: %v", tx.Commit())
	s.Query(db, "SELECT name FROM item")
}

// locks runs into another connection's lock, and into a snapshot too old to
// write.
func locks(s *session) {
	s.Exec(s.db, schema)
	ctx := context.Background()
	other := s.another()
	holder, err := s.db.Conn(ctx)
	s.Log("conn: %v", err)
	s.Exec(holder, "BEGIN IMMEDIATE")
	s.Exec(holder, "INSERT INTO item (name) VALUES ('held')")
	s.Exec(other, "INSERT INTO item (name) VALUES ('blocked')")
	s.Exec(other, "BEGIN IMMEDIATE")
	s.Exec(holder, "COMMIT")

	tx, err := other.BeginTx(ctx, nil)
	s.Log("begin: %v", err)
	s.Query(tx, "SELECT count(*) FROM item")
	s.Exec(holder, "INSERT INTO item (name) VALUES ('newer')")
	s.Exec(tx, "INSERT INTO item (name) VALUES ('too late')")
	s.Log("rollback: %v; holder: %v; other: %v", tx.Rollback(), holder.Close(), other.Close())
	s.Query(s.db, "SELECT name FROM item ORDER BY id")
}

// connection pings and keeps one connection for itself.
func connection(s *session) {
	ctx := context.Background()
	s.Log("ping: %v", s.db.PingContext(ctx))
	s.Log("driver: %T", s.db.Driver())
	conn, err := s.db.Conn(ctx)
	s.Log("conn: %v", err)
	s.Exec(conn, "CREATE TEMP TABLE own (x)")
	s.Exec(conn, "INSERT INTO own VALUES (1)")
	s.Query(conn, "SELECT x FROM own")
	s.Log("ping: %v; close: %v; stats: %d open", conn.PingContext(ctx), conn.Close(), s.db.Stats().OpenConnections)
}

// counters reads SQLite's own account of what was written, on the connection
// that wrote and on another one: a probe that wrote anything would move them.
func counters(s *session) {
	other := s.another()
	const own, others = "SELECT changes(), total_changes()", "PRAGMA data_version"
	s.Exec(s.db, schema)
	for range 3 {
		s.Query(other, others)
		s.Exec(s.db, "INSERT INTO item (name) VALUES ('row ' || (SELECT count(*) FROM item))")
		s.Query(s.db, own)
		s.Query(s.db, others)
		s.Query(other, others)
	}
	s.Exec(s.db, "UPDATE item SET size = 1")
	s.Exec(s.db, "DELETE FROM item WHERE size = 2")
	s.Query(s.db, own)
	s.Query(other, others)
	s.Query(s.db, "PRAGMA schema_version")
	s.Log("close: %v", other.Close())
}
