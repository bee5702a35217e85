package sqlitetrace

import (
	"github.com/tidestaff/tidestaff/internal/sqlplan"
	"github.com/tidestaff/tidestaff/probe"
)

// The attributes of query plans.
const (
	// AttrPlan is how SQLite reads a table, or the worst of a statement's tables:
	// "none", "search", "limited scan", "scan", "scan+sort", "automatic index", or
	// "unknown" for what was not understood or may not be looked at.
	AttrPlan = "tidestaff.sqlite.plan"
	// AttrTable is the table's name in the schema, behind that of its database if
	// that is not main; "(other)" beyond 1,000 series.
	AttrTable = "tidestaff.sqlite.table"
)

var (
	descPlans = &probe.Desc{Name: "tidestaff.sqlite.plans", Unit: "{query}", Kind: probe.KindCounter,
		Help: "Statements executed, by the class of their plan: that of the table that it reads most of. Only with Options.Plans."}
	descFullScans = &probe.Desc{Name: "tidestaff.sqlite.full_scans", Unit: "{scan}", Kind: probe.KindCounter,
		Help:  "Tables that a statement's plan reads from end to end, one for each execution and table, those of its triggers included. Only with Options.Plans.",
		Bench: []probe.Bench{{Unit: "full-scans/op", Stat: "value", PerOp: true, Better: "lower", Exact: true}}}

	descLooks = &probe.Desc{Name: "tidestaff.sqlite.plan_looks", Unit: "{look}", Kind: probe.KindCounter,
		Help: "Looks at a statement's plan before it ran, and at the schema before a transaction began, known ones included. Only with Options.Plans."}
	descLookTime = &probe.Desc{Name: "tidestaff.sqlite.plan_look.time", Unit: "s", Kind: probe.KindCounter,
		Help:  "Time of the looks at plans: what they add to the program's own, waits for locks included. Only with Options.Plans.",
		Bench: []probe.Bench{{Unit: "plan-look-ns/op", Stat: "value", PerOp: true, Better: "lower"}}}

	planDescs = []*probe.Desc{descPlans, descFullScans, descLooks, descLookTime}
)

// maxScans bounds the methods × roles × tables × classes that are kept apart.
const maxScans = 1000

// A scanKey is who reads which table from end to end, and how. The zero key is
// of those beyond the limit.
type scanKey struct {
	series *series
	table  string
	class  sqlplan.Class
}

// newScans makes the table of a probe's full scans.
func newScans(p *Probe) *probe.Table[scanKey, probe.Counter] {
	return probe.NewTable(maxScans, scanKey{}, func(k scanKey) *probe.Counter {
		method, role, table, class := other, other, other, other
		if k.series != nil {
			method, role, table, class = k.series.label.Method, k.series.label.Role, k.table, k.class.String()
		}
		return p.core.Counter(descFullScans, probe.Attr{Key: AttrSystem, Value: p.system},
			probe.Attr{Key: probe.AttrMethod, Value: method}, probe.Attr{Key: probe.AttrRole, Value: role},
			probe.Attr{Key: AttrTable, Value: table}, probe.Attr{Key: AttrPlan, Value: class})
	})
}

// A lookSeries has what the looks at a database's plans cost.
type lookSeries struct{ looks, time *probe.Counter }

// looked counts a look that took ns nanoseconds.
func (c *conn) looked(ns int64) {
	p, db := c.probe, c.db
	s := db.looks.get(func() *lookSeries {
		return &lookSeries{p.core.Counter(descLooks, p.attrsOf(db)...), p.core.Counter(descLookTime, p.attrsOf(db)...)}
	})
	s.looks.Add(1)
	s.time.Add(ns)
}

// planned counts an execution by its plan.
func (s *series) planned(plan *sqlplan.Plan) {
	s.plans[plan.Class].get(func() *probe.Counter {
		return s.probe.core.Counter(descPlans, s.base(probe.Attr{Key: AttrPlan, Value: plan.Class.String()})...)
	}).Add(1)
	worst := sqlplan.Unknown
	for i, a := range plan.Tables { // by name: a table's uses are side by side
		worst = max(worst, a.Class)
		if i+1 < len(plan.Tables) && plan.Tables[i+1].Table == a.Table {
			continue
		}
		if worst >= sqlplan.Scan {
			s.probe.scans.Get(scanKey{s, a.Table, worst}).Add(1)
		}
		worst = sqlplan.Unknown
	}
}
