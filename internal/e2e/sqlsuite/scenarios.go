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
	{"connection", connection},
}

// values puts all kinds of arguments in and reads them back.
func values(s *session) {
	s.exec(s.db, schema)
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	insert := "INSERT INTO item (name, size, data, made, done) VALUES (?, ?, ?, ?, ?)"
	s.exec(s.db, insert, "a", 1.5, []byte{1, 2}, at, true)
	s.exec(s.db, insert, "b", nil, nil, nil, nil)
	s.exec(s.db, insert, sql.NullString{String: "c", Valid: true}, int32(7), []byte{}, sql.NullTime{}, sql.NullBool{})
	s.exec(s.db, insert, []byte("d"), uint8(1), "text", at.In(time.FixedZone("x", 3600)), int64(0))
	s.exec(s.db, "INSERT INTO item (name, size) VALUES (:name, @size)", sql.Named("name", "e"), sql.Named("size", 2))
	s.exec(s.db, insert, struct{}{}, 1, 1, 1, 1)
	s.exec(s.db, insert, "too few")
	s.query(s.db, "SELECT * FROM item ORDER BY id")
	s.query(s.db, "SELECT count(*), sum(size), max(name) FROM item WHERE size > ?", 1)
	s.query(s.db, "SELECT 1; SELECT 2, 3")
	s.query(s.db, "SELECT changes(), total_changes()")
	s.exec(s.db, "UPDATE item SET size = size + 1; DELETE FROM item WHERE name = 'a'")
	s.query(s.db, "SELECT id, size FROM item ORDER BY id")
}

// prepared uses a statement several times, and in a transaction.
func prepared(s *session) {
	s.exec(s.db, schema)
	ctx := context.Background()
	stmt, err := s.db.PrepareContext(ctx, "INSERT INTO item (name, size) VALUES (?, ?)")
	s.log("prepare: %v", err)
	for _, args := range [][]any{{"a", 1}, {sql.NullString{String: "b", Valid: true}, int32(2)}, {"a", 3}, {"c"}} {
		res, err := stmt.ExecContext(ctx, args...)
		s.result("insert", res, err)
	}
	tx, err := s.db.BeginTx(ctx, nil)
	s.log("begin: %v", err)
	res, err := tx.StmtContext(ctx, stmt).ExecContext(ctx, "d", 4)
	s.result("insert", res, err)
	s.log("commit: %v; close: %v", tx.Commit(), stmt.Close())
	stmt, err = s.db.PrepareContext(ctx, "SELECT name, size FROM item WHERE size >= ? ORDER BY id")
	s.log("prepare: %v", err)
	for _, arg := range []any{1, 2.5, "x", nil} {
		rows, err := stmt.QueryContext(ctx, arg)
		s.rows("select", rows, err)
	}
	s.log("close: %v", stmt.Close())
	_, err = s.db.PrepareContext(ctx, "SELECT nothing")
	s.log("prepare: %v", err)
}

// returning writes in a query's steps and in its close.
func returning(s *session) {
	s.exec(s.db, schema)
	insert := "INSERT INTO item (name, size) VALUES (?, 1), (?, 2) RETURNING id, name"
	s.query(s.db, insert, "a", "b")
	var id int
	var name string
	err := s.db.QueryRow(insert, "c", "d").Scan(&id, &name) // closed after one row of two
	s.log("got %d, %q, %v", id, name, err)
	err = s.db.QueryRow("SELECT id FROM item WHERE name = ?", "none").Scan(&id)
	s.log("got %v, no rows: %t", err, errors.Is(err, sql.ErrNoRows))
	s.query(s.db, "SELECT id, name FROM item ORDER BY id")
}

