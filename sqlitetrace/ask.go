package sqlitetrace

import (
	"context"
	"database/sql/driver"
	"io"
)

// An ownContext is the caller's context under another type, for a statement of
// the probe's own: a driver may know its own contexts by their type and take the
// call for another one.
type ownContext struct{ context.Context }

// ask runs a query of the probe's own on the original connection, where it is
// counted nowhere, and hands each row to a function that does not keep it.
func (c *conn) ask(ctx context.Context, text string, args []driver.NamedValue, each func([]driver.Value)) error {
	rows, err := driver.Rows(nil), error(driver.ErrSkip)
	if c.queryer != nil || c.legacyQueryer != nil {
		rows, err = c.queryInner(ctx, text, args)
	}
	if err == driver.ErrSkip {
		var prepared driver.Stmt
		if prepared, err = c.prepareInner(ctx, text); err != nil {
			return err
		}
		defer prepared.Close()
		s := stmt{inner: prepared}
		s.queryer, _ = prepared.(driver.StmtQueryContext)
		rows, err = s.queryInner(ctx, args)
	}
	if err != nil {
		return err
	}
	defer rows.Close()
	row := make([]driver.Value, len(rows.Columns()))
	for {
		switch err := rows.Next(row); err {
		case nil:
			each(row)
		case io.EOF:
			return nil
		default:
			return err
		}
	}
}
