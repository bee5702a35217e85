package probetest

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/probe"
)

// A judged is a test that a budget is about: it keeps what it is told.
type judged struct {
	testing.TB
	errors, logs []string
}

func (j *judged) Helper()                      {}
func (j *judged) Error(args ...any)            { j.errors = append(j.errors, fmt.Sprint(args...)) }
func (j *judged) Errorf(f string, args ...any) { j.errors = append(j.errors, fmt.Sprintf(f, args...)) }
func (j *judged) Logf(f string, args ...any)   { j.logs = append(j.logs, fmt.Sprintf(f, args...)) }

// database is a ledger of a database.
func database() *ledger {
	return newLedger(testQueries, testTime, testScans, testPlans, testStatements, testAffected, testHolds)
}

var (
	get    = query{text: "SELECT * FROM sandboxes WHERE id = ?", method: "(*Store).Get"}
	tokens = query{text: "SELECT * FROM tokens", method: "(*Store).Tokens", scans: "tokens"}
	tick   = query{text: "UPDATE leases SET at = ?", method: "(*Store).Tick", role: "background:lease"}
)

// hashed is q with arguments and a call site.
func hashed(q query, arguments int, site string) query {
	q.arguments, q.site = fmt.Sprint(arguments), site
	return q
}

func TestBudgets(t *testing.T) {
	queries := func(n int, q query) func(*ledger) { return func(l *ledger) { l.run(n, q) } }
	for _, tt := range []struct {
		name   string
		budget Budget
		op     func(*ledger)
		want   string // of the one error; "" for none
	}{
		{"zero", Budget{}, queries(9, tokens), ""},
		{"at most", AtMost("queries/op", 3), queries(3, get), ""},
		{"more", AtMost("queries/op", 3), queries(4, get), "queries/op = 4, want at most 3"},
		{"exactly", Exactly("queries/op", 3), queries(3, get), ""},
		{"fewer than exactly", Exactly("queries/op", 3), queries(2, get), "queries/op = 2, want 3"},
		{"exactly a time", Exactly("cpu-ns/op", 3), queries(2, get), "cpu-ns/op is not a count that repeats exactly"},
		{"no such unit", AtMost("querys/op", 3), queries(2, get), `no probe here has the unit "querys/op"; they have `},
		{"no data", AtMost("queries/op", 3), func(*ledger) {}, "queries/op: no data: tidestaff.db.queries: nothing went through the probe"},
		{"no lag", AtMost("p99-latency-ns", 1e12), queries(1, get), "p99-latency-ns: no data: tidestaff.benchmark.latency: 1 values, and a p99 needs 100"},
		{"in a role", AtMost("queries/op", 2).In("request"), func(l *ledger) { l.run(2, get); l.run(5, tick) }, ""},
		{"too many in a role", AtMost("queries/op", 1).In("request"), func(l *ledger) { l.run(2, get); l.run(5, tick) }, "queries/op in role request = 2, want at most 1"},
		{"none in a role is zero", Exactly("queries/op", 0).In("cron"), queries(2, get), ""},
		{"without a role", AtMost("cpu-ns/op", 1e12).In("request"), queries(2, get), "cpu-ns/op in role request: no data: it is not told apart by role"},

		{"no scan", NoFullScans(), queries(2, get), ""},
		{"scan", NoFullScans(), queries(2, tokens), "full scan of tokens: 2x by (*Store).Tokens (request), want none"},
		{"scan of another table", NoFullScans("users"), queries(2, tokens), ""},
		{"scan of that table", NoFullScans("users", "TOKENS"), queries(2, tokens), "full scan of tokens"},
		{"scan in another role", NoFullScans().In("background"), queries(2, tokens), ""},
		{"no plans", NoFullScans(), func(l *ledger) { l.query(1) }, "full scans: no data: no statement's plan was looked at"},

		{"no writes", NoWrites(), queries(1, get), ""},
		{"writes", NoWrites(), func(l *ledger) {
			l.run(1, tick)
			l.Recorder(testAffected, probe.Attr{Key: probe.AttrMethod, Value: "(*Store).Tick"}, probe.Attr{Key: probe.AttrRole, Value: "cron"}).Record(0)
		}, "rows changed 1x by (*Store).Tick (cron), want never"},
		{"holds", NoWrites(), func(l *ledger) {
			l.run(1, tick)
			l.Recorder(testHolds, probe.Attr{Key: probe.AttrMethod, Value: "(*Store).Tick"}, probe.Attr{Key: probe.AttrRole, Value: "cron"}).Record(10)
		}, "write lock held 1x by (*Store).Tick (cron), want never"},
		{"writes in another role", NoWrites().In("request"), func(l *ledger) {
			l.run(1, tick)
			l.Recorder(testHolds, probe.Attr{Key: probe.AttrMethod, Value: "(*Store).Tick"}, probe.Attr{Key: probe.AttrRole, Value: "cron"}).Record(10)
		}, ""},
		{"writes of nothing", NoWrites(), func(*ledger) {}, "writes: no data"},

		{"no duplicates", NoDuplicates(), func(l *ledger) { l.run(1, get); l.run(1, tokens) }, ""},
		{"duplicate text without parameters", NoDuplicates(), queries(3, tokens), "repeated 2x with the same arguments: SELECT * FROM tokens by (*Store).Tokens, want never"},
		{"allowed duplicate", NoDuplicates("FROM tokens"), queries(3, tokens), ""},
		{"arguments not known", NoDuplicates(), queries(2, get), "duplicates: no data: 2x SELECT * FROM sandboxes WHERE id = ? by (*Store).Get, and nothing tells their arguments apart"},
		{"other arguments", NoDuplicates(), func(l *ledger) { l.run(1, hashed(get, 1, "")); l.run(1, hashed(get, 2, "")) }, ""},
		{"same arguments", NoDuplicates(), func(l *ledger) { l.run(2, hashed(get, 1, "a.go:1")); l.run(1, hashed(get, 2, "a.go:1")) }, "repeated 1x with the same arguments: SELECT * FROM sandboxes WHERE id = ? by (*Store).Get a.go:1"},
		{"duplicates in another role", NoDuplicates().In("request"), queries(3, tick), ""},
		{"events that were too few", NoDuplicates(), func(l *ledger) { l.run(1, tokens); l.query(5) }, "duplicates: no data: the texts of 1 of 6 statements are known"},
		{"more events than are kept", NoDuplicates(), queries(300, tokens), "duplicates: no data: the texts of 256 of 300 statements are known"},

		{"twice is not N+1", NoNPlusOne(), queries(2, get), ""},
		{"N+1", NoNPlusOne(), queries(3, get), "N+1: SELECT * FROM sandboxes WHERE id = ? by (*Store).Get was executed 3 times in an operation, want at most 2"},
		{"allowed N+1", NoNPlusOne("WHERE id"), queries(3, get), ""},
		{"two places", NoNPlusOne(), func(l *ledger) { l.run(2, hashed(get, 1, "a.go:1")); l.run(2, hashed(get, 1, "a.go:2")) }, ""},
		{"N+1 of no data", NoNPlusOne(), func(*ledger) {}, "N+1: no data"},

		{"around, not known", NoReadsAround(nil), queries(1, get), "reads around the probe: no data: no probe here tells what it did not see"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := database()
			j := &judged{TB: t}
			Within(j, l, 1, func() { tt.op(l) }, tt.budget)
			got := strings.Join(j.errors, "\n")
			if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestFileBudgets(t *testing.T) {
	attr := func(k, v string) probe.Attr { return probe.Attr{Key: k, Value: v} }
	files := func(l *ledger) *ledger {
		l.Counter(testOps, attr("tidestaff.file.operation", "open")).Add(1)
		l.Counter(testBytes, attr("disk.io.direction", "write")).Add(1)
		return l
	}
	around := func(paths map[string]int64, err error) func(func()) (map[string]int64, error) {
		return func(do func()) (map[string]int64, error) {
			do()
			return paths, err
		}
	}
	for _, tt := range []struct {
		name   string
		budget Budget
		op     func(*ledger)
		want   string
	}{
		{"no reads", NoFileReads(), func(*ledger) {}, ""},
		{"reads", NoFileReads(), func(l *ledger) { l.Counter(testOps, attr("tidestaff.file.operation", "read")).Add(2) }, "fs-reads/op = 2, want 0"},
		{"copies by the kernel", NoFileReads(), func(l *ledger) { l.Counter(testBytes, attr("disk.io.direction", "read")).Add(4096) }, "fs-read-bytes/op = 4,096, want 0"},
		{"none around", NoReadsAround(around(nil, nil)), func(*ledger) {}, ""},
		{"around", NoReadsAround(around(map[string]int64{"config/a": 1, "z": 3}, nil)), func(*ledger) {}, "opened around the probe 3x: z, want never\n  opened around the probe 1x: config/a, want never"},
		{"around, not known", NoReadsAround(around(nil, errors.New("no log"))), func(*ledger) {}, "reads around the probe: no data: no log"},
		{"bytes around", NoReadsAround(nil), func(l *ledger) {
			l.Counter(testBytes, attr("disk.io.direction", "read")).Add(1000)
			l.Counter(testProcessIO, attr("disk.io.direction", "read")).Add(5096)
		}, "reads around the probe: no data: up to 4,096 bytes, and nothing tells files from sockets"},
		{"no bytes around", NoReadsAround(nil), func(l *ledger) {
			l.Counter(testBytes, attr("disk.io.direction", "read")).Add(1000)
			l.Counter(testProcessIO, attr("disk.io.direction", "read")).Add(1000)
			l.Counter(testProcessIO, attr("disk.io.direction", "write")).Add(9000)
		}, ""},
		{"told around", NoReadsAround(nil), func(l *ledger) {
			l.Counter(testAround, attr("tidestaff.file.path", "/a")).Add(2)
			l.Counter(testAround, attr("tidestaff.file.path", "/b")).Add(0)
			l.Counter(testProcessIO, attr("disk.io.direction", "read")).Add(1000)
		}, "opened around the probe 2x: /a, want never"},
		{"none told around", NoReadsAround(nil), func(l *ledger) {
			l.Counter(testAround, attr("tidestaff.file.path", "/a")).Add(0)
			l.Counter(testProcessIO, attr("disk.io.direction", "read")).Add(1000)
		}, "reads around the probe: no data: up to 1,000 bytes"},
		{"only written", NoReadsAround(nil), func(l *ledger) { l.Counter(testProcessIO, attr("disk.io.direction", "write")).Add(9000) }, "no data: no probe here tells"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := files(newLedger(testOps, testBytes, testProcessIO, testAround))
			j := &judged{TB: t}
			Within(j, l, 1, func() { tt.op(l) }, tt.budget)
			got := strings.Join(j.errors, "\n")
			if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// trialOf is a trial over a reading that is made up.
func trialOf(n int, r *probe.Reading, beside noise, descs ...*probe.Desc) *trial {
	return &trial{reading: r, n: n, units: unitsOf(descs), noise: func() noise { return beside }}
}

// TestNoisy: a time over its bound fails on a quiet machine only; within its bound
// it passes on any.
func TestNoisy(t *testing.T) {
	slow := &probe.Reading{Metrics: []probe.Metric{{Desc: testCPU, Value: 3e-6}}} // 3 µs
	for _, tt := range []struct {
		name  string
		noise noise
		bound float64
		want  verdict
		text  string
	}{
		{"quiet", noise{others: 0.02}, 2000, exceeded, "cpu-ns/op = 3,000, want at most 2,000 (on a quiet machine: others used 2 % of the CPUs, 0 % was stolen)"},
		{"others", noise{others: 0.84}, 2000, unjudged, "cpu-ns/op = 3,000, want at most 2,000: not judged: the machine was noisy: others used 84 % of the CPUs, 0 % was stolen"},
		{"stolen", noise{steal: 0.1}, 2000, unjudged, "10 % was stolen"},
		{"throttled", noise{throttled: 3}, 2000, unjudged, "not judged: the process ran out of its CPU quota in 3 periods"},
		{"not known", noise{err: errors.New("no /proc")}, 2000, unjudged, "not judged: the noise of the machine is not known: no /proc"},
		{"within the bound", noise{others: 0.84}, 3000, 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found := trialOf(1, slow, tt.noise, testCPU).judge([]Budget{AtMost("cpu-ns/op", tt.bound)})
			switch {
			case tt.want == 0 && len(found) != 0, tt.want != 0 && len(found) != 1:
				t.Fatalf("got %v", found)
			case tt.want != 0 && (found[0].verdict != tt.want || !strings.Contains(found[0].text, tt.text)):
				t.Errorf("got %+v, want %q", found[0], tt.text)
			}
		})
	}
}

// TestPeakBounds: a peak of which only an upper bound is known can pass, but not
// fail; one that was sampled is at least what it says, and can fail.
func TestPeakBounds(t *testing.T) {
	for how, want := range map[probe.How]verdict{probe.Exact: exceeded, probe.Sampled: exceeded, probe.AtMost: unjudged} {
		r := &probe.Reading{Metrics: []probe.Metric{{Desc: testPeak, Value: 300, Prov: probe.Provenance{How: how}}}}
		tr := trialOf(1, r, noise{others: 1}, testPeak)
		if found := tr.judge([]Budget{AtMost("peak-RSS-bytes", 200)}); len(found) != 1 || found[0].verdict != want {
			t.Errorf("%v: got %+v, want verdict %v", how, found, want)
		}
		if found := tr.judge([]Budget{AtMost("peak-RSS-bytes", 300)}); len(found) != 0 {
			t.Errorf("%v: got %+v of a peak within its bound", how, found)
		}
	}
}

// TestUnjudged: what could not be judged is in the log, or an error if asked.
func TestUnjudged(t *testing.T) {
	l := newLedger(testPeak)
	peak := l.Peak(testPeak)
	run := func() *judged {
		j := &judged{TB: t}
		Within(j, l, 1, func() { peak.Measured(300, probe.Provenance{How: probe.AtMost}) }, AtMost("peak-RSS-bytes", 200))
		return j
	}
	if j := run(); len(j.errors) != 0 || len(j.logs) != 1 || !strings.Contains(j.logs[0], "only known to be no more") {
		t.Errorf("errors %q, logs %q; want one line in the log", j.errors, j.logs)
	}
	t.Setenv(strictVar, "1")
	if j := run(); len(j.errors) != 1 || len(j.logs) != 0 {
		t.Errorf("strict: errors %q, logs %q; want one error", j.errors, j.logs)
	}
}

// TestWithinRefuses: what cannot be measured is no success.
func TestWithinRefuses(t *testing.T) {
	broken := newLedger(testQueries)
	broken.Start = func() error { return errors.New("no permission") }
	for _, tt := range []struct {
		p    probe.Probe
		n    int
		want string
	}{{broken, 1, "no permission"}, {database(), 0, "0 operations, want at least 1"}} {
		j := &judged{TB: t}
		Within(j, tt.p, tt.n, func() {})
		if len(j.errors) != 1 || !strings.Contains(j.errors[0], tt.want) {
			t.Errorf("got %q, want %q", j.errors, tt.want)
		}
	}
}

// TestAllBudgets: one failure does not hide another, and there is one message.
func TestAllBudgets(t *testing.T) {
	l := database()
	j := &judged{TB: t}
	Within(j, l, 2, func() { l.run(3, tokens) }, AtMost("queries/op", 1), NoFullScans(), NoWrites(), NoDuplicates())
	if len(j.errors) != 1 || !strings.HasPrefix(j.errors[0], "3 of 4 budgets are broken:\n  queries/op = 3, want at most 1\n  full scan of tokens: 6x") {
		t.Errorf("got %q, want one message about three budgets", j.errors)
	}
}

// TestEndedByOp: an operation that ends the test leaves no window.
func TestEndedByOp(t *testing.T) {
	l := database()
	done := make(chan struct{})
	go func() {
		defer close(done)
		Within(&judged{TB: t}, l, 1, runtime.Goexit)
	}()
	<-done
	if l.Watched() || open.Load() != 0 {
		t.Errorf("watched: %t, open: %d", l.Watched(), open.Load())
	}
}

// TestShared: two windows at once in one process count the same things.
func TestShared(t *testing.T) {
	l := database()
	inner, outer := &judged{TB: t}, &judged{TB: t}
	Within(outer, l, 1, func() {
		Within(inner, l, 1, func() { l.run(1, tokens) }, AtMost("queries/op", 0))
	}, AtMost("queries/op", 0))
	for name, j := range map[string]*judged{"inner": inner, "outer": outer} {
		if len(j.errors) != 1 || !strings.Contains(j.errors[0], "another test's window was open too") {
			t.Errorf("%s: got %q, want a word about the other window", name, j.errors)
		}
	}
	alone := &judged{TB: t}
	Within(alone, l, 1, func() { l.run(1, tokens) }, AtMost("queries/op", 0))
	if len(alone.errors) != 1 || strings.Contains(alone.errors[0], "another test") {
		t.Errorf("alone: got %q", alone.errors)
	}
}

// TestRepeats: in several operations a statement may be executed once in each.
func TestRepeats(t *testing.T) {
	for _, tt := range []struct {
		s     statement
		ops   int
		n     int
		known bool
	}{
		{statement{text: "SELECT 1 FROM a", n: 10}, 10, 0, true},
		{statement{text: "SELECT a FROM a", n: 13}, 10, 3, true},
		{statement{text: "SELECT a FROM a WHERE b = ?", n: 10}, 10, 0, true},
		{statement{text: "SELECT a FROM a WHERE b = ?", n: 11}, 10, 0, false},
		{statement{text: "SELECT a FROM a WHERE b = :b", n: 2}, 1, 0, false},
		{statement{text: "SELECT a FROM a WHERE b = ?", n: 6, arguments: map[string]int{"x": 4, "y": 2}}, 1, 4, true},
		{statement{text: "SELECT a FROM a WHERE b = ?", n: 6, arguments: map[string]int{"x": 4, "y": 2}}, 2, 2, true},
	} {
		if n, known := tt.s.repeats(tt.ops); n != tt.n || known != tt.known {
			t.Errorf("%+v in %d operations: got %d, %t, want %d, %t", tt.s, tt.ops, n, known, tt.n, tt.known)
		}
	}
}

// TestWatchers: each budget has its own watcher's answer, and the operations run
// once within all of them.
func TestWatchers(t *testing.T) {
	times := 0
	watch := func(path string) Budget {
		return NoReadsAround(func(do func()) (map[string]int64, error) { do(); return map[string]int64{path: 1}, nil })
	}
	j := &judged{TB: t}
	Within(j, newLedger(testOps), 2, func() { times++ }, watch("a"), AtMost("cpu-ns/op", 1e15), watch("b"))
	refuses := NoReadsAround(func(func()) (map[string]int64, error) { return nil, errors.New("no log") })
	Within(&judged{TB: t}, newLedger(testOps), 2, func() { times++ }, refuses, watch("a"))
	if times != 4 || len(j.errors) != 1 || !strings.HasPrefix(j.errors[0], "2 of 3 budgets are broken:\n  opened around the probe 1x: a, want never\n  opened around the probe 1x: b") {
		t.Errorf("%d operations, got %q; want 2 each time, and both files", times, j.errors)
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 14: "14", 1234: "1,234", 50e6: "50,000,000", 0.5: "0.5", 12.345: "12.3", 1234.6: "1,235", -1000: "-1,000"} {
		if got := number(v); got != want {
			t.Errorf("number(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestSameAt(t *testing.T) {
	l := database()
	all := func(perRow int) func(int) func() {
		return func(n int) func() {
			l.run(n, query{text: "INSERT INTO sandboxes", method: "seed"}) // set-up
			return func() {
				l.run(1, tokens)
				l.run(perRow*n, get)
			}
		}
	}
	j := &judged{TB: t}
	SameAt(j, l, []int{1, 10, 100}, all(0))
	if len(j.errors) != 0 {
		t.Errorf("got %q of an operation with one statement", j.errors)
	}
	SameAt(j, l, []int{1, 10, 100}, all(1))
	want := []string{`queries/op depends on the size: 2 at 1, 11 at 10, 101 at 100
  statements whose count differs:
    1, 10, 100x  SELECT * FROM sandboxes WHERE id = ?  (*Store).Get  request`}
	if diff := cmp.Diff(want, j.errors); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for unit, want := range map[string]string{"cpu-ns/op": "is not a count", "fs-reads/op": "no probe here has the unit"} {
		j := &judged{TB: t}
		SameAt(j, l, []int{1, 2}, all(0), unit)
		if len(j.errors) != 1 || !strings.Contains(j.errors[0], want) {
			t.Errorf("%s: got %q, want %q", unit, j.errors, want)
		}
	}
	none := &judged{TB: t}
	SameAt(none, database(), []int{1, 2}, func(int) func() { return func() {} })
	if len(none.errors) != 1 || !strings.Contains(none.errors[0], "queries/op at 1: no data") {
		t.Errorf("nothing executed: got %q", none.errors)
	}
}