// transactions commits, rolls back, and asks for what SQLite does not have.
func transactions(s *session) {
	s.exec(s.db, schema)
	ctx := context.Background()
	for _, o := range []*sql.TxOptions{nil, {}, {ReadOnly: true}, {Isolation: sql.LevelSerializable}, {Isolation: sql.LevelReadCommitted}} {
		tx, err := s.db.BeginTx(ctx, o)
		s.log("begin %+v: %v", o, err)
		if err != nil {
			continue
		}
		s.exec(tx, "INSERT INTO item (name) VALUES ('row ' || (SELECT count(*) FROM item))")
		s.query(tx, "SELECT count(*) FROM item")
		if o == nil {
			s.log("rollback: %v", tx.Rollback())
		}
		s.log("commit: %v; rollback: %v", tx.Commit(), tx.Rollback())
	}
	s.query(s.db, "SELECT name FROM item ORDER BY name")
}

// failures reads the text and the type of errors.
func failures(s *session) {
	s.exec(s.db, schema)
	s.exec(s.db, "INSERT INTO item (name) VALUES ('a')")
	s.exec(s.db, "INSERT INTO item (name) VALUES ('a')")
	s.exec(s.db, "INSERT INTO item (name) VALUES (NULL)")
	s.exec(s.db, "INSERT INTO nothing VALUES (1)")
	s.query(s.db, "SELECT FROM")
	s.query(s.db, "SELECT abs(-9223372036854775808) FROM item")
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
	s.log("deadline: %t", err != nil)
	awaitIdle(s.db)
	_, err = s.db.ExecContext(ctx, "SELECT 1")
	s.log("exec: %v", err)
	awaitIdle(s.db)
	s.query(s.db, "SELECT 1")
}

// inMemory ends a transaction of a database in memory by its context: who hides
// the connection's Validator loses the database here.
func inMemory(s *session) {
	db, err := s.open(":memory:")
	s.log("open: %v", err)
	if err != nil {
		return
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	s.exec(db, schema)
	s.exec(db, "INSERT INTO item (name) VALUES ('kept')")
	ctx, cancel := context.WithCancel(context.Background())
	tx, err := db.BeginTx(ctx, nil)
	s.log("begin: %v", err)
	s.exec(tx, "INSERT INTO item (name) VALUES ('rolled back')")
	cancel()
	awaitIdle(db)
	s.log("commit: %v", tx.Commit())
	s.query(db, "SELECT name FROM item")
}

// locks runs into another connection's lock, and into a snapshot too old to
// write.
func locks(s *session) {
	s.exec(s.db, schema)
	ctx := context.Background()
	other := s.another()
	holder, err := s.db.Conn(ctx)
	s.log("conn: %v", err)
	s.exec(holder, "BEGIN IMMEDIATE")
	s.exec(holder, "INSERT INTO item (name) VALUES ('held')")
	s.exec(other, "INSERT INTO item (name) VALUES ('blocked')")
	s.exec(other, "BEGIN IMMEDIATE")
	s.exec(holder, "COMMIT")

	tx, err := other.BeginTx(ctx, nil)
	s.log("begin: %v", err)
	s.query(tx, "SELECT count(*) FROM item")
	s.exec(holder, "INSERT INTO item (name) VALUES ('newer')")
	s.exec(tx, "INSERT INTO item (name) VALUES ('too late')")
	s.log("rollback: %v; holder: %v; other: %v", tx.Rollback(), holder.Close(), other.Close())
	s.query(s.db, "SELECT name FROM item ORDER BY id")
}

// connection pings and keeps one connection for itself.
func connection(s *session) {
	ctx := context.Background()
	s.log("ping: %v", s.db.PingContext(ctx))
	s.log("driver: %T", s.db.Driver())
	conn, err := s.db.Conn(ctx)
	s.log("conn: %v", err)
	s.exec(conn, "CREATE TEMP TABLE own (x)")
	s.exec(conn, "INSERT INTO own VALUES (1)")
	s.query(conn, "SELECT x FROM own")
	s.log("ping: %v; close: %v; stats: %d open", conn.PingContext(ctx), conn.Close(), s.db.Stats().OpenConnections)
}
