package sqlplan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidestaff/tidestaff/internal/sqltext"
)

// A catalog names the b-trees of a connection's databases.
type catalog interface {
	// table returns the name of the table that t is, or is an index of.
	table(t tree) (name string, ok bool)
}

// classify makes the plan of a statement of its two explanations.
func classify(text string, programs []program, q eqp, names catalog) Plan {
	plan := Plan{Lines: q.text()}
	main, err := tables(programs[0], names)
	if err == nil {
		err = agree(main, q, aliases(text, main), len(programs[0].guarded()) > 0)
	}
	for i, p := range programs {
		found := main
		if i > 0 && err == nil {
			found, err = tables(p, names)
		}
		for name, class := range found {
			if !internal(name) {
				plan.add(Access{name, class, p.via})
			}
		}
	}
	if err != nil {
		return Plan{Lines: plan.Lines, Why: err.Error()}
	}
	plan.finish()
	return plan
}

// tables sums up what a program does, by table.
func tables(p program, names catalog) (map[string]Class, error) {
	out := map[string]Class{}
	for _, u := range p.uses() {
		name, ok := names.table(u.tree)
		if !ok {
			return nil, fmt.Errorf("no table has root page %d in database %d", u.root, u.db)
		}
		out[name] = max(out[name], u.class)
	}
	return out, nil
}

// internal tells SQLite's own tables: the schema, sequences, statistics. How it
// reads them is not the statement's doing.
func internal(table string) bool {
	return strings.HasPrefix(strings.ToLower(table[strings.LastIndexByte(table, '.')+1:]), "sqlite_")
}

// agree corrects what the bytecode says of the main program by what the query
// plan says. A table that the plan seeks in and never scans is searched, even if
// the bytecode looks like a loop (an index skipped through); for min() and max()
// the bytecode decides; a table that the plan does not name is as the bytecode
// says. A table that only the plan scans means that the bytecode was not
// understood, unless there is code that waits for a violated foreign key.
func agree(found map[string]Class, q eqp, alias map[string][]string, waits bool) error {
	var m mentioned
	for _, l := range q {
		if name, ok := l.scans(); ok {
			names := resolve(name, found, alias)
			if !waits && !anyOver(names, found, Search) {
				return fmt.Errorf("the query plan scans %s, the bytecode does not", name)
			}
			m.scanned.add(names, q.sorted(l))
		}
		if name, bounded, ok := l.searches(); ok {
			names := resolve(name, found, alias)
			if l.automatic() && !anyOver(names, found, ScanSort) {
				return fmt.Errorf("the query plan builds an index of %s, the bytecode does not", name)
			}
			m.search(names, bounded, l.automatic())
		}
	}
	for name, class := range found {
		if class == AutoIndex && !m.indexed.has(name) {
			return fmt.Errorf("the bytecode builds an index of %s, the query plan does not", name)
		}
		found[name] = m.correct(name, class)
	}
	return nil
}

// mentioned is what the lines of the query plan say, by table.
type mentioned struct {
	scanned, sought, ends, indexed mentions
}

// search notes a line that searches tables: bounded by a key, or for one end.
func (m *mentioned) search(names []string, bounded, automatic bool) {
	if bounded {
		m.sought.add(names, false)
	} else {
		m.ends.add(names, false)
	}
	if automatic {
		m.indexed.add(names, false)
	}
}

// correct returns the class of a table for which the bytecode says class.
func (m *mentioned) correct(name string, class Class) Class {
	switch {
	case class == Scan && m.scanned.has(name) && m.scanned.sorted(name):
		return ScanSort
	case class != Scan && class != Limited, m.scanned.has(name):
		return class
	case m.ends.has(name) && class == Limited, m.sought.has(name) && !m.ends.has(name):
		return Search
	}
	return class
}

// anyOver tells whether one of these tables is found to be worse than a class.
// It is so of no tables, since nothing speaks against it.
func anyOver(names []string, found map[string]Class, c Class) bool {
	return len(names) == 0 || slices.ContainsFunc(names, func(n string) bool { return found[n] > c })
}

// mentions are the tables that some lines of the plan name, and whether their
// rows are sorted. The empty name stands for a line that names none of them: it
// is of a subquery, or has an alias from a view, and can mean any.
type mentions map[string]bool

func (m *mentions) add(tables []string, sorted bool) {
	if *m == nil {
		*m = mentions{}
	}
	if len(tables) == 0 {
		tables = []string{""}
	}
	for _, t := range tables {
		(*m)[t] = (*m)[t] || sorted
	}
}

func (m mentions) has(table string) bool {
	_, named := m[table]
	_, vague := m[""]
	return named || vague
}

func (m mentions) sorted(table string) bool { return m[table] || m[""] }

// resolve returns the tables that a name of the query plan can mean.
func resolve(name string, found map[string]Class, alias map[string][]string) []string {
	if as := alias[strings.ToLower(name)]; len(as) > 0 {
		return as
	}
	var out []string
	for table := range found {
		if "main."+table == name || table == name && strings.Contains(name, ".") {
			return []string{table} // the plan names the database if the text does
		}
		if strings.EqualFold(table[strings.LastIndexByte(table, '.')+1:], name) {
			out = append(out, table)
		}
	}
	return out
}

// aliases reads from the text which names stand for which of the tables: those
// behind a table's name, with AS or without. A name may stand for several, and a
// keyword that is read as an alias does no harm, since no plan prints it.
func aliases(text string, found map[string]Class) map[string][]string {
	out := map[string][]string{}
	s := sqltext.Scanner{Rest: text}
	var tables []string // what the last name can mean
	for t := s.Solid(); t.Kind != sqltext.End; t = s.Solid() {
		if tables != nil && t.IsName("AS") {
			continue
		}
		name, ok := t.Name()
		if tables != nil && ok {
			key := strings.ToLower(name)
			out[key] = append(out[key], tables...)
		}
		tables = nil
		if ok {
			tables = resolve(name, found, nil)
		}
	}
	return out
}
