package sqlplan

import (
	"database/sql/driver"
	"fmt"
	"strings"
)

// An op is one line of EXPLAIN.
type op struct {
	code       string
	p1, p2, p3 int
	p4         string
}

// A program is the bytecode of the statement or of one trigger; the index of an
// op is its address, where jumps go.
type program struct {
	via string // Access.Via
	ops []op
}

// A transaction is what the main program does to a database before it starts.
type transaction struct {
	db     int
	write  bool
	cookie int64 // the schema version that the program was made for
}

// readPrograms cuts the rows of EXPLAIN into the statement's own program, which
// comes first, and those that it calls. Addresses start at 0 in each.
func readPrograms(rows [][]driver.Value) ([]program, error) {
	var all []program
	for _, row := range rows {
		if len(row) < 6 {
			return nil, fmt.Errorf("EXPLAIN has %d columns", len(row))
		}
		var n [4]int
		for i, col := range []int{0, 2, 3, 4} {
			v, ok := row[col].(int64)
			if !ok {
				return nil, fmt.Errorf("EXPLAIN has %T in column %d", row[col], col)
			}
			n[i] = int(v)
		}
		o := op{str(row[1]), n[1], n[2], n[3], str(row[5])}
		if n[0] == 0 {
			all = append(all, program{via: programName(o, len(all))})
		}
		if len(all) == 0 || n[0] != len(all[len(all)-1].ops) || n[0] == 0 && o.code != "Init" {
			return nil, fmt.Errorf("EXPLAIN has %s at address %d", o.code, n[0])
		}
		last := &all[len(all)-1]
		last.ops = append(last.ops, o)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("EXPLAIN has no rows")
	}
	return all, nil
}

// programName reads whose program starts with o: SQLite leaves a comment for its
// tracer there. The actions of foreign keys are triggers without a name.
func programName(o op, n int) string {
	if n == 0 {
		return ""
	}
	if name, ok := strings.CutPrefix(o.p4, "-- TRIGGER "); ok {
		return "trigger " + name
	}
	return "foreign key action"
}

// str returns a text column, which some drivers return as bytes.
func str(v driver.Value) string {
	switch v := v.(type) {
	case string:
		return v
	case []byte:
		return string(v)
	}
	return ""
}

// transactions lists the databases that the program uses.
func (p program) transactions() []transaction {
	var out []transaction
	for _, o := range p.ops {
		if o.code == "Transaction" {
			out = append(out, transaction{o.p1, o.p2 != 0, int64(uint32(o.p3))})
		}
	}
	return out
}

// A tree is a b-tree of a database: a table or an index.
type tree struct{ db, root int }

// A use is what a program does with one b-tree.
type use struct {
	tree
	class Class
}

// rootOfSchema is the page of sqlite_schema in every database.
const rootOfSchema = 1

// uses lists what the program does with b-trees, in the order of the code.
func (p program) uses() []use {
	open := map[int]cursor{}
	guarded := p.guarded()
	var out []use
	for at, o := range p.ops {
		switch o.code {
		case "OpenRead", "OpenWrite", "ReopenIdx":
			open[o.p1] = cursor{tree{o.p3, o.p2}, o.code == "OpenWrite"}
			if !guarded[at] {
				out = append(out, use{tree{o.p3, o.p2}, None})
			}
		case "OpenEphemeral", "OpenAutoindex", "OpenPseudo", "OpenDup", "SorterOpen", "VOpen":
			delete(open, o.p1)
		case "Clear":
			out = append(out, use{tree{o.p2, o.p1}, Scan})
		}
		c, ok := open[o.p1]
		if !ok || guarded[at] {
			continue
		}
		if class := p.step(at, c); class != Unknown {
			out = append(out, use{c.tree, class})
		}
	}
	return out
}

// A cursor is an open b-tree.
type cursor struct {
	tree
	write bool
}

// step is what the op at this address makes of its cursor, Unknown for nothing.
func (p program) step(at int, c cursor) Class {
	switch o := p.ops[at]; o.code {
	case "Next", "Prev":
		return p.loop(at)
	case "Count":
		return Scan
	case "SeekGE", "SeekGT", "SeekLE", "SeekLT", "SeekRowid":
		return Search
	case "NotExists", "Found", "NotFound", "NoConflict":
		if !c.write { // on what is written, it is the check of a constraint
			return Search
		}
	}
	return Unknown
}

// guarded marks the code that runs only while a foreign key is violated, which
// it hardly ever is: an insert into a parent looks for children that waited for
// it, and EXPLAIN QUERY PLAN prints that as a scan.
func (p program) guarded() map[int]bool {
	out := map[int]bool{}
	for at, o := range p.ops {
		if o.code == "FkIfZero" {
			for i := at + 1; i < o.p2 && i < len(p.ops); i++ {
				out[i] = true
			}
		}
	}
	return out
}
