package sqlsuite

import (
	"context"
	"database/sql"
	"time"
)

// sqlite is the dialect of the suite itself.
var sqlite = Dialect{
	Schema: `CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, size REAL, data BLOB, made TIMESTAMP, done BOOLEAN);
CREATE INDEX item_size ON item (size);`,
	Endless: endless,
	InTx:    "SELECT total_changes()",
}

// endless is a query that only an interrupt ends.
const endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

// scenarios are SQLite's own.
var scenarios = []Scenario{
	{"values", values},
	{"cursors", cursors},
	{"transactions that fail", failingTransactions},
	{"canceled transaction in memory", inMemory},
	{"locks", locks},
	{"counters", counters},
}

// values puts all kinds of arguments in and reads them back.
func values(s *Session) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	insert := "INSERT INTO item (name, size, data, made, done) VALUES (?, ?, ?, ?, ?)"
	s.Exec(s.DB, insert, "a", 1.5, []byte{1, 2}, at, true)
	s.Exec(s.DB, insert, "b", nil, nil, nil, nil)
	s.Exec(s.DB, insert, sql.NullString{String: "c", Valid: true}, int32(7), []byte{}, sql.NullTime{}, sql.NullBool{})
	s.Exec(s.DB, insert, []byte("d"), uint8(1), "text", at.In(time.FixedZone("x", 3600)), int64(0))
	s.Exec(s.DB, "INSERT INTO item (name, size) VALUES (:name, @size)", sql.Named("name", "e"), sql.Named("size", 2))
	s.Exec(s.DB, insert, struct{}{}, 1, 1, 1, 1)
	s.Exec(s.DB, insert, "too few")
	s.Query(s.DB, "SELECT * FROM item ORDER BY id")
	s.Query(s.DB, "SELECT count(*), sum(size), max(name) FROM item WHERE size > ?", 1)
	s.Query(s.DB, "SELECT 1; SELECT 2, 3")
	s.Query(s.DB, "SELECT changes(), total_changes()")
	s.Exec(s.DB, "UPDATE item SET size = size + 1; DELETE FROM item WHERE name = 'a'")
	s.Query(s.DB, "SELECT id, size FROM item ORDER BY id")
}

// inMemory ends a transaction of a database in memory by its context: who hides
// the connection's Validator loses the database here.
func inMemory(s *Session) {
	db, err := s.open(":memory:")
	s.Log("open: %v", err)
	if err != nil {
		return
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	s.Exec(db, s.Schema)
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
func locks(s *Session) {
	ctx := context.Background()
	other := s.Another()
	holder, err := s.DB.Conn(ctx)
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
	s.Query(s.DB, "SELECT name FROM item ORDER BY id")
}

// counters reads SQLite's own account of what was written, on the connection
// that wrote and on another one: a probe that wrote anything would move them.
func counters(s *Session) {
	other := s.Another()
	const own, others = "SELECT changes(), total_changes()", "PRAGMA data_version"
	for range 3 {
		s.Query(other, others)
		s.Exec(s.DB, "INSERT INTO item (name) VALUES ('row ' || (SELECT count(*) FROM item))")
		s.Query(s.DB, own)
		s.Query(s.DB, others)
		s.Query(other, others)
	}
	s.Exec(s.DB, "UPDATE item SET size = 1")
	s.Exec(s.DB, "DELETE FROM item WHERE size = 2")
	s.Query(s.DB, own)
	s.Query(other, others)
	s.Exec(s.DB, "INSERT INTO item (name, size) VALUES (?, ?), (?, changes())", "x", 2, "y")
	s.Query(s.DB, "SELECT name, changes() FROM item WHERE size > ?", 0) // a scan
	s.Query(s.DB, "DELETE FROM item WHERE size > ? RETURNING id, changes()", 1)
	s.Query(s.DB, own)
	s.Query(other, others)
	s.Query(s.DB, "PRAGMA schema_version")
	s.Log("close: %v", other.Close())
}

// cursors reads two of them at a time, in one transaction.
func cursors(s *Session) {
	s.Exec(s.DB, "INSERT INTO item (name) VALUES ('a'), ('b'), ('c')")
	ctx := context.Background()
	tx, err := s.DB.BeginTx(ctx, nil)
	s.Log("begin: %v", err)
	first, err := tx.QueryContext(ctx, "SELECT name FROM item ORDER BY id")
	s.Log("first: %v", err)
	second, err := tx.QueryContext(ctx, "SELECT name FROM item ORDER BY id DESC")
	s.Log("second: %v", err)
	var a, b string
	for first.Next() && second.Next() {
		s.Log("rows %v, %v: %s, %s", first.Scan(&a), second.Scan(&b), a, b)
		s.Exec(tx, "UPDATE item SET size = 1 WHERE name = ?", a)
	}
	s.Log("rows: %v, %v; close: %v, %v", first.Err(), second.Err(), first.Close(), second.Close())
	s.Log("commit: %v", tx.Commit())
	s.Query(s.DB, "SELECT name, size FROM item")
}

// failingTransactions have statements that undo themselves or everything, and
// commits that a reader holds up.
func failingTransactions(s *Session) {
	s.Exec(s.DB, "PRAGMA journal_mode = DELETE")
	s.Exec(s.DB, "INSERT INTO item (name) VALUES ('a')")
	ctx := context.Background()
	for _, how := range []string{"ABORT", "FAIL", "IGNORE", "REPLACE", "ROLLBACK"} {
		tx, err := s.DB.BeginTx(ctx, nil)
		s.Log("begin: %v", err)
		s.Exec(tx, "INSERT INTO item (name) VALUES (?)", how)
		s.Exec(tx, "INSERT OR "+how+" INTO item (name) VALUES (?), ('a')", "with "+how)
		s.Exec(tx, "INSERT INTO item (name) VALUES (?)", "after "+how)
		s.Log("commit: %v", tx.Commit())
	}
	s.Query(s.DB, "SELECT name FROM item ORDER BY id")
	other := s.Another()
	s.Exec(other, "PRAGMA journal_mode = DELETE")
	rows, err := other.QueryContext(ctx, "SELECT name FROM item")
	s.Log("query: %v; next: %t", err, rows.Next())
	tx, err := s.DB.BeginTx(ctx, nil)
	s.Log("begin: %v", err)
	s.Exec(tx, "INSERT INTO item (name) VALUES ('held up')")
	s.Log("commit: %v; close: %v", tx.Commit(), rows.Close())
	s.Exec(s.DB, "BEGIN IMMEDIATE")
	s.Exec(s.DB, "COMMIT")
	s.Exec(s.DB, "COMMIT")
	s.Query(s.DB, "SELECT count(*) FROM item")
	s.Log("close: %v", other.Close())
}
