package probetest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tidestaff/tidestaff/probe"
)

// A Budget is a bound on what an operation may cost, for [Within]. The zero Budget
// allows everything.
//
// Counts are judged always. What other work on the machine makes larger (times:
// CPU, lag, latency) passes on any machine if it is within the bound, and fails
// only if the machine was quiet; otherwise it is not judged, and the test's log
// says how noisy it was. What was not measured fails.
type Budget struct {
	judge func(*trial) []finding
	roles []string
	watch watcher // nil if the readings have all that judge needs
}

// In is the budget for what was done in the roles only, such as "request", where
// others work beside it. It is about metrics that have the attribute
// [probe.AttrRole]; those that have not, such as CPU time, have no data in it.
func (b Budget) In(roles ...string) Budget {
	b.roles = slices.Clone(roles)
	return b
}

// AtMost allows a unit up to n, such as AtMost("queries/op", 8),
// AtMost("p99-lag-ns", 50e6) or AtMost("peak-RSS-bytes", 256<<20). The units are
// those of benchmarks; [WriteUnits] lists them.
func AtMost(unit string, n float64) Budget {
	return Budget{judge: func(t *trial) []finding { return t.bound(unit, n, false) }}
}

// Exactly wants a count to be n, such as Exactly("queries/op", 3).
func Exactly(unit string, n float64) Budget {
	return Budget{judge: func(t *trial) []finding { return t.bound(unit, n, true) }}
}

// NoFullScans wants no statement to read a table from end to end, or none of the
// named tables. It needs the plans of statements: with sqlitetrace,
// Options.Plans. What SQLite does not say a plan of, such as a PRAGMA, is not a
// scan.
func NoFullScans(tables ...string) Budget {
	return Budget{judge: func(t *trial) []finding { return t.noScans(tables) }}
}

// NoWrites wants no statement to change rows or to take SQLite's write lock. A
// transaction that asks for the lock at once (BEGIN IMMEDIATE) is one that writes.
func NoWrites() Budget {
	return Budget{judge: (*trial).noWrites}
}

// NoDuplicates wants no statement to be executed twice with the same arguments, in
// each single operation. Statements that have one of the texts allow in them may
// be, such as "FROM feature_flags"; how texts look is in the failure's text.
func NoDuplicates(allow ...string) Budget {
	return Budget{judge: func(t *trial) []finding { return t.noDuplicates(allow) }}
}

// NoNPlusOne wants no statement to be executed by one place in the program more
// than twice in an operation, with whatever arguments: a query for each row of
// another one. Statements that have one of the texts allow in them may be.
func NoNPlusOne(allow ...string) Budget {
	return Budget{judge: func(t *trial) []finding { return t.noNPlusOne(allow) }}
}

// NoFileReads wants no file to be read through the probe.
func NoFileReads() Budget { return Budget{judge: (*trial).noFileReads} }

// NoReadsAround wants no file to be opened around the probe, so that what that
// counts is all there is. watch executes do and says which files were opened
// meanwhile around the probe, and how often. With fsstat, whose package fsstattest
// needs a line in TestMain:
//
//	probetest.NoReadsAround(func(do func()) (map[string]int64, error) {
//		gap, err := fsstattest.Around(files, do)
//		return gap.Paths, err
//	})
//
// If watch is nil, those are judged that the probe itself was told of, as a file
// probe is with WatchDirs; and if there are none, the bytes that the process has
// read in all, if the probe knows them: none beside its own is a success and some is no data, since
// sockets, pipes and databases are among them.
func NoReadsAround(watch func(do func()) (paths map[string]int64, err error)) Budget {
	return Budget{judge: (*trial).noReadsAround, watch: watch}
}

// A finding is what a budget has to say.
type finding struct {
	verdict verdict
	text    string
	about   string // "sql" or "file": what a person wants to see the details of
	budget  int    // its index
}

type verdict int

const (
	exceeded verdict = iota + 1
	lacking          // no data
	unjudged         // over the bound, on a machine that may be the reason
)

// exceeds is a finding that a bound is exceeded.
func exceeds(about, format string, args ...any) finding {
	return finding{verdict: exceeded, text: fmt.Sprintf(format, args...), about: about}
}

// lacks is a finding that what is to be judged was not measured.
func lacks(about, format string, args ...any) finding {
	return finding{verdict: lacking, text: fmt.Sprintf(format, args...), about: about}
}

