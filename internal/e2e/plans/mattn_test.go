//go:build cgo

package plans

import (
	"testing"

	_ "github.com/mattn/go-sqlite3"
)

func TestMattn(t *testing.T) { suite(t, "sqlite3") }
