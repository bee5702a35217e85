package budgets

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidestaff/tidestaff/cgroup"
	"github.com/tidestaff/tidestaff/fsstat/fsstattest"
	"github.com/tidestaff/tidestaff/lag"
	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/probe/probetest"
	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// TestGood: a method without a mistake keeps every budget.
func TestGood(t *testing.T) {
	s := open(t, 20)
	probetest.Within(t, probe.NewSet(s.sqlp, s.files), 3, s.as(t, "request", s.Joined),
		probetest.Exactly("queries/op", 1).In("request"), probetest.Exactly("queries/op", 0).In("background"),
		probetest.AtMost("rows/op", 4), probetest.AtMost("full-scans/op", 0),
		probetest.NoFullScans(), probetest.NoWrites(), probetest.NoDuplicates(), probetest.NoNPlusOne(),
		probetest.AtMost("cpu-ns/op", float64(time.Hour)))
}

// TestMistakes: each mistake is found by its budget and named.
func TestMistakes(t *testing.T) {
	s := open(t, 20)
	set := probe.NewSet(s.sqlp, s.files)
	for _, tt := range []struct {
		name    string
		op      func(context.Context) error
		budgets []probetest.Budget
		want    []string
	}{
		{"N+1", s.UsersOf, []probetest.Budget{probetest.AtMost("queries/op", 8), probetest.NoNPlusOne()}, []string{
			"queries/op = 21, want at most 8",
			"N+1: SELECT name FROM users WHERE id = ? by (*Store).UsersOf store_test.go:", " was executed 20 times in an operation",
			"    20x  SELECT name FROM users WHERE id = ?", "16 identical, N+1? 4 different arguments",
		}},
		{"scan", s.Names, []probetest.Budget{probetest.NoFullScans("users")}, []string{
			"full scan of users: 2x by (*Store).Names (request), want none",
			"1x  SELECT name FROM users  (*Store).Names  store_test.go:", "request  FULL SCAN",
		}},
		{"duplicates", s.Names, []probetest.Budget{probetest.NoDuplicates()}, []string{
			"repeated 1x with the same arguments: SELECT name FROM users by (*Store).Names store_test.go:"}},
		{"arguments", s.UsersOf, []probetest.Budget{probetest.NoDuplicates()}, []string{
			"repeated 16x with the same arguments: SELECT name FROM users WHERE id = ? by (*Store).UsersOf store_test.go:"}},
		{"different arguments", s.EachUser, []probetest.Budget{probetest.NoDuplicates()}, nil},
		{"write", s.Touch, []probetest.Budget{probetest.NoWrites()}, []string{
			"rows changed 1x by (*Store).Touch (request), want never", "write lock held 1x by (*Store).Touch (request), want never"}},
		{"file", s.Config, []probetest.Budget{probetest.NoFileReads()}, []string{"fs-reads/op = ", "fs-read-bytes/op = 10, want 0", "config  open 1, read "}},
		{"allowed", s.Names, []probetest.Budget{probetest.NoDuplicates("FROM users"), probetest.NoFullScans("jobs"), probetest.NoWrites()}, nil},
		{"another role", s.Touch, []probetest.Budget{probetest.NoWrites().In("background"), probetest.NoFullScans().In("background")}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := &judged{TB: t}
			probetest.Within(j, set, 1, s.as(t, "request", tt.op), tt.budgets...)
			j.want(t, tt.want...)
			if strings.Contains(strings.Join(j.errors, ""), "'open'") {
				t.Errorf("a literal is in %q", j.errors)
			}
		})
	}
}

// TestTextsOnly: without the arguments there is no saying what was asked again.
func TestTextsOnly(t *testing.T) {
	s := openWith(t, 20, sqlitetrace.New(sqlitetrace.Options{Slow: 1}))
	j := &judged{TB: t}
	probetest.Within(j, s.sqlp, 1, s.as(t, "request", s.UsersOf), probetest.NoNPlusOne(), probetest.NoDuplicates())
	j.want(t, "N+1: SELECT name FROM users WHERE id = ? by (*Store).UsersOf was executed 20 times in an operation",
		"duplicates: no data: 20x SELECT name FROM users WHERE id = ? by (*Store).UsersOf, and nothing tells")
	j = &judged{TB: t}
	probetest.Within(j, s.sqlp, 1, s.as(t, "request", s.Names), probetest.NoDuplicates())
	j.want(t, "repeated 1x with the same arguments: SELECT name FROM users by (*Store).Names, want never",
		"2x  SELECT name FROM users  (*Store).Names  request", "1 identical")
}

// TestBeyond: statements that are not kept apart are no data.
func TestBeyond(t *testing.T) {
	s := openWith(t, 20, sqlitetrace.New(sqlitetrace.Options{Statements: 3}))
	j := &judged{TB: t}
	probetest.Within(j, s.sqlp, 1, s.as(t, "request", s.UsersOf), probetest.Exactly("queries/op", 21), probetest.NoDuplicates())
	j.want(t, "duplicates: no data: 10 statements are beyond what is kept apart: with sqlitetrace, Options.Statements")
}

