package wrappers

import (
	"database/sql/driver"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/tidestaff/tidestaff/internal/peers/cputime"
)

const rounds = 3

// TestSameWork shows that all of them do the work that is compared: the program
// gets the same from each operation as through the bare driver, and the same
// calls reach the instant driver, or the same is left in the real database.
func TestSameWork(t *testing.T) {
	for _, on := range targets() {
		var bare string
		for _, by := range wrappersOf(on) {
			t.Run(on.name+"/"+by.name, func(t *testing.T) {
				got := work(t, on, by)
				if by.name == "bare" {
					bare = got
				}
				if got != bare {
					t.Errorf("got %s, want the bare driver's %s", got, bare)
				}
			})
		}
		if want := wantWork(on); bare != want {
			t.Errorf("%s, bare: got %s, want %s", on.name, bare, want)
		}
	}
}

// work runs each operation and describes what has come of it.
func work(t *testing.T, on target, by wrapper) string {
	var d driver.Driver
	db, s := open(t, target{on.name, on.dsn, func() (_ driver.Driver, err error) {
		d, err = on.driver()
		return d, err
	}}, by)
	for range rounds {
		for name, op := range operationsByName {
			if got, err := op.run(s, db.ctx); err != nil || got != op.want {
				t.Errorf("%s: got %d and error %v, want %d", name, got, err, op.want)
			}
		}
	}
	if d, ok := d.(*instant); ok {
		return fmt.Sprintf("%+v", d.counts)
	}
	var rows, runs int
	if err := db.QueryRowContext(db.ctx, "SELECT count(*), sum(runs) FROM job").Scan(&rows, &runs); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d jobs, %d runs", rows, runs)
}

func wantWork(on target) string {
	if on.name != "fake" {
		return fmt.Sprintf("%d jobs, %d runs", jobs, 2*rounds)
	}
	return fmt.Sprintf("%+v", counts{
		prepares: 1,
		execs:    1 + jobs + 2*rounds, // the table and its rows, then the two that execute
		queries:  2 * rounds,
		rows:     rounds * (1 + jobs),
		closes:   2 * rounds,
		begins:   rounds,
		commits:  rounds,
	})
}

var operationsByName = map[string]operation{
	"Exec": opExec, "QueryRow": opQueryRow, "Query100": opQuery100, "StmtExec": opStmtExec, "BeginCommit": opCommit,
}

// keepNoNumbers are the wrappers that measure nothing.
var keepNoNumbers = map[string]bool{"bare": true, "tidestaff-unwatched": true, "xsam-noop": true, "sqlmw": true}

// leastCalls is the least number of durations that rounds of an operation leave.
// uptrace times the calls that have a statement's text, which begin and commit
// have not.
func leastCalls(by wrapper, operation string) uint64 {
	if by.name == "uptrace" && operation == "BeginCommit" {
		return 0
	}
	return rounds
}

// TestNumbersAreKept shows that the wrappers that keep numbers do so for each
// operation: one that was set up wrongly would be cheap for nothing. Some record
// more than one duration per operation, such as the reset of the session.
func TestNumbersAreKept(t *testing.T) {
	for _, on := range targets() {
		for _, by := range wrappersOf(on) {
			t.Run(on.name+"/"+by.name, func(t *testing.T) {
				db, s := open(t, on, by)
				if (db.calls == nil) != keepNoNumbers[by.name] {
					t.Fatalf("keeps numbers: got %t, want %t", db.calls != nil, !keepNoNumbers[by.name])
				}
				if db.calls == nil {
					return
				}
				for name, op := range operationsByName {
					before := callsOf(t, db)
					for range rounds {
						if _, err := op.run(s, db.ctx); err != nil {
							t.Fatal(err)
						}
					}
					n := callsOf(t, db) - before
					if n < leastCalls(by, name) || strings.HasPrefix(by.name, "tidestaff") && name != "BeginCommit" && n != rounds {
						t.Errorf("%s: got %d durations for %d operations", name, n, rounds)
					}
				}
			})
		}
	}
}

func callsOf(t *testing.T, db *database) uint64 {
	t.Helper()
	n, err := db.calls()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestNoGoroutineIsLeft runs each in a bubble, which does not end before its
// goroutines do, and fails if one of them waits for what never comes.
func TestNoGoroutineIsLeft(t *testing.T) {
	for _, on := range targets() {
		for _, by := range wrappersOf(on) {
			t.Run(on.name+"/"+by.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { work(t, on, by) })
			})
		}
	}
}

// TestAttribution shows that the wrapped databases differ in what finds the
// caller, and in nothing else: the label of the context, or the call chain.
func TestAttribution(t *testing.T) {
	for name, want := range map[string]string{"tidestaff": "(*Store).Labelled", "tidestaff-auto": "(*Store).Run"} {
		t.Run(name, func(t *testing.T) {
			for _, by := range wrappers {
				if by.name != name {
					continue
				}
				db, s := open(t, targets()[0], by)
				if _, err := opExec.run(s, db.ctx); err != nil {
					t.Fatal(err)
				}
				if got := db.methods(); got[want] == 0 {
					t.Errorf("got methods %v, want %s among them", got, want)
				}
			}
		})
	}
}

// TestCPUTime shows that the clock of cpu-ns/op runs, where there is one.
func TestCPUTime(t *testing.T) {
	before, ok := cputime.Now()
	if !ok {
		t.Skip("no CPU time on this system")
	}
	for after := before; after <= before; {
		after, _ = cputime.Now()
	}
}
