package plans

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidestaff/tidestaff/internal/sqlplan"
)

// A database is one connection to a file, and its inspector.
type database struct {
	*testing.T
	driver string
	path   string
	conn   *sql.Conn
	inTx   bool
	bare   bool // run does not inspect
	in     sqlplan.Inspector
}

// open opens a file and runs the statements of setup.
func open(t *testing.T, driverName, path string, setup ...string) *database {
	t.Helper()
	if path == "" {
		path = filepath.Join(t.TempDir(), "test.db")
	}
	db, err := sql.Open(driverName, path)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(); db.Close() })
	d := &database{T: t, driver: driverName, path: path, conn: conn}
	for _, s := range setup {
		d.exec(s)
	}
	return d
}

func (d *database) exec(text string, args ...any) {
	d.Helper()
	if _, err := d.conn.ExecContext(context.Background(), text, args...); err != nil {
		d.Fatalf("%s: %v", text, err)
	}
}

// scalar runs a query of one value.
func (d *database) scalar(text string) (v string) {
	d.Helper()
	if err := d.conn.QueryRowContext(context.Background(), text).Scan(&v); err != nil {
		d.Fatalf("%s: %v", text, err)
	}
	return v
}

// Query and InTx make it a sqlplan.Querier.
func (d *database) Query(text string, args []driver.NamedValue, each func([]driver.Value)) error {
	var list []any
	for _, a := range args {
		if a.Name != "" {
			list = append(list, sql.Named(a.Name, a.Value))
		} else {
			list = append(list, a.Value)
		}
	}
	rows, err := d.conn.QueryContext(context.Background(), text, list...)
	if err != nil {
		return err
	}
	defer rows.Close()
	cols, err := rows.Columns()
	if err != nil {
		return err
	}
	row, to := make([]driver.Value, len(cols)), make([]any, len(cols))
	for i := range row {
		to[i] = (*any)(&row[i])
	}
	for rows.Next() {
		if err := rows.Scan(to...); err != nil {
			return err
		}
		each(row)
	}
	return rows.Err()
}

func (d *database) InTx() bool { return d.inTx }

// inspect returns the plan of a statement that must have one.
func (d *database) inspect(text string, args ...any) sqlplan.Plan {
	d.Helper()
	var list []driver.NamedValue
	for i, a := range args {
		v := driver.NamedValue{Ordinal: i + 1, Value: a}
		if n, ok := a.(sql.NamedArg); ok {
			v.Name, v.Value = n.Name, n.Value
		}
		list = append(list, v)
	}
	p, _, err := d.in.Inspect(d, text, list)
	if err != nil {
		d.Fatalf("inspect %s: %v", text, err)
	}
	return p
}

// want holds the plan of a statement to one line: see words.
func (d *database) want(want, text string, args ...any) sqlplan.Plan {
	d.Helper()
	p := d.inspect(text, args...)
	if got := words(p); got != want {
		d.Errorf("%s\n got %s\nwant %s\n%s", text, got, want, strings.Join(p.Lines, "\n"))
	}
	return p
}

// words writes a plan as "class: table class, table class via what".
func words(p sqlplan.Plan) string {
	var tables []string
	for _, a := range p.Tables {
		s := fmt.Sprintf("%s %v", a.Table, a.Class)
		if a.Via != "" {
			s += " via " + a.Via
		}
		tables = append(tables, s)
	}
	s := p.Class.String()
	if len(tables) > 0 {
		s += ": " + strings.Join(tables, ", ")
	}
	if p.Why != "" {
		s += " (" + p.Why + ")"
	}
	return s
}
