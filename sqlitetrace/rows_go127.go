//go:build go1.27

package sqlitetrace

import (
	"database/sql/driver"

	"github.com/tidestaff/tidestaff/probe"
)

// A scannerRows wraps rows that scan by themselves. database/sql then calls
// NextRow and ScanColumn in place of Next, so only such rows may have them.
type scannerRows struct {
	rows
	scanner driver.RowsColumnScanner
}

// newRows makes empty rows, and exact, which is them with the interfaces that
// their original has.
func newRows(inner driver.Rows) (r *rows, exact driver.Rows) {
	if scanner, ok := inner.(driver.RowsColumnScanner); ok {
		s := &scannerRows{scanner: scanner}
		return &s.rows, s
	}
	r = new(rows)
	return r, r
}

// NextRow implements [driver.RowsColumnScanner].
func (r *scannerRows) NextRow() error {
	var err error
	if r.timed = r.timer.step(); r.timed {
		start := probe.Now()
		err = r.scanner.NextRow()
		r.timer.took(probe.Now() - start)
	} else {
		err = r.scanner.NextRow()
	}
	if err != nil {
		r.stopped(err)
	}
	return err
}

// ScanColumn implements [driver.RowsColumnScanner]. The driver decodes the
// column here, which is its time: that of the step, and timed with it.
func (r *scannerRows) ScanColumn(ctx driver.ScanContext, i int, dest any) error {
	if !r.timed {
		return r.scanner.ScanColumn(ctx, i, dest)
	}
	start := probe.Now()
	err := r.scanner.ScanColumn(ctx, i, dest)
	r.timer.more(probe.Now() - start)
	return err
}