// TestNoData: a probe that is not wired up keeps no budget.
func TestNoData(t *testing.T) {
	s := open(t, 5)
	idle := sqlitetrace.New(sqlitetrace.Options{})
	j := &judged{TB: t}
	probetest.Within(j, idle, 1, s.as(t, "request", s.Joined),
		probetest.AtMost("queries/op", 8), probetest.NoFullScans(), probetest.NoWrites(), probetest.NoDuplicates(), probetest.NoNPlusOne())
	j.want(t, "5 of 5 budgets are broken", "queries/op: no data", "full scans: no data", "writes: no data", "duplicates: no data", "N+1: no data")

	// Without plans or texts only counts are known.
	plain := sqlitetrace.New(sqlitetrace.Options{})
	db, err := plain.Open("sqlite", s.dir+"/jobs.db")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s.db = db
	j = &judged{TB: t}
	probetest.Within(j, plain, 1, s.as(t, "request", s.Joined), probetest.Exactly("queries/op", 1), probetest.NoWrites(),
		probetest.NoFullScans(), probetest.NoDuplicates())
	j.want(t, "2 of 4 budgets are broken", "full scans: no data", "duplicates: no data: the texts of 0 of 1 statements are known", "1x  (*Store).Joined  request")

	// And nothing executed is zero, since a database is open.
	probetest.Within(t, plain, 1, func() {}, probetest.Exactly("queries/op", 0), probetest.NoWrites())
}

// TestReadsAround: what package os opened beside the probe is named.
func TestReadsAround(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only on Linux is there a log of opened files")
	}
	s := open(t, 5)
	budget := probetest.NoReadsAround(func(do func()) (map[string]int64, error) {
		gap, err := fsstattest.Around(s.files, do)
		return gap.Paths, err
	})
	probetest.Within(t, s.files, 2, s.as(t, "request", s.Config), budget, probetest.Exactly("fs-read-bytes/op", 10))
	j := &judged{TB: t}
	probetest.Within(j, s.files, 2, s.as(t, "request", s.Bypass), budget)
	j.want(t, "opened around the probe 2x: "+s.dir+"/config, want never")
}

func TestSameAt(t *testing.T) {
	sqlp := sqlitetrace.New(sqlitetrace.Options{Statements: 10_000})
	at := func(t2 testing.TB, f func(*Store, context.Context) error) func(n int) func() {
		return func(n int) func() {
			s := openWith(t, n, sqlp)
			return s.as(t2, "request", func(ctx context.Context) error { return f(s, ctx) })
		}
	}
	probetest.SameAt(t, sqlp, []int{1, 10, 100}, at(t, (*Store).Joined))
	j := &judged{TB: t}
	probetest.SameAt(j, sqlp, []int{1, 10, 100}, at(j, (*Store).UsersOf), "queries/op", "rows/op")
	j.want(t, "queries/op depends on the size: 2 at 1, 11 at 10, 101 at 100",
		"1, 10, 100x  SELECT name FROM users WHERE id = ?  (*Store).UsersOf  store_test.go:", "rows/op depends on the size: 2 at 1, 20 at 10, 200 at 100")
}

// TestSnapshot compares with a committed file; go test -update writes it.
func TestSnapshot(t *testing.T) {
	s := open(t, 10)
	probetest.Snapshot(t, s.sqlp, "testdata/users.sql.txt", func() {
		s.as(t, "request", s.UsersOf)()
		s.as(t, "request", s.Names)()
		s.as(t, "background:touch", s.Touch)()
	})
}

// TestLag: a percentile within its bound passes on any machine; one over it fails
// on a quiet one and is otherwise not judged. It is never passed over.
func TestLag(t *testing.T) {
	lagp := lag.New(lag.Options{Interval: 5 * time.Millisecond})
	op := func() {
		for begin := time.Now(); time.Since(begin) < 700*time.Millisecond; {
			time.Sleep(time.Millisecond)
		}
	}
	j := &judged{TB: t}
	probetest.Within(j, lagp, 1, op, probetest.AtMost("p99-lag-ns", float64(time.Hour)), probetest.AtMost("p99-lag-ns", 1))
	if len(j.errors)+len(j.logs) != 1 {
		t.Errorf("errors %q, logs %q; want one of them", j.errors, j.logs)
	}
	j.want(t, j.errors...)

	few := &judged{TB: t}
	lagp = lag.New(lag.Options{}) // has a hundred slots in five seconds
	probetest.Within(few, lagp, 1, func() {}, probetest.AtMost("p99-lag-ns", float64(time.Hour)))
	few.want(t, "p99-lag-ns: no data: tidestaff.scheduler.lag.duration: ")
}

// TestFakeClock: in a bubble of testing/synctest lag would be zero, which is no data.
func TestFakeClock(t *testing.T) {
	lagp := lag.New(lag.Options{Interval: 5 * time.Millisecond})
	j := &judged{TB: t}
	synctest.Test(t, func(*testing.T) {
		probetest.Within(j, lagp, 1, func() { time.Sleep(10 * time.Second) }, probetest.AtMost("p99-lag-ns", float64(time.Hour)))
	})
	j.want(t, "p99-lag-ns: no data: tidestaff.scheduler.lag.duration: ", "synctest")
}

// TestPeak: the peak of a window is judged, exact where the kernel allows it.
func TestPeak(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux keeps the peak of the resident set")
	}
	mem := cgroup.New(cgroup.Options{})
	op := func() {
		b := make([]byte, 64<<20)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		runtime.KeepAlive(b)
	}
	j := &judged{TB: t}
	probetest.Within(j, mem, 1, op, probetest.AtMost("peak-RSS-bytes", 1<<40), probetest.AtMost("peak-RSS-bytes", 64<<20))
	j.want(t, "1 of 2 budgets are broken:\n  peak-RSS-bytes = ", ", want at most 67,108,864")
}
