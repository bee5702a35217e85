package sqlitetrace_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// TestLedgerRolledBack has statements end the holder's transaction in SQLite at
// 20 ms, while the program goes on with it to 100 ms. Waits are charged to it up
// to then, and what comes later to nobody.
func TestLedgerRolledBack(t *testing.T) {
	const (
		holds = "tidestaff.db.lock.hold.duration"
		waits = "tidestaff.db.lock.wait.time"
	)
	type ms = map[string]float64
	begin := func(db *sql.DB) (exec func(string), end func()) {
		tx, err := db.BeginTx(labelled("hold"), nil)
		if err != nil {
			panic(err)
		}
		return func(query string) { tx.ExecContext(labelled("hold"), query) }, func() { tx.Commit() }
	}
	words := func(db *sql.DB) (exec func(string), end func()) {
		conn, err := db.Conn(context.Background())
		if err != nil {
			panic(err)
		}
		exec = func(query string) { conn.ExecContext(labelled("hold"), query) }
		exec("BEGIN IMMEDIATE")
		return exec, func() {
			exec("COMMIT")
			conn.Close()
		}
	}
	for _, tc := range []struct {
		name  string
		tells bool
		begin func(*sql.DB) (exec func(string), end func())
		fail  string
		wait  func(*sql.DB)
		want  map[string]ms
	}{
		// The waiter begins at 30 ms, and is not blocked.
		{"then a write", false, begin, "rollback", func(db *sql.DB) { db.ExecContext(labelled("wait"), "INSERT 30ms") },
			map[string]ms{holds: {"hold": 20, "wait": 30}, waits: {}}},
		{"then a write, driver tells", true, begin, "rollback", func(db *sql.DB) { db.ExecContext(labelled("wait"), "INSERT 30ms") },
			map[string]ms{holds: {"hold": 20, "wait": 30}, waits: {}}},
		{"then a write, in words", false, words, "rollback", func(db *sql.DB) { db.ExecContext(labelled("wait"), "INSERT 30ms") },
			map[string]ms{holds: {"hold": 20, "wait": 30}, waits: {}}},
		{"then a transaction", false, begin, "rollback", func(db *sql.DB) { hold(db, "wait", 10*time.Millisecond) },
			map[string]ms{holds: {"hold": 20, "wait": 12}, waits: {}}},
		{"then nobody", false, begin, "rollback", func(*sql.DB) {}, map[string]ms{holds: {"hold": 20}, waits: {}}},
		{"then nobody, in words", false, words, "rollback", func(*sql.DB) {}, map[string]ms{holds: {"hold": 20}, waits: {}}},
		// A constraint that only undoes its statement leaves the lock where it was,
		// and neither a temporary table nor a failure says otherwise. The waiter
		// tries at 30, 31, 33, ... 83 and 108 ms; the commit ends at 102.
		{"not at all", false, begin, "abort", func(db *sql.DB) { db.ExecContext(labelled("wait"), "INSERT 30ms") },
			map[string]ms{holds: {"hold": 102, "wait": 30}, waits: {"wait for hold": 78}}},
		{"not at all, driver tells", true, begin, "abort", func(db *sql.DB) { db.ExecContext(labelled("wait"), "INSERT 30ms") },
			map[string]ms{holds: {"hold": 102, "wait": 30}, waits: {"wait for hold": 78}}},
		{"not at all, but a temporary table is written", true, begin, "abort", func(db *sql.DB) {
			db.ExecContext(labelled("temp"), "INSERT temp")
			db.ExecContext(labelled("wait"), "INSERT 30ms")
		}, map[string]ms{holds: {"hold": 102, "temp": 0, "wait": 30}, waits: {"wait for hold": 78}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inFile(t, 0, func(t *testing.T, f *lockFile, p *sqlitetrace.Probe, open func(*testing.T) *sql.DB) {
				f.tells = tc.tells
				w := watch(t, p)
				holder, waiter := open(t), open(t)
				go func() {
					exec, end := tc.begin(holder)
					exec("INSERT 20ms")
					exec("INSERT " + tc.fail)
					time.Sleep(80 * time.Millisecond)
					end()
				}()
				time.Sleep(30 * time.Millisecond)
				tc.wait(waiter)
				time.Sleep(time.Second)
				wantMS(t, w.Close(), tc.want)
			})
		})
	}
}

