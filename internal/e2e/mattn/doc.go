// Package mattn holds the wrapped github.com/mattn/go-sqlite3 driver against the
// bare one. It has tests alone, which need cgo.
package mattn
