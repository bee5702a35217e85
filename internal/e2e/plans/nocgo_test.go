//go:build !cgo

package plans

import "testing"

func TestMattn(t *testing.T) { t.Skip("mattn/go-sqlite3 needs a C compiler: install gcc") }