// TestLedgerStale is what else may happen around a transaction that fails.
func TestLedgerStale(t *testing.T) {
	const (
		holds = "tidestaff.db.lock.hold.duration"
		waits = "tidestaff.db.lock.wait.time"
		polls = "tidestaff.db.lock.poll.time"
	)
	type ms = map[string]float64
	exec := func(on interface {
		ExecContext(context.Context, string, ...any) (sql.Result, error)
	}, query string) {
		on.ExecContext(labelled("hold"), query)
	}
	for _, tc := range []struct {
		name string
		hold func(*lockFile, *sql.DB) // begins at 0
		wait string                   // of a waiter that begins at 10 ms
		want map[string]ms
	}{
		// The first write of a transaction fails, but has taken the lock.
		{"a constraint in the first write", func(_ *lockFile, db *sql.DB) {
			tx, _ := db.BeginTx(labelled("hold"), nil)
			exec(tx, "INSERT abort")
			time.Sleep(40 * time.Millisecond)
			tx.Rollback()
		}, "INSERT 5ms", map[string]ms{holds: {"hold": 40, "wait": 5}, waits: {"wait for hold": 33}, polls: {"wait for hold": 3}}},
		{"a constraint outside of a transaction", func(_ *lockFile, db *sql.DB) { exec(db, "INSERT abort") },
			"INSERT 5ms", map[string]ms{holds: {"hold": 0, "wait": 5}}},
		// At 30 ms the transaction is over, and the waiter asks at 43.
		{"somebody waits already", func(_ *lockFile, db *sql.DB) {
			tx, _ := db.BeginTx(labelled("hold"), nil)
			exec(tx, "INSERT 30ms")
			exec(tx, "INSERT rollback")
			time.Sleep(70 * time.Millisecond)
			tx.Rollback()
		}, "INSERT 5ms", map[string]ms{holds: {"hold": 30, "wait": 5}, waits: {"wait for hold": 33}, polls: {"wait for hold": 13}}},
		// After the waiter, which shows that the first hold is over, it takes the
		// lock once more, at 50 ms.
		{"it goes on writing", func(_ *lockFile, db *sql.DB) {
			tx, _ := db.BeginTx(labelled("hold"), nil)
			exec(tx, "INSERT rollback")
			time.Sleep(50 * time.Millisecond)
			exec(tx, "INSERT 20ms")
			tx.Commit()
		}, "INSERT 5ms", map[string]ms{holds: {"hold": 22, "wait": 5}}},
		{"it goes on writing, driver tells", func(f *lockFile, db *sql.DB) {
			f.tells = true
			tx, _ := db.BeginTx(labelled("hold"), nil)
			exec(tx, "INSERT rollback")
			time.Sleep(50 * time.Millisecond)
			exec(tx, "INSERT 20ms") // on its own
			time.Sleep(50 * time.Millisecond)
			tx.Commit()
		}, "INSERT 5ms", map[string]ms{holds: {"hold": 20, "wait": 5}}},
		// A reader holds up the commit. The driver's Commit then rolls back.
		{"commit fails", func(f *lockFile, db *sql.DB) {
			tx, _ := db.BeginTx(labelled("hold"), nil)
			exec(tx, "INSERT 30ms")
			f.readers = true
			tx.Commit()
		}, "INSERT 5ms", map[string]ms{holds: {"hold": 32, "wait": 5}, waits: {"wait for hold": 33}, polls: {"wait for hold": 11}}},
		// Nobody does in words: the transaction goes on.
		{"commit in words fails", func(f *lockFile, db *sql.DB) {
			conn, _ := db.Conn(context.Background())
			defer conn.Close()
			exec(conn, "BEGIN IMMEDIATE")
			f.readers = true
			exec(conn, "COMMIT")
			time.Sleep(30 * time.Millisecond)
			f.readers = false
			exec(conn, "COMMIT")
		}, "INSERT 5ms", map[string]ms{holds: {"hold": 32, "wait": 5}, waits: {"wait for hold": 33}, polls: {"wait for hold": 11}}},
		// SQLite has released the lock at 42 ms, and the waiter got it at 43, but the
		// commit returns at 62: that is no sign of a hold that ended at the failure.
		{"commit returns late", func(f *lockFile, db *sql.DB) {
			tx, _ := db.BeginTx(labelled("hold"), nil)
			exec(tx, "INSERT abort")
			time.Sleep(40 * time.Millisecond)
			f.late = 20 * time.Millisecond
			tx.Commit()
		}, "INSERT 0ms", map[string]ms{holds: {"hold": 62, "wait": 0}, waits: {"wait for hold": 33}, polls: {"wait for hold": 0}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inFile(t, 0, func(t *testing.T, f *lockFile, p *sqlitetrace.Probe, open func(*testing.T) *sql.DB) {
				w := watch(t, p)
				holder, waiter := p.OpenDB(f), open(t)
				defer holder.Close()
				go tc.hold(f, holder)
				time.Sleep(10 * time.Millisecond)
				waiter.ExecContext(labelled("wait"), tc.wait)
				time.Sleep(time.Second)
				for _, name := range []string{waits, polls} {
					if tc.want[name] == nil {
						tc.want[name] = ms{} // there are none
					}
				}
				wantMS(t, w.Close(), tc.want)
			})
		})
	}
}

