package sqlitetrace_test

import (
	"database/sql/driver"
	"io"
	"reflect"
)

// A fakeRows counts down. A query "sets" has a second result set.
type fakeRows struct {
	conn  *fakeConn
	query string
	left  int
	set   int
}

func (r *fakeRows) Columns() []string { return []string{"n"} }

func (r *fakeRows) Next(dest []driver.Value) error {
	if r.left == 0 {
		if r.query == "breaks" {
			return codeError(517)
		}
		return io.EOF
	}
	r.left--
	dest[0] = int64(r.left)
	if r.query == "cursor" {
		dest[0] = driver.Rows(&fakeRows{conn: r.conn, query: "rows 2", left: 2})
	}
	return nil
}

func (r *fakeRows) Close() error {
	r.conn.log("close rows")
	switch r.query {
	case "fails to close":
		return errFake
	case "panics to close":
		panic("fake: panic")
	}
	return nil
}

// richRows have all optional interfaces.
type richRows struct{ *fakeRows }

func (r richRows) HasNextResultSet() bool { return r.query == "sets" && r.set == 0 }

func (r richRows) NextResultSet() error {
	if !r.HasNextResultSet() {
		return io.EOF
	}
	r.set, r.left = 1, 3
	return nil
}

func (richRows) ColumnTypeScanType(int) reflect.Type               { return reflect.TypeFor[int32]() }
func (richRows) ColumnTypeDatabaseTypeName(int) string             { return "FAKE" }
func (richRows) ColumnTypeLength(int) (int64, bool)                { return 7, true }
func (richRows) ColumnTypeNullable(int) (bool, bool)               { return true, true }
func (richRows) ColumnTypePrecisionScale(int) (int64, int64, bool) { return 5, 2, true }
