package sqlitetrace_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// inFile runs a test in a bubble, with a probe and a function that opens the
// file once more, with one connection.
func inFile(t *testing.T, timeout time.Duration, run func(*testing.T, *lockFile, *sqlitetrace.Probe, func(*testing.T) *sql.DB)) {
	synctest.Test(t, func(t *testing.T) {
		f := &lockFile{timeout: timeout}
		p := sqlitetrace.New(sqlitetrace.Options{DBKey: func(string) string { return "file" }})
		run(t, f, p, func(t *testing.T) *sql.DB {
			db := p.OpenDB(f)
			db.SetMaxOpenConns(1)
			t.Cleanup(func() { db.Close() })
			if err := db.Ping(); err != nil {
				t.Fatal(err)
			}
			return db
		})
		if err := p.AtRest(); err != nil {
			t.Error(err)
		}
	})
}

// ms lists a metric in milliseconds by method, and by holder where there is one.
func ms(r *probe.Reading, name string) map[string]float64 {
	got := map[string]float64{}
	for m := range r.Find(name) {
		key := m.Attr(probe.AttrMethod)
		if h := m.Attr(sqlitetrace.AttrHolder); h != "" {
			key += " for " + h
		}
		got[key] += m.Value * 1000
	}
	return got
}

var roughly = cmpopts.EquateApprox(0, 1e-3)

// wantMS compares metrics with what they should be, in milliseconds.
func wantMS(t *testing.T, r *probe.Reading, want map[string]map[string]float64) {
	t.Helper()
	for name, w := range want {
		if diff := cmp.Diff(w, ms(r, name), roughly, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s in ms (-want +got):\n%s", name, diff)
		}
	}
}

// hold begins a transaction that writes at once and is committed after d.
func hold(db *sql.DB, method string, d time.Duration) {
	tx, err := db.BeginTx(labelled(method), nil)
	if err != nil {
		panic(err)
	}
	tx.ExecContext(labelled("Insert"), "INSERT 2ms")
	time.Sleep(d - 2*time.Millisecond)
	tx.Commit() // 2 ms more
}

// TestLedger has one method hold the lock for 240 ms, others wait from the
// 10th on.
func TestLedger(t *testing.T) {
	const (
		holds  = "tidestaff.db.lock.hold.duration"
		waits  = "tidestaff.db.lock.wait.time"
		polls  = "tidestaff.db.lock.poll.time"
		others = "tidestaff.db.others.wait.time"
	)
	type ms = map[string]float64
	for _, tc := range []struct {
		name    string
		timeout time.Duration
		wait    func(db *sql.DB)
		want    map[string]ms
	}{
		// It tries at 10, 11, 13, 18, ... 238 and 338 ms.
		{"begin immediate", 0, func(db *sql.DB) {
			conn, _ := db.Conn(context.Background())
			defer conn.Close()
			conn.ExecContext(labelled("wait"), "BEGIN IMMEDIATE")
			time.Sleep(5 * time.Millisecond)
			conn.ExecContext(labelled("wait"), "COMMIT")
		}, map[string]ms{
			holds: {"hold": 240, "wait": 7}, waits: {"wait for hold": 328}, polls: {"wait for hold": 98}, others: {"hold": 328},
		}},
		{"autocommit", 0, func(db *sql.DB) { db.ExecContext(labelled("wait"), "INSERT 3ms") }, map[string]ms{
			holds: {"hold": 240, "wait": 3}, waits: {"wait for hold": 328}, polls: {"wait for hold": 98}, others: {"hold": 328},
		}},
		{"returning", 0, func(db *sql.DB) { read(t, db, labelled("wait"), "INSERT 3ms") }, map[string]ms{
			holds: {"hold": 240, "wait": 3}, waits: {"wait for hold": 328}, polls: {"wait for hold": 98}, others: {"hold": 328},
		}},
		{"prepared, in a transaction", 0, func(db *sql.DB) {
			tx, _ := db.BeginTx(labelled("wait"), nil)
			stmt, _ := tx.PrepareContext(labelled("wait"), "INSERT 3ms")
			stmt.ExecContext(labelled("Insert"))
			tx.Rollback()
		}, map[string]ms{
			holds: {"hold": 240, "wait": 3}, waits: {"Insert for hold": 328}, polls: {"Insert for hold": 98}, others: {"hold": 328},
		}},
		{"busy", 100 * time.Millisecond, func(db *sql.DB) { db.ExecContext(labelled("wait"), "INSERT 3ms") }, map[string]ms{
			holds: {"hold": 240}, waits: {"wait for hold": 100}, polls: {"wait for hold": 0}, others: {"hold": 100},
		}},
		{"upgrade", 0, func(db *sql.DB) { db.ExecContext(labelled("wait"), "INSERT upgrade") }, map[string]ms{
			holds: {"hold": 240}, waits: {}, polls: {}, others: {},
		}},
		{"reader", 0, func(db *sql.DB) { db.ExecContext(labelled("wait"), "SELECT 300ms") }, map[string]ms{
			holds: {"hold": 240}, waits: {}, polls: {}, others: {},
		}},
		{"connection closed while it holds", 0, func(db *sql.DB) {
			conn, _ := db.Conn(context.Background())
			conn.ExecContext(labelled("wait"), "BEGIN IMMEDIATE")
			time.Sleep(5 * time.Millisecond)
			conn.Raw(func(any) error { return driver.ErrBadConn })
		}, map[string]ms{
			holds: {"hold": 240, "wait": 5}, waits: {"wait for hold": 328}, polls: {"wait for hold": 98}, others: {"hold": 328},
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inFile(t, tc.timeout, func(t *testing.T, _ *lockFile, p *sqlitetrace.Probe, open func(*testing.T) *sql.DB) {
				w := watch(t, p)
				holder, waiter := open(t), open(t)
				go hold(holder, "hold", 238*time.Millisecond)
				time.Sleep(10 * time.Millisecond)
				tc.wait(waiter)
				time.Sleep(time.Second)
				wantMS(t, w.Close(), tc.want)
			})
		})
	}
}

