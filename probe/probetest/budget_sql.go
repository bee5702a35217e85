package probetest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tidestaff/tidestaff/probe"
)

// Metrics that tell of writes: statements that changed rows, and holds of SQLite's
// write lock.
const (
	metricAffected = "tidestaff.db.affected_rows"
	metricHolds    = "tidestaff.db.lock.hold.duration"
)

// noScans judges the tables that were read from end to end.
func (t *trial) noScans(tables []string) []finding {
	u, err := find(t.units, "full-scans/op")
	if err != nil {
		return []finding{lacks("sql", "%v", err)}
	}
	r := t.narrow()
	if _, err := u.of(r, t.n); err != nil {
		return []finding{lacks("sql", "full scans%s: no data: no statement's plan was looked at (sqlitetrace does with Options.Plans): %v", t.within(), err)}
	}
	var found []finding
	for m := range r.Find(metricScans) {
		table := m.Attr(attrTable)
		if m.Value == 0 || len(tables) > 0 && !slices.ContainsFunc(tables, func(name string) bool { return strings.EqualFold(name, table) }) {
			continue
		}
		found = append(found, exceeds("sql", "full scan of %s: %sx by %s (%s), want none", table, number(m.Value),
			m.Attr(probe.AttrMethod), m.Attr(probe.AttrRole)))
	}
	slices.SortFunc(found, func(a, b finding) int { return cmp.Compare(a.text, b.text) })
	return found
}

// noWrites judges what changed the database, or could have.
func (t *trial) noWrites() []finding {
	r := t.narrow()
	queries := source{desc: &probe.Desc{Name: metricQueries, Kind: probe.KindCounter}}
	if _, err := queries.gather(r); err != nil {
		return []finding{lacks("sql", "writes%s: no data: %v", t.within(), err)}
	}
	var found []finding
	for _, w := range []struct{ metric, what string }{
		{metricAffected, "rows changed"}, {metricHolds, "write lock held"},
	} {
		for m := range r.Find(w.metric) {
			if m.Dist != nil && m.Dist.Count() > 0 {
				found = append(found, exceeds("sql", "%s %dx by %s (%s), want never", w.what, m.Dist.Count(),
					m.Attr(probe.AttrMethod), m.Attr(probe.AttrRole)))
			}
		}
	}
	slices.SortStableFunc(found, func(a, b finding) int { return cmp.Compare(a.text, b.text) })
	return found
}

// noDuplicates judges statements that asked again what was known.
func (t *trial) noDuplicates(allow []string) []finding {
	all, found := t.statements("duplicates")
	for _, s := range joined(all) {
		n, known := s.repeats(t.n)
		switch {
		case allowed(s, allow):
		case !known:
			found = append(found, lacks("sql", "duplicates: no data: %dx %s by %s, and nothing tells their arguments apart", s.n, short(s.text), s.place()))
		case n > 0:
			found = append(found, exceeds("sql", "repeated %dx with the same arguments: %s by %s, want never", n, short(s.text), s.place()))
		}
	}
	return found
}

// nPlusOne is how often one place may execute a statement in an operation: a
// second time may be before and after a write.
const nPlusOne = 2

// noNPlusOne judges statements in a loop.
func (t *trial) noNPlusOne(allow []string) []finding {
	all, found := t.statements("N+1")
	for _, s := range all {
		if s.n > nPlusOne*t.n && !allowed(s, allow) {
			found = append(found, exceeds("sql", "N+1: %s by %s was executed %s times in an operation, want at most %d",
				short(s.text), s.place(), number(float64(s.n)/float64(t.n)), nPlusOne))
		}
	}
	return found
}

// statements are those of the trial's roles, or why they are not known.
func (t *trial) statements(what string) ([]*statement, []finding) {
	queries := source{desc: &probe.Desc{Name: metricQueries, Kind: probe.KindCounter}}
	if _, err := queries.gather(t.narrow()); err != nil {
		return nil, []finding{lacks("sql", "%s%s: no data: %v", what, t.within(), err)}
	}
	all := statementsOf(t.reading, t.n, t.roles)
	if all.lack != "" {
		return all.list, []finding{lacks("sql", "%s%s: no data: %s", what, t.within(), all.lack)}
	}
	return all.list, nil
}

func allowed(s *statement, allow []string) bool {
	return slices.ContainsFunc(allow, func(part string) bool { return part != "" && strings.Contains(s.text, part) })
}
