package sqlitetrace_test

import (
	"database/sql/driver"
	"testing"

	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/probe/probetest"
	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// TestConform holds the probe to the contract. What it measures are an exec, a
// query and a transaction, each time on a new connection and without a sql.DB,
// whose goroutine the kit would take for the probe's.
func TestConform(t *testing.T) {
	ctx := labelled("(*Store).Get")
	exercise := func(p probe.Probe) {
		c, err := p.(*sqlitetrace.Probe).Connector(&server{shape: shape{conn: "EQB"}, quiet: true}).Connect(ctx)
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		tx, err := c.(driver.ConnBeginTx).BeginTx(ctx, driver.TxOptions{})
		if err != nil {
			t.Error(err)
			return
		}
		c.(driver.ExecerContext).ExecContext(ctx, "plain", nil)
		c.(driver.ExecerContext).ExecContext(ctx, "busy", nil)
		rows, err := c.(driver.QueryerContext).QueryContext(ctx, "rows 20", nil)
		if err != nil {
			t.Error(err)
			return
		}
		for dest := make([]driver.Value, 1); rows.Next(dest) == nil; {
		}
		rows.Close()
		tx.Commit()
	}
	probetest.Conform(t, func() probe.Probe { return sqlitetrace.New(sqlitetrace.Options{}) }, exercise)
}
