package sqlsuite

import (
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// Waits has one connection wait for another's transaction to end, in SQLite's busy
// handler, and wants the ledger's account of it to agree with the program's clock:
// to the holder goes what was before the release, to polling what was after, and
// together they are the time that the waiter's begin took. params makes BeginTx
// take the lock, and wait for it.
func Waits(t *testing.T, driverName, params string) {
	p, closed := Watch(t, sqlitetrace.Options{})
	dsn := "file:" + filepath.Join(t.TempDir(), "app.db") + params
	open := func(dsn string) (*sql.DB, error) { return p.Open(driverName, dsn) }
	holder, waiter := OpenOne(t, open, dsn), OpenOne(t, open, dsn)
	Must(t, holder, "PRAGMA journal_mode = WAL")
	Must(t, holder, "CREATE TABLE item (name TEXT)")
	Must(t, waiter, "SELECT 1")
	held, err := holder.BeginTx(As("hold"), nil)
	if err != nil {
		t.Fatal(err)
	}
	before := time.Now()
	var after time.Time
	done := make(chan error)
	go func() {
		tx, err := waiter.BeginTx(As("wait"), nil)
		after = time.Now()
		if err == nil {
			err = tx.Rollback()
		}
		done <- err
	}()
	const least = 5 * time.Millisecond // longer than the busy handler's first sleeps
	AwaitRunning(p, "wait", least)
	release := time.Now()
	if err := held.Commit(); err != nil {
		t.Error(err)
	}
	released := time.Now()
	if err := <-done; err != nil {
		t.Error(err)
	}
	r := closed()
	sum := func(name string, attrs ...probe.Attr) (d time.Duration) {
		var seconds float64
		for m := range r.Find(name, append(attrs, probe.Attr{Key: probe.AttrMethod, Value: "wait"})...) {
			seconds += m.Value
		}
		return time.Duration(seconds * float64(time.Second))
	}
	toHolder := probe.Attr{Key: sqlitetrace.AttrHolder, Value: "hold"}
	wait, poll := sum("tidestaff.db.lock.wait.time", toHolder), sum("tidestaff.db.lock.poll.time", toHolder)
	began := sum("tidestaff.db.transaction.time", probe.Attr{Key: sqlitetrace.AttrPhase, Value: "begin"})
	const rounding = time.Microsecond // of seconds in floating point
	if d := wait - began; d < -rounding || d > rounding {
		t.Errorf("waited %v, want the %v that the begin took", wait, began)
	}
	if blocked := wait - poll; blocked < least-rounding || blocked > released.Sub(before)+rounding {
		t.Errorf("waited for the holder: got %v, want %v to %v", blocked, least, released.Sub(before))
	}
	if most := after.Sub(release) + rounding; poll < 0 || poll > most {
		t.Errorf("polled: got %v, want at most the %v from before the commit to the end of the begin", poll, most)
	}
}
