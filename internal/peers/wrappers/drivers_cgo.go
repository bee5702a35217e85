//go:build cgo

package wrappers

import _ "github.com/mattn/go-sqlite3" // registers "sqlite3"

// cgoTargets are the drivers in C.
var cgoTargets = []target{{"mattn", ":memory:", registered("sqlite3")}}
