package probetest

import (
	"cmp"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// The descriptions of a ledger: names that leaves have, so that the units are
// those which a user sees.
var (
	testQueries = &probe.Desc{Name: "tidestaff.db.queries", Unit: "{query}", Kind: probe.KindCounter, Help: "Statements.",
		Bench: []probe.Bench{{Unit: "queries/op", Stat: "value", PerOp: true, Better: "lower", Exact: true}}}
	testTime = &probe.Desc{Name: "db.client.operation.duration", Unit: "s", Kind: probe.KindDistribution, Help: "Time.",
		Bench: []probe.Bench{{Unit: "sql-ns/op", Stat: "sum", PerOp: true, Better: "lower"}}}
	testLag = &probe.Desc{Name: "tidestaff.scheduler.lag.duration", Unit: "s", Kind: probe.KindDistribution, Help: "Lag.",
		Bench: []probe.Bench{
			{Unit: "p50-lag-ns", Stat: "p50", Better: "lower"}, {Unit: "p95-lag-ns", Stat: "p95", Better: "lower"},
			{Unit: "p99-lag-ns", Stat: "p99", Better: "lower"}, {Unit: "max-lag-ns", Stat: "max", Better: "lower"}}}
	testOps = &probe.Desc{Name: "tidestaff.file.operations", Unit: "{operation}", Kind: probe.KindCounter, Help: "File operations.",
		Bench: []probe.Bench{{Unit: "fs-ops/op", Stat: "value", PerOp: true, Better: "lower", Exact: true}}}
	testBytes = &probe.Desc{Name: "tidestaff.file.io", Unit: "By", Kind: probe.KindCounter, Help: "Bytes.",
		Bench: []probe.Bench{{Unit: "fs-bytes/op", Stat: "value", PerOp: true, Better: "lower", Exact: true}}}
	testPeak = &probe.Desc{Name: "tidestaff.process.memory.peak", Unit: "By", Kind: probe.KindPeak, Help: "Peak.",
		Bench: []probe.Bench{{Unit: "peak-RSS-bytes", Stat: "value", Better: "lower"}}}
	testCPU = &probe.Desc{Name: "tidestaff.process.cpu.time", Unit: "s", Kind: probe.KindCounter, Help: "CPU time.",
		Bench: []probe.Bench{{Unit: "cpu-ns/op", Stat: "value", PerOp: true, Better: "lower"}}}
)

// What a database probe tells of statements.
var (
	testScans = &probe.Desc{Name: "tidestaff.sqlite.full_scans", Unit: "{scan}", Kind: probe.KindCounter, Help: "Scans.",
		Bench: []probe.Bench{{Unit: "full-scans/op", Stat: "value", PerOp: true, Better: "lower", Exact: true}}}
	testPlans      = &probe.Desc{Name: "tidestaff.sqlite.plans", Unit: "{query}", Kind: probe.KindCounter, Help: "Plans."}
	testStatements = &probe.Desc{Name: "tidestaff.db.statements", Unit: "{query}", Kind: probe.KindCounter, Help: "Statements.", Detail: true}
	testAffected   = &probe.Desc{Name: "tidestaff.db.affected_rows", Unit: "{row}", Kind: probe.KindDistribution, Help: "Rows."}
	testHolds      = &probe.Desc{Name: "tidestaff.db.lock.hold.duration", Unit: "s", Kind: probe.KindDistribution, Help: "Holds."}
	testPaths      = &probe.Desc{Name: "tidestaff.file.path.operations", Unit: "{operation}", Kind: probe.KindCounter, Help: "By path.", Detail: true}
	testProcessIO  = &probe.Desc{Name: "tidestaff.file.process_io", Unit: "By", Kind: probe.KindCounter, Help: "All bytes."}
	testAround     = &probe.Desc{Name: "tidestaff.file.around", Unit: "{open}", Kind: probe.KindCounter, Detail: true, Help: "Opens around it."}
	testUnchanged  = &probe.Desc{Name: "tidestaff.file.path.unchanged_passes", Unit: "{pass}", Kind: probe.KindCounter, Help: "By path.", Detail: true}
	testPathIO     = &probe.Desc{Name: "tidestaff.file.path.io", Unit: "By", Kind: probe.KindCounter, Help: "By path.", Detail: true}
)

// A query is one execution of a statement.
type query struct {
	text, method, role string
	scans              string // the table
	arguments, site    string
}

// run counts executions as sqlitetrace does. Those with a hash of their arguments
// are series of their own, the others events.
func (l *ledger) run(times int, q query) {
	attr := func(k, v string) probe.Attr { return probe.Attr{Key: k, Value: v} }
	who := []probe.Attr{attr(probe.AttrMethod, q.method), attr(probe.AttrRole, cmp.Or(q.role, "request"))}
	plan := "search"
	if q.scans != "" {
		plan = "scan"
		l.Counter(testScans, append(who, attr("tidestaff.sqlite.table", q.scans), attr("tidestaff.sqlite.plan", plan))...).Add(int64(times))
	}
	l.Counter(testQueries, append(who, attr("tidestaff.db.operation", "query"))...).Add(int64(times))
	l.Counter(testPlans, append(who, attr("tidestaff.sqlite.plan", plan))...).Add(int64(times))
	about := append(who, attr("db.query.text", q.text))
	if q.arguments != "" {
		l.Counter(testStatements, append(about, attr("tidestaff.db.arguments", q.arguments), attr("tidestaff.db.call_site", q.site))...).Add(int64(times))
		return
	}
	for range times {
		l.Emit(probe.Event{Name: "tidestaff.db.slow", Duration: 40 * time.Microsecond, Start: time.Now(), Attrs: append(about, attr("tidestaff.db.operation", "query"))})
	}
}

// A ledger is a probe whose numbers are what a test says.
type ledger struct{ probe.Core }

func newLedger(descs ...*probe.Desc) *ledger {
	l := new(ledger)
	l.Descs = descs
	return l
}

// query counts n statements of 1 µs each.
func (l *ledger) query(n int64) {
	l.Counter(testQueries, probe.Attr{Key: probe.AttrMethod, Value: "(*Store).List"}).Add(n)
	for range n {
		l.Recorder(testTime).Record(1000)
	}
}
