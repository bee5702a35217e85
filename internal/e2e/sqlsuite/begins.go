package sqlsuite

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// Begins asks SQLite whether a transaction that has begun, and has done nothing
// yet, has the write lock, and wants the ledger to say the same: drivers differ in
// what they do by default and in which options they look at.
func Begins(t *testing.T, name string) {
	for _, params := range []string{"", "_txlock=immediate", "_txlock=exclusive", "_txlock=deferred", "mode=ro", "mode=ro&_txlock=immediate", "_pragma=query_only(1)"} {
		for _, opts := range []*sql.TxOptions{nil, {ReadOnly: true}, {Isolation: sql.LevelSerializable}, {Isolation: sql.LevelLinearizable}} {
			path := filepath.Join(t.TempDir(), "app.db")
			other := OpenOne(t, func(dsn string) (*sql.DB, error) { return sql.Open(name, dsn) }, "file:"+path)
			Must(t, other, "PRAGMA busy_timeout = 0")
			Must(t, other, "PRAGMA journal_mode = WAL")
			Must(t, other, "CREATE TABLE item (name TEXT)")
			p := sqlitetrace.New(sqlitetrace.Options{})
			db := OpenOne(t, func(dsn string) (*sql.DB, error) { return p.Open(name, dsn) }, "file:"+path+"?"+params)
			w, err := p.Watch()
			if err != nil {
				t.Fatal(err)
			}
			tx, err := db.BeginTx(probe.WithMethod(t.Context(), "hold"), opts)
			if err != nil { // an isolation level that the driver refuses
				w.Close()
				continue
			}
			has := locked(other)
			if err := tx.Commit(); err != nil {
				t.Fatal(err)
			}
			held := false
			for m := range w.Close().Find("tidestaff.db.lock.hold.duration") {
				held = held || m.Dist.Count() > 0
			}
			if held != has {
				t.Errorf("%q, %+v: the ledger has a hold %v, SQLite's lock was taken %v", params, opts, held, has)
			}
		}
	}
}

// locked reports whether another connection has the write lock of db's file.
func locked(db *sql.DB) bool {
	if _, err := db.ExecContext(context.Background(), "BEGIN IMMEDIATE"); err != nil {
		return true
	}
	_, err := db.ExecContext(context.Background(), "ROLLBACK")
	return err != nil
}
