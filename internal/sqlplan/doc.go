// Package sqlplan tells how SQLite will run a statement: which tables it
// searches, which it reads from end to end, what it sorts. It does no I/O: the
// caller hands in a connection as a [Querier].
//
// # What is read
//
// Two forms of SQLite's EXPLAIN, neither of which is stable by SQLite's own
// word. EXPLAIN lists the bytecode: it names every b-tree by its root page,
// through aliases, views and CTEs, and it lists the programs of triggers and of
// foreign key actions. EXPLAIN QUERY PLAN has the wording for a person, and knows
// the ends that the bytecode only hints at: max(id) is written as a loop and is
// none. A table of the main program counts as scanned if both say so. Where
// their form is not the known one, the answer is [Unknown] and says why.
//
// # Accuracy and limits
//
// The plan is of this connection, the arguments and the statistics of ANALYZE at
// the time of the look; other arguments can have another plan (GLOB 'a*' and
// GLOB '*a'). A full pass over a table of three rows is a scan all
// the same; how much is too much is for the caller to say. A LIMIT behind a
// filter is a scan too: the first match can be in the last row. Tables that only
// a virtual table or a user function reads are not seen.
//
// # Side effects
//
// EXPLAIN runs nothing, with two exceptions that shape this package. First,
// `EXPLAIN a; b` runs b: only a text of one statement is inspected. Second,
// explaining a write sets changes() to 0, so a look comes before the statement,
// never after, and not at all if the statement, a view, a default or a trigger
// could ask for changes(). What remains is a write that is explained and then
// never started, because its context ended in between.
//
// Reading the schema starts a read transaction. Inside an explicit transaction
// that could turn a write that would have waited for its lock into one that
// fails at once, so there the schema is read only for a statement that is about
// to read the same database; see [Inspector.Inspect]. A lock that the statement
// has to wait for is waited for by the look as well, so that a wait that ends in
// SQLITE_BUSY can be met twice. Hooks of the driver (authorizer, trace) see the
// statements of a look.
//
// # Concurrency
//
// An [Inspector] belongs to one connection and, like it, to one goroutine at a
// time. The other functions have no state.
//
// # Cost
//
// Through database/sql on a small schema: about 120 µs for the first look at a
// statement, which is two EXPLAINs and, where the schema changed, one pass over
// it. A statement that is known costs 8 µs for each of its databases, to ask for
// the schema's version, and next to nothing in a transaction, where it does not
// ask. Running the statement itself took 15 µs. It is meant for tests and
// benchmarks.
package sqlplan
