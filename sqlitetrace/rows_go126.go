//go:build !go1.27

package sqlitetrace

import "database/sql/driver"

// exact gives the rows the interfaces that their original has.
func (r rows) exact() driver.Rows { return &r }
