package sqlplan

import (
	"cmp"
	"slices"
)

// A Class says how much of a table a statement reads. The higher ones are the
// worse ones, so that the class of several tables is their maximum.
type Class uint8

const (
	// Unknown is the class of what was not inspected or not understood.
	Unknown Class = iota
	// None reads no rows: a plain INSERT, a constant.
	None
	// Search goes to rows by key or index.
	Search
	// Limited reads a table in its order and stops after as many rows as LIMIT
	// says, whatever that number is, with no filter to pass first. The other side
	// of a join by rowid is not taken for a filter, since it is there as a rule.
	Limited
	// Scan reads a table or an index of it from end to end, DELETE of all rows
	// included.
	Scan
	// ScanSort is a scan whose rows are sorted.
	ScanSort
	// AutoIndex is a scan that builds an index for this one run of the statement.
	AutoIndex
)

// String returns the word for the class that reports use.
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return classNames[Unknown]
}

var classNames = [...]string{"unknown", "none", "search", "limited scan", "scan", "scan+sort", "automatic index"}

// A Plan is what SQLite means to do for one statement.
type Plan struct {
	Class  Class    // the worst of the tables'
	Tables []Access // by name; SQLite's own tables (sqlite_…) are left out
	Lines  []string // EXPLAIN QUERY PLAN, indented by two blanks a level
	Why    string   // why the class is unknown
}

// An Access is how a statement uses one table.
type Access struct {
	Table string // real name; behind that of its database if that is not main
	Class Class
	Via   string // "trigger NAME" or "foreign key action"; "" for the statement itself
}

// unknown is the plan of what could not be told.
func unknown(why string) Plan { return Plan{Why: why} }

// add notes an access, or makes the one that is known worse.
func (p *Plan) add(a Access) {
	for i, b := range p.Tables {
		if b.Table == a.Table && b.Via == a.Via {
			p.Tables[i].Class = max(a.Class, b.Class)
			return
		}
	}
	p.Tables = append(p.Tables, a)
}

// finish sorts the tables and sums their classes up.
func (p *Plan) finish() {
	slices.SortFunc(p.Tables, func(a, b Access) int {
		return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Via, b.Via))
	})
	p.Class = None
	for _, a := range p.Tables {
		p.Class = max(p.Class, a.Class)
	}
}
