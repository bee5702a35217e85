package sqlsuite

import (
	"context"
	"database/sql"
	"fmt"
	"runtime"
	"strings"
)

// A Transcript is what a program saw of its database, a line for each thing.
// Two transcripts that are equal show that the program could not tell which of
// two drivers it ran on. The zero Transcript is empty.
type Transcript struct {
	Lines []string
	// Hide is a text that differs from run to run, such as a folder; if it is not
	// empty, HIDDEN stands in its place.
	Hide string
}

// Log writes down a line.
func (t *Transcript) Log(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	if t.Hide != "" {
		line = strings.ReplaceAll(line, t.Hide, "HIDDEN")
	}
	t.Lines = append(t.Lines, line)
}

// A Target is a *sql.DB, *sql.Tx or *sql.Conn.
type Target interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
}

// Exec writes down what a statement did.
func (t *Transcript) Exec(on Target, query string, args ...any) {
	res, err := on.ExecContext(context.Background(), query, args...)
	t.Result(query, res, err)
}

// Result writes down what an Exec has returned.
func (t *Transcript) Result(query string, res sql.Result, err error) {
	if err != nil {
		t.Log("%s: %T: %v", query, err, err)
		return
	}
	id, idErr := res.LastInsertId()
	n, nErr := res.RowsAffected()
	t.Log("%s: id %d, %v; %d rows, %v", query, id, idErr, n, nErr)
}

// Query writes down everything that a query says.
func (t *Transcript) Query(on Target, query string, args ...any) {
	rows, err := on.QueryContext(context.Background(), query, args...)
	t.Rows(query, rows, err)
}

// Rows writes down everything that is in what a query has returned: its columns
// and the rows of all its result sets.
func (t *Transcript) Rows(query string, rows *sql.Rows, err error) {
	if err != nil {
		t.Log("%s: %T: %v", query, err, err)
		return
	}
	t.Log("%s", query)
	columns, err := rows.ColumnTypes()
	if err != nil {
		t.Log("columns: %v", err)
	}
	for _, c := range columns {
		length, hasLength := c.Length()
		nullable, hasNullable := c.Nullable()
		precision, scale, hasDecimal := c.DecimalSize()
		t.Log("column %s %v %q %d %t %t %t %d %d %t", c.Name(), c.ScanType(), c.DatabaseTypeName(),
			length, hasLength, nullable, hasNullable, precision, scale, hasDecimal)
	}
	for {
		for rows.Next() {
			values := make([]any, len(columns))
			for i := range values {
				values[i] = new(any)
			}
			err := rows.Scan(values...)
			for i := range values {
				values[i] = fmt.Sprintf("%T(%[1]v)", *values[i].(*any))
			}
			t.Log("row %v %v", values, err)
		}
		if !rows.NextResultSet() {
			break
		}
	}
	t.Log("rows: %v; close: %v", rows.Err(), rows.Close())
}

// AwaitIdle waits until no connection is in use: until what database/sql does
// on goroutines of its own is done.
func AwaitIdle(db *sql.DB) {
	for db.Stats().InUse > 0 {
		runtime.Gosched()
	}
}
