package sqlplan

import (
	"database/sql/driver"
	"fmt"
	"strings"
)

// A line is one row of EXPLAIN QUERY PLAN.
type line struct {
	id, parent int
	depth      int
	detail     string
}

// An eqp is the query plan as EXPLAIN QUERY PLAN words it.
type eqp []line

func readQueryPlan(rows [][]driver.Value) (eqp, error) {
	var out eqp
	depth := map[int]int{}
	for _, row := range rows {
		if len(row) != 4 {
			return nil, fmt.Errorf("EXPLAIN QUERY PLAN has %d columns", len(row))
		}
		id, ok1 := row[0].(int64)
		parent, ok2 := row[1].(int64)
		l := line{id: int(id), parent: int(parent), detail: str(row[3])}
		if !ok1 || !ok2 || !l.known() {
			return nil, fmt.Errorf("EXPLAIN QUERY PLAN has a line %q", l.detail)
		}
		l.depth = depth[l.parent]
		depth[l.id] = l.depth + 1
		out = append(out, l)
	}
	return out, nil
}

// beginnings are how the lines start that we know. Anything else means that
// SQLite has learnt something that we have not.
var beginnings = []string{
	"SCAN ", "SEARCH ", "RIGHT-JOIN ", "MULTI-INDEX OR", "INDEX ", "COMPOUND QUERY", "LEFT-MOST SUBQUERY",
	"UNION", "INTERSECT", "EXCEPT", "MERGE (", "LEFT", "RIGHT", "CO-ROUTINE ", "MATERIALIZE ", "SETUP",
	"RECURSIVE STEP", "SCALAR SUBQUERY", "LIST SUBQUERY", "CORRELATED ", "REUSE ", "USE TEMP B-TREE FOR ",
	"BLOOM FILTER ON ", "CREATE BLOOM FILTER", "USING ",
}

func (l line) known() bool {
	for _, b := range beginnings {
		if strings.HasPrefix(l.detail, b) {
			return true
		}
	}
	return false
}

// scans returns the name that a line says is read from end to end: a table's, an
// alias, or the name of a subquery.
func (l line) scans() (name string, ok bool) {
	for _, verb := range []string{"SCAN ", "RIGHT-JOIN ", "BLOOM FILTER ON "} { // a filter is made of all rows
		if name, ok = strings.CutPrefix(l.detail, verb); ok {
			break
		}
	}
	if !ok || strings.Contains(name, " VIRTUAL TABLE ") || strings.Contains(name, "CONSTANT ROW") ||
		strings.HasSuffix(name, " VALUES CLAUSE") {
		return "", false
	}
	return bareName(name), true
}

// searches returns the name that a line says is searched. bounded tells whether
// it names what is sought: without, the line is of min() or max(), which SQLite
// calls a search even where no index has the order and it reads every row.
func (l line) searches() (name string, bounded, ok bool) {
	name, ok = strings.CutPrefix(l.detail, "SEARCH ")
	_, how, _ := strings.Cut(name, " USING ")
	return bareName(name), strings.Contains(how, "("), ok
}

// automatic tells whether a line is of an automatic index.
func (l line) automatic() bool { return strings.Contains(l.detail, " USING AUTOMATIC ") }

// bareName cuts off how a table is read.
func bareName(s string) string {
	s, _, _ = strings.Cut(s, " USING ")
	s, _, _ = strings.Cut(s, " (") // of a filter; a subquery's name starts with its parenthesis
	return strings.TrimSuffix(strings.TrimSuffix(s, " EXISTS"), " LEFT-JOIN")
}

// sorted tells whether the rows of the query that l is part of are sorted. The
// lines of one query have one parent.
func (q eqp) sorted(l line) bool {
	for _, m := range q {
		what, ok := strings.CutPrefix(m.detail, "USE TEMP B-TREE FOR ")
		if ok && m.parent == l.parent && (strings.HasSuffix(what, "ORDER BY") || strings.HasSuffix(what, "GROUP BY")) {
			return true
		}
	}
	return false
}

// text renders the lines for a person.
func (q eqp) text() []string {
	var out []string
	for _, l := range q {
		out = append(out, strings.Repeat("  ", l.depth)+l.detail)
	}
	return out
}