// TestLedgerTurns has one wait for two holders in turn.
func TestLedgerTurns(t *testing.T) {
	inFile(t, 0, func(t *testing.T, _ *lockFile, p *sqlitetrace.Probe, open func(*testing.T) *sql.DB) {
		w := watch(t, p)
		a, b, c := open(t), open(t), open(t)
		go hold(a, "first", 28*time.Millisecond) // until 30 ms
		time.Sleep(time.Millisecond)
		go func() { // tries at 1, 2, 4, 9, 19, 34, 54, ... and holds from 34 to 64
			c.ExecContext(labelled("third"), "INSERT 30ms")
		}()
		time.Sleep(30500*time.Microsecond - time.Millisecond)
		hold(b, "second", 1500*time.Microsecond) // 30.5 to 34.5: it comes before
		time.Sleep(time.Second)
		r := w.Close()
		// The third tries at 34 in vain, and at 54.
		wantMS(t, r, map[string]map[string]float64{
			"tidestaff.db.lock.hold.duration": {"first": 30, "second": 4, "third": 30},
			"tidestaff.db.lock.wait.time":     {"third for first": 29, "third for second": 24},
			"tidestaff.db.lock.poll.time":     {"third for first": 0, "third for second": 20},
		})
	})
}

// TestLedgerOutside has somebody hold the lock whom the probe does not see.
func TestLedgerOutside(t *testing.T) {
	inFile(t, 0, func(t *testing.T, f *lockFile, p *sqlitetrace.Probe, open func(*testing.T) *sql.DB) {
		w := watch(t, p)
		db := open(t)
		f.try()
		go func() {
			time.Sleep(20 * time.Millisecond)
			f.unlock()
		}()
		conn, _ := db.Conn(context.Background())
		conn.ExecContext(labelled("wait"), "BEGIN IMMEDIATE")
		conn.ExecContext(labelled("wait"), "COMMIT")
		conn.Close()
		wantMS(t, w.Close(), map[string]map[string]float64{
			"tidestaff.db.lock.wait.time":     {"wait for (external)": 33},
			"tidestaff.db.lock.hold.duration": {"wait": 2},
		})
	})
}

