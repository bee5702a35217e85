// Package plans asks real SQLite drivers how they run real statements and holds
// what internal/sqlplan makes of the answers to what is true.
//
// modernc.org/sqlite and mattn/go-sqlite3 are the same SQLite built with different
// options, so some plans differ; the tests say where. Without a C compiler only
// the first is tested.
package plans
