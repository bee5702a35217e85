//go:build !go1.27

package sqlitetrace

import "database/sql/driver"

// newRows makes empty rows, and exact, which is them with the interfaces that
// their original has.
func newRows(driver.Rows) (r *rows, exact driver.Rows) {
	r = new(rows)
	return r, r
}
