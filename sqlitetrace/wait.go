package sqlitetrace

import (
	"context"
	"database/sql"

	"github.com/tidestaff/tidestaff/probe"
)

// A DB is a *sql.DB whose callers' waits for a connection are measured, by
// method: tidestaff.db.connection.wait.duration, and for those who had the
// connection meanwhile tidestaff.db.others.wait.time. It is opt-in, because a
// driver does not see how long a call has waited for it, so that each call must
// be marked: one allocation.
//
// With (*sql.DB).SetMaxOpenConns(1), the usual advice for SQLite's writers, this
// wait is what the wait for the write lock is elsewhere.
type DB struct {
	*sql.DB
	probe *Probe
}

// Wrap makes a DB of a database that this probe watches. Methods that a DB does
// not have itself, those without a context among them, are those of the *sql.DB,
// and their waits are not measured; nor are those of statements that were
// prepared.
func (p *Probe) Wrap(db *sql.DB) *DB {
	p.marked.Store(true)
	return &DB{db, p}
}

// ExecContext is [sql.DB.ExecContext].
func (db *DB) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	ctx = db.mark(ctx, query)
	defer db.gaveUp(ctx)
	return db.DB.ExecContext(ctx, query, args...)
}

// QueryContext is [sql.DB.QueryContext].
func (db *DB) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	ctx = db.mark(ctx, query)
	defer db.gaveUp(ctx)
	return db.DB.QueryContext(ctx, query, args...)
}

// QueryRowContext is [sql.DB.QueryRowContext].
func (db *DB) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	ctx = db.mark(ctx, query)
	defer db.gaveUp(ctx)
	return db.DB.QueryRowContext(ctx, query, args...)
}

// PrepareContext is [sql.DB.PrepareContext].
func (db *DB) PrepareContext(ctx context.Context, query string) (*sql.Stmt, error) {
	ctx = db.mark(ctx, query)
	defer db.gaveUp(ctx)
	return db.DB.PrepareContext(ctx, query)
}

// BeginTx is [sql.DB.BeginTx].
func (db *DB) BeginTx(ctx context.Context, opts *sql.TxOptions) (*sql.Tx, error) {
	ctx = db.mark(ctx, "")
	defer db.gaveUp(ctx)
	return db.DB.BeginTx(ctx, opts)
}

// PingContext is [sql.DB.PingContext].
func (db *DB) PingContext(ctx context.Context) error {
	ctx = db.mark(ctx, "")
	defer db.gaveUp(ctx)
	return db.DB.PingContext(ctx)
}

// A markedContext is a context that says since when its call has waited. The
// driver gets the caller's own, which this one wraps.
type markedContext struct {
	context.Context
	series *series
	start  int64
	served bool // a connection has been had
}

// mark marks a call, if anybody watches.
func (db *DB) mark(ctx context.Context, query string) context.Context {
	p := db.probe
	if ctx == nil || !p.core.Watched() {
		return ctx
	}
	return &markedContext{Context: ctx, series: p.series.Named(ctx, sqlcName(query)), start: probe.Now()}
}

// waits gives the recorder of the method's waits for a connection.
func (s *series) waits() *probe.Recorder {
	return s.wait.get(func() *probe.Recorder { return s.probe.core.Recorder(descCallWait, s.base()...) })
}

// gaveUp records the wait of a call that returns without having had a connection:
// its context ended, or none could be made. Nobody is charged.
func (db *DB) gaveUp(ctx context.Context) {
	if m, ok := ctx.(*markedContext); ok && !m.served {
		m.series.waits().Record(probe.Now() - m.start)
	}
}

// callers gives the caller's own context.
func callers(ctx context.Context) context.Context {
	if m, ok := ctx.(*markedContext); ok {
		return m.Context
	}
	return ctx
}

// served is callers for a context with which database/sql comes to a connection:
// the wait is over. It may come with the same one again.
func (c *conn) served(ctx context.Context) context.Context {
	if m, ok := ctx.(*markedContext); ok {
		c.serve(m)
		return m.Context
	}
	return ctx
}

func (c *conn) serve(m *markedContext) {
	if m.served {
		return
	}
	m.served = true
	now := probe.Now()
	m.series.waits().RecordShard(c.shard, now-m.start)
	c.uses.charge(m.start, now, c.probe.pairs.forgotten)
}

// keptUses is how many of its last uses a connection remembers. What was waited
// for longer ago is charged to "(other)".
const keptUses = 16

// uses are a connection's last uses, for those who waited for it: whole
// transactions, and executions outside of one. Only the connection's user of the
// moment touches them.
type uses struct {
	last [keptUses]use
	n    int
	lost int64 // when the last use that is remembered no more had ended
}

type use struct {
	by         *series
	start, end int64
}

func (u *uses) add(by *series, start, end int64) {
	slot := &u.last[u.n%keptUses]
	u.lost = slot.end
	*slot = use{by, start, end}
	u.n++
}

// charge charges a wait to those who had the connection in that time, and what is
// beyond the connection's memory to forgotten.
func (u *uses) charge(start, end int64, forgotten *series) {
	if ns := min(u.lost, end) - start; ns > 0 {
		forgotten.othersWaited(resourceConnection, ns)
	}
	for i := u.n - 1; i >= max(0, u.n-keptUses); i-- {
		had := &u.last[i%keptUses]
		ns := min(had.end, end) - max(had.start, start)
		if ns <= 0 {
			return // it and all before it ended earlier
		}
		had.by.othersWaited(resourceConnection, ns)
	}
}