// TestLedgerCursor has a write's rows open while other statements of the
// transaction take the lock and lose it: inFile wants nobody left on the ledger.
func TestLedgerCursor(t *testing.T) {
	for _, tells := range []bool{false, true} {
		for _, query := range []string{"INSERT 1ms", "INSERT abort", "INSERT rollback", "ROLLBACK", "COMMIT"} {
			inFile(t, 0, func(t *testing.T, f *lockFile, p *sqlitetrace.Probe, open func(*testing.T) *sql.DB) {
				f.tells = tells
				w := watch(t, p)
				db, other := open(t), open(t)
				tx, err := db.BeginTx(labelled("tx"), nil)
				if err != nil {
					t.Fatal(err)
				}
				rows, err := tx.QueryContext(labelled("rows"), "INSERT 1ms")
				if err != nil {
					t.Fatal(err)
				}
				tx.ExecContext(labelled("tx"), "INSERT 1ms")
				tx.ExecContext(labelled("tx"), query)
				rows.Close()
				tx.Rollback()
				other.ExecContext(labelled("other"), "INSERT 30ms")
				wantMS(t, w.Close(), map[string]map[string]float64{"tidestaff.db.lock.wait.time": {}})
			})
		}
	}
}

// TestLedgerStaleConcurrent has many transactions fail beside each other: nobody
// is charged for longer than the waiters were in the driver, and nobody is left on
// the ledger.
func TestLedgerStaleConcurrent(t *testing.T) {
	for _, tells := range []bool{false, true} {
		inFile(t, 100*time.Millisecond, func(t *testing.T, f *lockFile, p *sqlitetrace.Probe, open func(*testing.T) *sql.DB) {
			f.tells = tells
			w := watch(t, p)
			var wg sync.WaitGroup
			for g := range 6 {
				db := open(t)
				random := rand.New(rand.NewPCG(uint64(g), 2))
				statement := func() string {
					return "INSERT " + []string{"0ms", "3ms", "abort", "rollback", "upgrade"}[random.IntN(5)]
				}
				wg.Go(func() {
					for range 100 {
						ctx := labelled(fmt.Sprint("m", g%3))
						switch random.IntN(3) {
						case 0:
							db.ExecContext(ctx, statement())
						case 1:
							if tx, err := db.BeginTx(ctx, nil); err == nil {
								for range random.IntN(4) {
									tx.ExecContext(ctx, statement())
									time.Sleep(time.Duration(random.IntN(3)) * time.Millisecond)
								}
								tx.Commit()
							}
						case 2:
							if conn, err := db.Conn(ctx); err == nil {
								conn.ExecContext(ctx, "BEGIN IMMEDIATE")
								for range random.IntN(4) {
									conn.ExecContext(ctx, statement())
								}
								conn.ExecContext(ctx, "COMMIT")
								conn.Close()
							}
						}
					}
				})
			}
			wg.Wait()
			r := w.Close()
			waited, busy := total(r, "tidestaff.db.lock.wait.time"), total(r, "db.client.operation.duration")
			held, all := total(r, "tidestaff.db.lock.hold.duration"), r.Duration().Seconds()
			if waited <= 0 || waited > busy || held <= 0 || held > all+1e-6 {
				t.Errorf("tells %t: waited %v s of %v in the driver, held %v s of %v", tells, waited, busy, held, all)
			}
		})
	}
}
