package sqlplan

import (
	"database/sql/driver"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Querier runs statements on the connection whose statements are inspected.
type Querier interface {
	// Query runs text and calls each for every row, whose slice and bytes are
	// each's only during the call. The values are those of the driver.
	Query(text string, args []driver.NamedValue, each func(row []driver.Value)) error
	// InTx tells whether an explicit transaction may be open.
	InTx() bool
}

// A database is what a connection's schema was when it was read.
type database struct {
	name    string
	version int64          // PRAGMA schema_version
	tables  map[int]string // by root page
	changes bool           // something in it may call changes()
}

// A schema holds a connection's databases by their number in the bytecode.
type schema map[int]*database

func (s schema) table(t tree) (string, bool) {
	d := s[t.db]
	if d == nil {
		return "", false
	}
	name, ok := d.tables[t.root]
	if ok && d.name != "main" {
		name = d.name + "." + name
	}
	return name, ok
}

// callsChanges tells whether a write may run something that calls changes().
func (s schema) callsChanges() bool {
	for _, d := range s {
		if d.changes {
			return true
		}
	}
	return false
}

// numbers lists the databases that are known.
func (s schema) numbers() []int { return slices.Sorted(maps.Keys(s)) }

// current tells whether the bytecode was made for the schema as it was read.
func (s schema) current(ts []transaction) bool {
	for _, t := range ts {
		if d := s[t.db]; d == nil || d.version != t.cookie {
			return false
		}
	}
	return true
}

// databases lists the connection's databases, without reading any. The temporary
// one is there only once it was used, and is not asked before: that would make it.
func databases(q Querier) (map[int]string, error) {
	rows, err := all(q, "PRAGMA database_list", nil)
	if err != nil {
		return nil, err
	}
	out := map[int]string{}
	for _, row := range rows {
		if len(row) < 2 {
			return nil, fmt.Errorf("PRAGMA database_list has %d columns", len(row))
		}
		n, ok := row[0].(int64)
		if !ok {
			return nil, fmt.Errorf("PRAGMA database_list has %T for a number", row[0])
		}
		out[int(n)] = str(row[1])
	}
	return out, nil
}

// version reads a database's schema version.
func version(q Querier, name string) (int64, error) {
	rows, err := all(q, "PRAGMA "+quote(name)+".schema_version", nil)
	if err != nil {
		return 0, err
	}
	if len(rows) == 1 && len(rows[0]) == 1 {
		if v, ok := rows[0][0].(int64); ok {
			return int64(uint32(v)), nil // as the bytecode prints it, signed or not
		}
	}
	return 0, fmt.Errorf("PRAGMA schema_version of %q has %d rows", name, len(rows))
}

// readDatabase reads a database's schema. It also makes the connection notice
// that another one has changed it, which the version alone does not. The version
// is read first, so that a change in between is noticed the next time.
func readDatabase(q Querier, name string) (*database, error) {
	v, err := version(q, name)
	if err != nil {
		return nil, err
	}
	d := &database{name: name, version: v, tables: map[int]string{rootOfSchema: "sqlite_schema"}}
	rows, err := all(q, "SELECT rootpage, tbl_name, CASE WHEN sql LIKE '%changes%' THEN sql END FROM "+quote(name)+".sqlite_schema", nil)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if len(row) != 3 {
			return nil, fmt.Errorf("sqlite_schema of %q has %d columns", name, len(row))
		}
		if root, ok := row[0].(int64); ok && root > 0 { // views, triggers and virtual tables have none
			d.tables[int(root)] = str(row[1])
		}
		d.changes = d.changes || Parse(str(row[2])).changes
	}
	return d, nil
}

// all returns the rows of a statement.
func all(q Querier, text string, args []driver.NamedValue) ([][]driver.Value, error) {
	var out [][]driver.Value
	err := q.Query(text, args, func(row []driver.Value) {
		kept := make([]driver.Value, len(row))
		for i, v := range row {
			if b, ok := v.([]byte); ok {
				v = string(b)
			}
			kept[i] = v
		}
		out = append(out, kept)
	})
	return out, err
}

// quote makes an identifier of any name.
func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