// TestLedgerLeak closes a connection under a cursor that may hold the lock; only
// who goes around database/sql can.
func TestLedgerLeak(t *testing.T) {
	inFile(t, 0, func(t *testing.T, f *lockFile, p *sqlitetrace.Probe, _ func(*testing.T) *sql.DB) {
		w := watch(t, p)
		for range 2 { // the first has it, the second waits
			c, err := p.Connector(f).Connect(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.(driver.QueryerContext).QueryContext(labelled("leak"), "INSERT 1ms", nil); err != nil {
				t.Fatal(err)
			}
			defer func() {
				c.Close()
			}()
		}
		if p.AtRest() == nil {
			t.Error("with two open cursors: got a ledger at rest")
		}
		if got := len(p.Held()); got != 2 {
			t.Errorf("held: got %d, want 2", got)
		}
		w.Close()
	})
}

// TestTransactionTimes takes a transaction apart.
func TestTransactionTimes(t *testing.T) {
	inFile(t, 0, func(t *testing.T, _ *lockFile, p *sqlitetrace.Probe, open func(*testing.T) *sql.DB) {
		w := watch(t, p)
		db := open(t)
		hold(db, "commit", 50*time.Millisecond)
		ctx, cancel := context.WithCancel(labelled("abandon"))
		if _, err := db.BeginTx(ctx, nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(7 * time.Millisecond)
		cancel()
		synctest.Wait()
		tx, _ := db.BeginTx(labelled("rollback"), nil)
		rows, _ := tx.QueryContext(labelled("rollback"), "SELECT 4ms")
		rows.Close()
		tx.Rollback()
		r := w.Close()
		got := map[string]float64{}
		for m := range r.Find("tidestaff.db.transaction.duration") {
			got[m.Attr(probe.AttrMethod)+" "+m.Attr(sqlitetrace.AttrOutcome)] = m.Value * 1000
		}
		for m := range r.Find("tidestaff.db.transaction.time") {
			got[m.Attr(probe.AttrMethod)+" "+m.Attr(sqlitetrace.AttrPhase)+" time"] = m.Value * 1000
		}
		want := map[string]float64{
			"commit commit": 52, "commit begin time": 0, "commit statements time": 2, "commit idle time": 48, "commit commit time": 2,
			"abandon abandoned": 7, "abandon begin time": 0, "abandon statements time": 0, "abandon idle time": 7, "abandon rollback time": 0,
			"rollback rollback": 4, "rollback begin time": 0, "rollback statements time": 4, "rollback idle time": 0, "rollback rollback time": 0,
		}
		if diff := cmp.Diff(want, got, roughly); diff != "" {
			t.Errorf("transactions in ms (-want +got):\n%s", diff)
		}
		if got := total(r, "tidestaff.db.transaction.statements"); got != 2 {
			t.Errorf("statements: got %v, want 2", got)
		}
	})
}

// TestBeginAndRollbackTimes has them take a while, each way to begin and to roll
// back. The hold begins when the begin has ended.
func TestBeginAndRollbackTimes(t *testing.T) {
	inFile(t, 0, func(t *testing.T, f *lockFile, p *sqlitetrace.Probe, open func(*testing.T) *sql.DB) {
		f.begins, f.rolls = 3*time.Millisecond, 5*time.Millisecond
		w := watch(t, p)
		db := open(t)
		hold(db, "commit", 10*time.Millisecond)
		tx, err := db.BeginTx(labelled("rollback"), nil)
		if err != nil {
			t.Fatal(err)
		}
		tx.ExecContext(labelled("rollback"), "INSERT 4ms")
		tx.Rollback()
		ctx, cancel := context.WithCancel(labelled("abandon"))
		if _, err := db.BeginTx(ctx, nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(7 * time.Millisecond)
		cancel()
		time.Sleep(f.rolls)
		synctest.Wait()
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, query := range []string{"BEGIN", "INSERT 1ms", "ROLLBACK"} {
			if _, err := conn.ExecContext(labelled("words"), query); err != nil {
				t.Error(err)
			}
		}
		conn.Close()
		r := w.Close()
		got := map[string]float64{}
		for m := range r.Find("tidestaff.db.transaction.duration") {
			got[m.Attr(probe.AttrMethod)+" "+m.Attr(sqlitetrace.AttrOutcome)] = m.Value * 1000
		}
		for m := range r.Find("tidestaff.db.transaction.time") {
			got[m.Attr(probe.AttrMethod)+" "+m.Attr(sqlitetrace.AttrPhase)+" time"] = m.Value * 1000
		}
		want := map[string]float64{
			"commit commit": 12, "commit begin time": 3, "commit statements time": 2, "commit idle time": 8, "commit commit time": 2,
			"rollback rollback": 9, "rollback begin time": 3, "rollback statements time": 4, "rollback idle time": 0, "rollback rollback time": 5,
			"abandon abandoned": 12, "abandon begin time": 3, "abandon statements time": 0, "abandon idle time": 7, "abandon rollback time": 5,
			"words rollback": 6, "words begin time": 3, "words statements time": 1, "words idle time": 0, "words rollback time": 5,
		}
		if diff := cmp.Diff(want, got, roughly); diff != "" {
			t.Errorf("transactions in ms (-want +got):\n%s", diff)
		}
	})
}

// TestTransactionUnwatched leaves transactions open when the last window is
// closed, and has the ledger forget them when they end.
func TestTransactionUnwatched(t *testing.T) {
	inFile(t, 0, func(t *testing.T, _ *lockFile, p *sqlitetrace.Probe, open func(*testing.T) *sql.DB) {
		for _, prepared := range []bool{false, true} {
			w := watch(t, p)
			db := open(t)
			conn, _ := db.Conn(context.Background())
			conn.ExecContext(labelled("text"), "BEGIN IMMEDIATE")
			w.Close()
			if prepared {
				stmt, _ := conn.PrepareContext(labelled("text"), "COMMIT")
				stmt.ExecContext(labelled("text"))
			} else {
				conn.ExecContext(labelled("text"), "COMMIT")
			}
			if err := p.AtRest(); err != nil {
				t.Errorf("after an unwatched COMMIT: %v", err)
			}
			conn.Close()

			w = watch(t, p)
			tx, _ := db.BeginTx(labelled("tx"), nil)
			tx.ExecContext(labelled("tx"), "INSERT")
			w.Close()
			tx.Commit()
		}
		w := watch(t, p)
		if got := total(w.Close(), "tidestaff.db.transaction.active"); got != 0 {
			t.Errorf("active transactions: got %v, want 0", got)
		}
	})
}

// TestLedgerConcurrent wants the books to balance whatever happens: no wait is
// charged for longer than the waiters were in the driver, and nobody is left on
// the ledger.
func TestLedgerConcurrent(t *testing.T) {
	inFile(t, 300*time.Millisecond, func(t *testing.T, _ *lockFile, p *sqlitetrace.Probe, open func(*testing.T) *sql.DB) {
		w := watch(t, p)
		var wg sync.WaitGroup
		for g := range 6 {
			db := open(t)
			wg.Go(func() {
				random := rand.New(rand.NewPCG(uint64(g), 1))
				for range 60 {
					ctx := labelled(fmt.Sprint("m", random.IntN(3)))
					query := fmt.Sprintf("INSERT %dms", random.IntN(8))
					switch random.IntN(4) {
					case 0:
						db.ExecContext(ctx, query)
					case 1:
						read(t, db, ctx, query)
					case 2:
						if tx, err := db.BeginTx(ctx, nil); err == nil {
							tx.ExecContext(ctx, query)
							time.Sleep(time.Duration(random.IntN(10)) * time.Millisecond)
							tx.ExecContext(ctx, query)
							tx.Commit()
						}
					case 3:
						if conn, err := db.Conn(ctx); err == nil {
							if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err == nil {
								conn.ExecContext(ctx, query)
								conn.ExecContext(ctx, "COMMIT")
							}
							conn.Close()
						}
					}
				}
			})
		}
		wg.Wait()
		r := w.Close()
		waited, polled, held := total(r, "tidestaff.db.lock.wait.time"), total(r, "tidestaff.db.lock.poll.time"), total(r, "tidestaff.db.lock.hold.duration")
		busy, end := total(r, "db.client.operation.duration"), r.Duration().Seconds()
		if waited <= 0 || waited > busy || polled > waited || held > end+1e-6 {
			t.Errorf("waited %v s, of which polled %v; held %v s; in the driver %v s, for %v s", waited, polled, held, busy, end)
		}
		for m := range r.Find("tidestaff.db.lock.wait.time") {
			if strings.HasPrefix(m.Attr(sqlitetrace.AttrHolder), "(") && m.Value > 0.02*waited {
				t.Errorf("waits for nobody known: got %v s of %v", m.Value, waited)
			}
		}
		if others := total(r, "tidestaff.db.others.wait.time"); math.Abs(others-waited) > 0.02*waited {
			t.Errorf("others waited: got %v s, want all of %v", others, waited)
		}
	})
}

// TestLedgerForgets has 390 short holds pass by one that waits, and wants those
// that the ledger has no room for to be neither polling nor the last holder's.
func TestLedgerForgets(t *testing.T) {
	inFile(t, 0, func(t *testing.T, _ *lockFile, p *sqlitetrace.Probe, open func(*testing.T) *sql.DB) {
		w, writer, waiter := watch(t, p), open(t), open(t)
		var wg sync.WaitGroup
		wg.Go(func() {
			for range 400 {
				writer.ExecContext(labelled("write"), "INSERT 900us")
				time.Sleep(100 * time.Microsecond)
			}
		})
		// It tries in the middle of holds, last at 338.5, and at 438.5 ms.
		time.Sleep(10500 * time.Microsecond)
		waiter.ExecContext(labelled("wait"), "INSERT 3ms")
		wg.Wait()
		// The holds from 144 ms on are known.
		wantMS(t, w.Close(), map[string]map[string]float64{
			"tidestaff.db.lock.wait.time":     {"wait for (other)": 133.4, "wait for write": 294.6},
			"tidestaff.db.lock.poll.time":     {"wait for (other)": 0, "wait for write": 64.2},
			"tidestaff.db.others.wait.time":   {"(other)": 133.4, "write": 294.6},
			"tidestaff.db.lock.hold.duration": {"write": 360, "wait": 3},
		})
	})
}

// TestHoldPasses: somebody who has waited for a hold must find it at any time.
func TestHoldPasses(t *testing.T) {
	if sqlitetrace.PassesUnseen() {
		t.Error("a hold that has ended is nowhere for a while")
	}
}
