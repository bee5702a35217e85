package sqlitetrace

import (
	"context"
	"database/sql"
	"database/sql/driver"
)

// Raw calls fn with the driver's own connection, as (*sql.Conn).Raw does, below
// all wrappers that say what they wrap: this package's, and those that have a
// method Unwrap, Raw or WrappedConn of no arguments that returns a driver.Conn.
// It is for calls of the driver's own type (a backup, a user-defined function),
// which no wrapper can forward. What fn does to the connection is not measured.
//
// The error is fn's, that of ctx if it is done before fn is called, or that of
// a closed connection.
func Raw(ctx context.Context, c *sql.Conn, fn func(driverConn any) error) error {
	return c.Raw(func(dc any) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return fn(unwrap(dc))
	})
}

// maxWrappers bounds the search in a chain of wrappers that is a circle.
const maxWrappers = 32

func unwrap(dc any) any {
	for range maxWrappers {
		inner := innerConn(dc)
		if inner == nil {
			break
		}
		dc = inner
	}
	return dc
}

// innerConn is what a wrapper wraps, nil for what is none.
func innerConn(dc any) driver.Conn {
	switch w := dc.(type) {
	case interface{ Unwrap() driver.Conn }:
		return w.Unwrap()
	case interface{ Raw() driver.Conn }:
		return w.Raw()
	case interface{ WrappedConn() driver.Conn }:
		return w.WrappedConn()
	}
	return nil
}
