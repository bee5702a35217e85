// Package sqlitetrace measures what a service does with its SQL database, by
// wrapping the database/sql driver, without changing what the program can
// observe of it.
//
//	p := sqlitetrace.New(sqlitetrace.Options{})
//	db, err := p.Open("sqlite", dsn) // any registered driver; a *sql.DB like any other
//
// It is made for embedded SQLite, where a query is CPU and disk time of this
// very process, and works with any driver.
//
// # What is measured
//
// Per store method, role of the goroutine and kind of operation (exec, query,
// tx):
//
//   - db.client.operation.duration: the time in the driver. For a query that is
//     the call, plus stepping its rows, plus closing them: SQLite does the work
//     of a query while its rows are stepped, and an INSERT with RETURNING commits
//     in the last step or in the close. Its count is the number of operations.
//   - tidestaff.db.queries: statements executed, each once. A driver.ErrSkip, a
//     prepare, a ping and a session reset are none; begin, commit and rollback
//     are operations of kind tx and no queries.
//   - tidestaff.db.query.time: a query's time by phase: call, step, close, and
//     idle, in which the application sat on an open cursor, which pins the
//     write-ahead log.
//   - db.client.response.returned_rows: rows stepped per query.
//   - tidestaff.db.affected_rows: rows that a statement has inserted, updated or
//     deleted, if it was executed by Exec.
//   - tidestaff.db.cursor.duration: a query's wall time, from its start to the
//     end of its close, the application's own time between the rows included.
//   - tidestaff.db.cursor.active: cursors open now. One that is never closed
//     stays here and in [Probe.Held], and appears in nothing else but
//     tidestaff.db.queries.
//   - tidestaff.db.errors by class, and tidestaff.db.retries.
//
// Per transaction, by the method that began it, also where statements begin and
// end it ("BEGIN IMMEDIATE" on a *sql.Conn):
//
//   - tidestaff.db.transaction.duration by outcome: the hold, from the end of
//     the begin to the end of the commit or rollback. Abandoned is a transaction
//     that was rolled back because its context had ended.
//   - tidestaff.db.transaction.time by phase: begin, statements, idle, commit,
//     rollback. Idle is what the hold has over the time in the driver.
//   - tidestaff.db.transaction.statements and .active.
//
// For SQLite, per database file, the ledger of the write lock:
//
//   - tidestaff.db.lock.hold.duration, by the method that held it.
//   - tidestaff.db.lock.waits, .wait.time and .poll.time, by who waited and who
//     held it. Polling is the part of a wait in which the lock was free: SQLite
//     asks for it after 1, 2, 5, 10, ... 100 ms, and sleeps on in between.
//   - tidestaff.db.others.wait.time: the same, charged to the method that held.
//
// Per database and pool, looked at when a window is read:
//
//   - tidestaff.db.file.size of the database and of its write-ahead log, if its
//     path is known from the dsn.
//   - tidestaff.sqlite.pages, .free_pages and .page_size, as the last
//     [Probe.CountPages] found them: only SQLite can tell, so that it takes a
//     statement, which nothing here runs unasked.
//   - db.client.connection.count and .max, tidestaff.db.connection.waits,
//     .wait.time and .closed, from sql.DBStats, of a *sql.DB that [Probe.Open] or
//     [Probe.OpenDB] has made.
//
// Per database, of each PRAGMA wal_checkpoint that the program runs, alone in its
// text:
//
//   - tidestaff.sqlite.checkpoint.duration by mode: its time in the driver, the
//     wait for readers and writers included.
//   - tidestaff.sqlite.checkpoint.blocked, .log_frames and .moved_frames: what its
//     row says, if the program reads it.
//
// SQLite's automatic checkpoints are a part of the commit that set them off, and
// cannot be told from it through database/sql: to see them, turn them off (PRAGMA
// wal_autocheckpoint = 0) and run one's own.
//
// Per method, of calls that go through a [DB]:
//
//   - tidestaff.db.connection.wait.duration, from the call to its having a
//     connection, making a new one included, or to its giving up.
//     tidestaff.db.others.wait.time charges it to those who had that connection
//     meanwhile, and to "(other)" what was before its last 16 uses.
//
// Per statement, if [Options].Plans asks for it and the database is SQLite:
//
//   - tidestaff.sqlite.plans: statements executed, by the class of their plan:
//     none, search, limited scan, scan, scan+sort, automatic index, unknown.
//   - tidestaff.sqlite.full_scans: tables that a statement's plan reads from end
//     to end (the last three known classes), by method, role, table and class.
//     A trigger's tables count for the statement that sets it off.
//   - tidestaff.sqlite.plan_looks and .plan_look.time: what these answers cost, by
//     database. See "What the program can observe" for what is in the time.
//
// That no request reads a table from end to end is then a look at a window's
// metrics: no series of full_scans has that table and the role "request".
//
// Each statement by itself, if [Options].Statements asks for it:
//
//   - tidestaff.db.statements: statements executed, by method, role, text without
//     literals, line of the service, a hash of their arguments and literals, and the
//     class of their plan if that was asked for. A detail: it never leaves the process
//     by itself. Budgets of duplicates and snapshots (package probetest) are made from it.
//
// A statement that spends [Options].Slow or longer in the driver makes an event
// tidestaff.db.slow, with its method and role, where its time went
// (tidestaff.db.call, .step, .close, .idle and .lock_wait, in seconds), its rows,
// the class of its plan if that was asked for, and its text without literals and
// comments, in which a name in double quotes stands only if it could do without
// them (SQLite takes an unknown one for a string). Its arguments are nowhere,
// unless [Options].ShowArguments asks for them. [Probe.Held] lists the cursors and
// transactions that are open now, for a leak hunt.
//
// The method and the role of an execution are those of [probe.LabelOf], but that
// the name which sqlc has given a query ("-- name: GetUser :one") comes before
// the call chain, and that [Options].SkipPackages are passed over on it. Rows
// belong to the query that made them, commit and rollback to the method that
// began the transaction, on whatever goroutine they run. Each query also adds
// itself, its time and its rows to the [probe.Op] in its context; rows that are
// closed after the operation's End no longer count in it.
//
// # Accuracy and limits
//
// Counts and rows are exact. Call and close are always timed. Of the steps the
// first 2 are timed, then one in 32 at a random place, and these are scaled: a
// clock read before and after each row would add an eighth to a query of 100 rows. Over
// 100,000 rows the estimate is within 5 % of the truth, and it is never more
// than the cursor's duration leaves room for. The phases step and idle and the
// operation's duration rest on it, and say in their [probe.Provenance] that they
// are sampled in a window in which steps were scaled, and from how many samples.
// (tidestaff.operation.sql.time is made of the same times and does not say so.)
// [Options].RowTiming can have every step timed, or none.
//
// What a statement does is read from its text, once per text: from how each
// statement in it begins. So a PRAGMA that writes is not taken for a write, a
// write to a temporary or an attached table is taken for one to the database,
// and a transaction that SAVEPOINT begins is not seen as one.
//
// An attempt that fails with [driver.ErrBadConn] outside a transaction is not a
// query: database/sql tries again, and it is a retry. (If every attempt fails,
// the statement has run nowhere: there are retries and no query.) Inside a
// transaction it is a failed query of class bad_conn.
//
// Errors are classed by what the driver says in types and codes, never by their
// text: busy, busy_snapshot (a read transaction that can no longer write; SQLite
// reports it at once and waits for nothing), locked, constraint, canceled,
// deadline, bad_conn, other. SQLite's result codes are found in the errors of
// modernc.org/sqlite, mattn/go-sqlite3 and ncruces/go-sqlite3; if
// [Options].System is not "sqlite", SQLSTATE is looked for. An operation has at
// most one error, its first.
//
// The write lock is held from the BEGIN IMMEDIATE or EXCLUSIVE (in words, by
// _txlock in the dsn, or by what ncruces/go-sqlite3 does unasked; the dsn of a
// connector is not known, and taken to say nothing) or from a transaction's first
// write to the return of the commit or rollback, and by a write outside a
// transaction for as long as that takes. A statement that fails can end its
// transaction in SQLite, which nobody tells database/sql: INSERT OR ROLLBACK, a
// full disk, an interrupt. The hold then ends at that failure. mattn/go-sqlite3
// and ncruces/go-sqlite3 say so at once; elsewhere it is found by the next write
// of another connection, or when the commit or rollback finds no transaction. A
// commit that fills the write-ahead log makes a checkpoint before it returns, for
// which SQLite needs the lock no more; it is in the hold nevertheless. Holders
// and waiters must be of one Probe, and of one file: see [Options].DBKey. A
// database that a URI opens read-only (mode=ro, immutable) takes no lock. Of the
// databases that are opened after 64 others, each *sql.DB has a ledger of its
// own, none has the size of its files, and all share the name "(other)". Who
// waits for another process, or another Probe, waits for "(external)", which is
// seen where the wait ends in SQLITE_BUSY or in a BEGIN IMMEDIATE of 8 ms or
// more; a write that had to wait so is a long write. A wait of less than a
// millisecond, SQLite's first sleep, is none. Of a wait during which more than
// 256 holds passed by, the time before the last 256 of them is charged to
// "(other)". How long a statement polled before it did its work is bounded by
// what SQLite's busy handler sleeps. In rollback-journal mode readers hold up a
// commit as well, which is not in the ledger, nor are the locks of a shared cache
// and what a PRAGMA or VACUUM of another connection locks.
//
// A checkpoint of an attached database is taken for one of the database. Its row's
// numbers are not seen in an Exec, nor where the driver's rows scan by themselves
// (driver.RowsColumnScanner, from Go 1.27 on).
//
// A plan is what EXPLAIN and EXPLAIN QUERY PLAN say before a statement's first
// execution on a connection, with the arguments of that one: others may have
// another plan. It holds until the schema changes. A full pass over three rows is
// a scan all the same. Whatever goes wrong in a look is no error of the program;
// the plan is unknown, as is that of a text of several statements or of more than
// 64 KiB, of a PRAGMA or a change of the schema, of a write where something calls
// changes(), and of a write in a transaction that began while nobody watched.
// Beyond 1,000 series, the scanned tables are counted under "(other)".
//
// The time that a call waits for a connection from the pool is spent in
// database/sql, and only seen per method by who uses a [DB]. Whoever calls the database from inside the
// database (a user-defined function) is timed twice.
//
// # What the program can observe
//
// A wrapped connection and statement implement exactly the optional interfaces
// of package driver that the original implements, wherever their presence makes
// a difference to database/sql; the rest are always there and answer as
// database/sql would without them. Errors, contexts, arguments and results pass
// through as they are. (*sql.DB).Driver is the original driver, unless
// [Options].DriverAs says otherwise. A wrapped connection gives the original one
// from Unwrap() driver.Conn and Raw() driver.Conn, and [Raw] finds it below
// further wrappers: a direct type assertion to the driver's own type is the one
// thing that no wrapper can make succeed.
//
// With [Options].Plans a statement has company on its connection, which leaves
// the data, changes(), total_changes() and data_version as they are, but for a
// write whose context ends between the look and its start: changes() is then 0.
// The driver's hooks (an authorizer, a trace) see the statements of a look, and a
// lock that the statement would wait for is waited for by the look as well: such
// a wait is in tidestaff.sqlite.plan_look.time and in no other metric. In a
// transaction, the time of a look is idle time and hold.
//
// # Concurrency
//
// A Probe is safe for concurrent use and serves any number of databases. It has
// no global state and starts no goroutine.
//
// # Cost
//
// With no window open an Exec costs one atomic load and no allocation, and rows
// are the driver's own. With one, an Exec whose context has a complete label
// allocates nothing, a query once. In floors, of two readings of the clock and a
// record, which are what no wrapper that measures can do without, an Exec takes
// about 2.3, with a call chain to find 2.5, and a query of 100 rows 15; a wrapper
// with OpenTelemetry's SDK takes 24 and 90. The repository's bench/ has all of them.
//
// With [Options].Plans the first look at a statement costs two statements more,
// an EXPLAIN and an EXPLAIN QUERY PLAN, on each connection, and the first of all
// the reading of the schema. One that is known costs the question for the schema's
// version, and next to nothing in a transaction: an Exec takes 1.6 to 1.8 times as
// long, begin with commit 2.9 to 3.7 times (bench/, modernc.org/sqlite and
// mattn/go-sqlite3). tidestaff.sqlite.plan_look.time has the sum. A connection
// remembers at most 512 texts, of together 1 MiB.
//
// # Platforms
//
// All.
package sqlitetrace
