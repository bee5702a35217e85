//go:build !go1.27

package sqlitetrace

import "database/sql/driver"

// exact gives the rows the interfaces that their original has, and puts them on
// the list of what is open.
func (r rows) exact() driver.Rows {
	r.x.conn.open.opened(&r)
	return &r
}
