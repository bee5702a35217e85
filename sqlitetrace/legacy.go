package sqlitetrace

import (
	"context"
	"database/sql/driver"
	"errors"
)

// What package driver has from before contexts. These are its deprecated
// interfaces and methods under names of our own: a wrapper must go on using
// them for as long as database/sql does.
type (
	legacyConn interface {
		Begin() (driver.Tx, error)
	}
	legacyExecer interface {
		Exec(query string, args []driver.Value) (driver.Result, error)
	}
	legacyQueryer interface {
		Query(query string, args []driver.Value) (driver.Rows, error)
	}
	legacyStmt interface {
		Exec(args []driver.Value) (driver.Result, error)
		Query(args []driver.Value) (driver.Rows, error)
	}
)

// What database/sql itself answers for a driver that lacks the newer
// interfaces. The wrapper always has these, so it must answer in the same words.
var (
	errNamedParameters = errors.New("sql: driver does not support the use of Named Parameters")
	errIsolation       = errors.New("sql: driver does not support non-default isolation level")
	errReadOnly        = errors.New("sql: driver does not support read-only transactions")
)

// legacyArgs prepares a call of a driver without contexts, as database/sql
// does: named arguments are refused, and so is a context that is done already.
func legacyArgs(ctx context.Context, named []driver.NamedValue) ([]driver.Value, error) {
	args := make([]driver.Value, len(named))
	for i, nv := range named {
		if nv.Name != "" {
			return nil, errNamedParameters
		}
		args[i] = nv.Value
	}
	return args, done(ctx)
}

// done is the context's error if it is done. A context that never ends has no
// channel, and the receive from none never proceeds.
func done(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	default:
		return nil
	}
}