// A trial is what was measured of n operations, to be judged.
type trial struct {
	reading *probe.Reading
	n       int
	units   []unit
	noise   func() noise // asked only if something is over its bound
	gaps    map[int]gap  // what the budgets' watchers said, by the budgets' index

	// Of the budget that is being judged.
	index int
	roles []string

	// shared: another trial's window was open at the same time.
	shared bool
}

// judge asks all budgets, so that one failure does not hide another.
func (t *trial) judge(budgets []Budget) []finding {
	var all []finding
	for i, b := range budgets {
		if b.judge == nil {
			continue
		}
		t.index, t.roles = i, b.roles
		for _, f := range b.judge(t) {
			f.budget = i
			all = append(all, f)
		}
	}
	t.roles = nil
	return all
}

// narrow is the reading with nothing in the series of other roles. They are still
// there, as a sign that the probe was at work.
func (t *trial) narrow() *probe.Reading {
	if len(t.roles) == 0 {
		return t.reading
	}
	r := *t.reading
	r.Metrics = slices.Clone(r.Metrics)
	for i := range r.Metrics {
		if m := &r.Metrics[i]; !in(m.Attr(probe.AttrRole), append(t.roles, "")) {
			m.Value, m.Dist = 0, nil
		}
	}
	return &r
}

// isByRole reports whether the metric's series, if it has any, are told apart by
// role.
func (t *trial) isByRole(d *probe.Desc) bool {
	for m := range t.reading.Find(d.Name) {
		return m.Attr(probe.AttrRole) != ""
	}
	return true
}

// within says in which roles, for a text.
func (t *trial) within() string {
	if len(t.roles) == 0 {
		return ""
	}
	return " in role " + strings.Join(t.roles, ", ")
}

// bound judges one unit.
func (t *trial) bound(name string, n float64, exactly bool) []finding {
	u, err := find(t.units, name)
	if err != nil {
		return []finding{lacks("", "%v", err)}
	}
	about := aboutOf(name)
	f, err := u.of(t.narrow(), t.n)
	if err != nil {
		return []finding{lacks(about, "%s%s: no data: %v", name, t.within(), err)}
	}
	if len(t.roles) > 0 && !t.isByRole(f.source) {
		return []finding{lacks(about, "%s%s: no data: it is not told apart by role", name, t.within())}
	}
	want := "at most " + number(n)
	if exactly {
		want = number(n)
	}
	text := fmt.Sprintf("%s%s = %s, want %s", name, t.within(), number(f.value), want)
	switch over := f.value > n; {
	case exactly && !u.exact:
		return []finding{exceeds(about, "%s is not a count that repeats exactly: use AtMost", name)}
	case exactly && f.value != n, over && u.exact:
		return []finding{exceeds(about, "%s", text)}
	case over && f.how == probe.AtMost:
		return []finding{{verdict: unjudged, text: text + ": it is only known to be no more than that", about: about}}
	case over && isTime(name):
		return []finding{t.unlessNoisy(text, about)}
	case over:
		return []finding{exceeds(about, "%s", text)}
	}
	return nil
}

// isTime reports whether the unit is a time, which other work makes longer.
func isTime(unit string) bool {
	return slices.Contains(strings.FieldsFunc(unit, func(r rune) bool { return r == '-' || r == '/' }), "ns")
}

// aboutOf is which details a unit's failure needs.
func aboutOf(unit string) string {
	switch {
	case strings.HasPrefix(unit, "fs-"):
		return "file"
	case slices.Contains([]string{"queries/op", "rows/op", "affected-rows/op", "sql-ns/op", "full-scans/op", "lock-ns/op"}, unit):
		return "sql"
	}
	return ""
}

// unlessNoisy is a failure on a quiet machine, and no judgement on another.
func (t *trial) unlessNoisy(text, about string) finding {
	noise := t.noise()
	if why := noise.disturbs(); why != "" {
		return finding{verdict: unjudged, text: text + ": not judged: " + why, about: about}
	}
	return exceeds(about, "%s (on a quiet machine: %s)", text, noise.text())
}

// number is a value as people write it: integers whole, the rest to three digits.
func number(v float64) string {
	if v == float64(int64(v)) && v < 1e15 {
		return grouped(strconv.FormatInt(int64(v), 10))
	}
	if v >= 1000 {
		return grouped(strconv.FormatFloat(v, 'f', 0, 64))
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// grouped puts a comma between thousands.
func grouped(digits string) string {
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
