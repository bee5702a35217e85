package sqlitetrace

import (
	"context"
	"database/sql/driver"

	"github.com/tidestaff/tidestaff/probe"
)

// A tx wraps a transaction. Its commit or rollback belongs to the method that
// began it: database/sql may roll back on a goroutine of its own. One that was
// begun while nobody watched has no method, and its end is not counted.
type tx struct {
	conn   *conn
	inner  driver.Tx
	series *series
	op     *probe.Op
	open   bool // neither committed nor rolled back
}

// Begin implements [driver.Conn]. database/sql uses BeginTx; this is for who
// gets at the connection through (*sql.Conn).Raw.
func (c *conn) Begin() (driver.Tx, error) {
	x := c.begin(context.Background(), kindTx, "")
	defer x.end()
	t, err := legacyConn(c.inner).Begin()
	x.returned(err)
	return c.wrapTx(t, err, &x)
}

// BeginTx implements [driver.ConnBeginTx].
func (c *conn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	x := c.begin(ctx, kindTx, "")
	defer x.end()
	t, err := c.beginInner(ctx, opts)
	x.returned(err)
	return c.wrapTx(t, err, &x)
}

// beginInner begins a transaction of the original connection. Without BeginTx
// it refuses the options that cannot be passed on, and looks at the context once
// the transaction is there, as database/sql does.
func (c *conn) beginInner(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if b, ok := c.inner.(driver.ConnBeginTx); ok {
		return b.BeginTx(ctx, opts)
	}
	if opts.Isolation != 0 {
		return nil, errIsolation
	}
	if opts.ReadOnly {
		return nil, errReadOnly
	}
	t, err := legacyConn(c.inner).Begin()
	if err == nil && done(ctx) != nil {
		t.Rollback()
		return nil, ctx.Err()
	}
	return t, err
}

// wrapTx wraps what the original has returned. A connection has one transaction
// at a time, whose wrapper is part of the connection's; only a caller that goes
// around database/sql can make a second one.
func (c *conn) wrapTx(inner driver.Tx, err error, x *execution) (driver.Tx, error) {
	if err != nil || inner == nil {
		return inner, err
	}
	t := &c.tx
	if t.open {
		t = new(tx)
	}
	*t = tx{conn: c, inner: inner, series: x.series, op: x.op, open: true}
	return t, nil
}

// Commit implements [driver.Tx]. In rollback-journal mode and with full
// synchronisation this is where SQLite waits for the disk. Whatever it returns,
// database/sql regards the transaction as ended.
func (t *tx) Commit() error {
	x := t.beginEnd()
	defer x.end()
	err := t.inner.Commit()
	x.returned(err)
	t.open = false
	return err
}

// Rollback implements [driver.Tx].
func (t *tx) Rollback() error {
	x := t.beginEnd()
	defer x.end()
	err := t.inner.Rollback()
	x.returned(err)
	t.open = false
	return err
}

// beginEnd begins the execution that ends the transaction, once: who goes around
// database/sql may roll back after a commit, which ends nothing.
func (t *tx) beginEnd() execution {
	if t.series == nil || !t.open {
		return execution{}
	}
	return t.conn.beginAs(context.Background(), kindTx, t.series, t.op, noStatement)
}
