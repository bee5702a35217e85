package sqlitetrace

import (
	"database/sql/driver"
	"io"
	"reflect"

	"github.com/tidestaff/tidestaff/probe"
)

// A rows wraps the rows of a query: the part of its execution after the call.
// It has all optional interfaces of package driver up to Go 1.26 and answers as
// database/sql would in their absence; from Go 1.27 on see scannerRows.
//
// database/sql holds the connection's lock in every call, also in the Close of
// a context that ends while rows are read, so the fields need none.
//
// Note: wrappers are not pooled. A second Close through (*sql.Conn).Raw would
// hit somebody else's rows.
type rows struct {
	inner   driver.Rows
	x       execution
	call    int64     // ns of the call that made the rows
	timer   stepTimer // of Next, and from Go 1.27 on of NextRow and ScanColumn
	rowless int64     // steps that gave no row: the last one, normally

	timed  bool // the present step is
	closed bool // the execution has ended

	nextOpen, prevOpen *rows // in the connection's list
}

// wrapRows hands the execution on to the rows that the original has returned. A
// failed or unwatched query's rows, and none at all, are returned as they are.
func (x *execution) wrapRows(inner driver.Rows, err error) (driver.Rows, error) {
	if err != nil || inner == nil || x.series == nil {
		return inner, err
	}
	now := probe.Now()
	call := now - x.span.Start()
	x.began(call)
	x.series.cursors().active.Add(1)
	r, exact := newRows(inner)
	r.inner, r.x, r.call = inner, *x, call
	r.x.args = x.conn.probe.keptArguments(x.args)
	r.timer = newStepTimer(x.conn.probe.timing, uint32(now))
	x.conn.open.opened(r)
	x.series = nil // the rows end it, and with it the bid for the lock
	if x.text.effect == effectCheckpoint {
		exact = r.peeked(exact)
	}
	return exact, nil
}

// Next implements [driver.Rows].
func (r *rows) Next(dest []driver.Value) error {
	if r.timed = r.timer.step(); r.timed {
		return r.nextTimed(dest)
	}
	err := r.inner.Next(dest) // dest is the caller's: never kept
	if err != nil {
		r.stopped(err)
	}
	return err
}

func (r *rows) nextTimed(dest []driver.Value) error {
	start := probe.Now()
	err := r.inner.Next(dest)
	r.timer.took(probe.Now() - start)
	if err != nil {
		r.stopped(err)
	}
	return err
}

// stopped notes a step that gave no row.
func (r *rows) stopped(err error) {
	r.rowless++
	if err != io.EOF { // not errors.Is: database/sql compares it so
		r.failed(err)
	}
}

// count is how many rows were stepped to, read or not.
func (r *rows) count() int64 { return r.timer.steps - r.rowless }

// failed notes the query's first failure.
func (r *rows) failed(err error) {
	if r.x.failure == classNone {
		r.x.failure = classOf(r.x.ctx, r.x.conn.probe.system, err)
	}
}

// Close implements [driver.Rows]. It ends the execution, the first time; an
// INSERT with RETURNING may commit in it.
func (r *rows) Close() error {
	if r.closed {
		return r.inner.Close()
	}
	r.closed = true
	start, returned := probe.Now(), false
	defer func() {
		if !returned && r.x.failure == classNone {
			r.x.failure = classOther // it panics
		}
		r.end(start)
	}()
	err := r.inner.Close()
	returned = true
	if err != nil {
		r.failed(err)
	}
	return err
}

// end counts the query. Its close began at start.
func (r *rows) end(start int64) {
	x := &r.x
	held, _ := x.conn.probe.core.End(x.span)
	closing := x.span.Start() + held - start
	// What is estimated cannot be longer than the time there was for it.
	step := min(r.timer.estimate(), held-r.call-closing)
	x.op.AddQueries(0, step+closing, r.count())
	if n := r.timer.scaled(); n > 0 {
		x.series.samples.Add(n)
	}
	x.count(r.call + step + closing)
	s := x.series.cursors()
	s.call.Add(r.call)
	if s.step != nil {
		s.step.Add(step)
		s.idle.Add(held - r.call - step - closing)
	}
	s.close.Add(closing)
	s.rows.RecordShard(x.conn.shard, r.count())
	s.held.RecordShard(x.conn.shard, held)
	s.active.Add(-1)
	x.conn.open.closed(r)
	x.finish(held, split{r.call, step, closing, r.count()})
	x.args = nil
}

// Columns implements [driver.Rows].
func (r *rows) Columns() []string { return r.inner.Columns() }

// HasNextResultSet implements [driver.RowsNextResultSet].
func (r *rows) HasNextResultSet() bool {
	n, ok := r.inner.(driver.RowsNextResultSet)
	return ok && n.HasNextResultSet()
}

// NextResultSet implements [driver.RowsNextResultSet]. The rows of all result
// sets are those of one query.
func (r *rows) NextResultSet() error {
	n, ok := r.inner.(driver.RowsNextResultSet)
	if !ok {
		return io.EOF
	}
	start := probe.Now() // always timed: it may run the next statement
	err := n.NextResultSet()
	if !r.timer.off() {
		r.timer.exact += probe.Now() - start
	}
	if err != nil && err != io.EOF {
		r.failed(err)
	}
	return err
}

// ColumnTypeScanType implements [driver.RowsColumnTypeScanType].
func (r *rows) ColumnTypeScanType(i int) reflect.Type {
	if t, ok := r.inner.(driver.RowsColumnTypeScanType); ok {
		return t.ColumnTypeScanType(i)
	}
	return reflect.TypeFor[any]()
}

// ColumnTypeDatabaseTypeName implements [driver.RowsColumnTypeDatabaseTypeName].
func (r *rows) ColumnTypeDatabaseTypeName(i int) string {
	if t, ok := r.inner.(driver.RowsColumnTypeDatabaseTypeName); ok {
		return t.ColumnTypeDatabaseTypeName(i)
	}
	return ""
}

// ColumnTypeLength implements [driver.RowsColumnTypeLength].
func (r *rows) ColumnTypeLength(i int) (length int64, ok bool) {
	if t, ok := r.inner.(driver.RowsColumnTypeLength); ok {
		return t.ColumnTypeLength(i)
	}
	return 0, false
}

// ColumnTypeNullable implements [driver.RowsColumnTypeNullable].
func (r *rows) ColumnTypeNullable(i int) (nullable, ok bool) {
	if t, ok := r.inner.(driver.RowsColumnTypeNullable); ok {
		return t.ColumnTypeNullable(i)
	}
	return false, false
}

// ColumnTypePrecisionScale implements [driver.RowsColumnTypePrecisionScale].
func (r *rows) ColumnTypePrecisionScale(i int) (precision, scale int64, ok bool) {
	if t, ok := r.inner.(driver.RowsColumnTypePrecisionScale); ok {
		return t.ColumnTypePrecisionScale(i)
	}
	return 0, 0, false
}
