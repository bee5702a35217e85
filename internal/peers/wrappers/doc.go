// Package wrappers puts sqlitetrace beside the other wrappers of database/sql
// drivers, at their newest versions: what each of them adds to the CPU time and
// the allocations of five operations, on a driver that does nothing and on two
// real ones.
//
// # What is compared
//
// Five operations of a [Store]: an Exec, a QueryRow, a Query of a hundred rows,
// a prepared Exec, and a begin with its commit. They run on one connection: of
// an instant driver, which is what shows a wrapper's own cost, and of
// modernc.org/sqlite and (with cgo) mattn/go-sqlite3 in memory, which show what
// part of a real statement that is.
//
// The rivals do as little as they can be told to: no spans, a context that
// carries nothing, no exemplars, nobody who collects. xsam-noop and sqlmw keep
// no numbers at all, and uptrace none of transactions. The tests of this package
// hold all of them to the same work: what the program gets, what reaches the
// driver, what is left in the database, and, of those that keep numbers, that
// they do.
//
// tidestaff is sqlitetrace with a window open and a context that says who calls;
// tidestaff-auto finds that out by the call chain, tidestaff-exact times every
// row, and tidestaff-unwatched has no window. tidestaff-plans, on the real drivers
// alone, has SQLite asked for each statement's plan, as tests do.
//
// # Accuracy and limits
//
// The metric cpu-ns/op is the CPU time of the process, all its threads
// together, so that garbage collection counts and other processes on the
// machine do not. What remains of them is in the caches: quote a ratio, or a
// difference that is far above the least and the most beside it. A call chain
// costs by its depth, and that of a benchmark is short.
//
// `go run ./internal/peers/cmd/bench -set sql` measures and prints them.
package wrappers
