package sqlitetrace

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"io"
)

// Open opens a database as [sql.Open] does, with any registered driver, and
// watches it. The errors are those of sql.Open.
//
// database/sql has no look-up of a driver by its name, so Open lets sql.Open
// open the name and the dsn, asks that database for its driver and closes it
// again before it makes its own; no connection is made. A driver that was
// registered by another wrapper may answer with the driver below itself: use
// [Probe.OpenDB] or [Probe.Driver] there.
func (p *Probe) Open(driverName, dsn string) (*sql.DB, error) {
	found, err := sql.Open(driverName, dsn)
	if err != nil {
		return nil, err
	}
	d := found.Driver()
	if err := found.Close(); err != nil {
		return nil, fmt.Errorf("sqlitetrace: close the connector that found driver %q: %w", driverName, err)
	}
	dc, ok := d.(driver.DriverContext)
	if !ok {
		return p.OpenDB(dsnConnector{d, dsn}), nil
	}
	c, err := dc.OpenConnector(dsn)
	if err != nil {
		return nil, err
	}
	return p.OpenDB(c), nil
}

// OpenDB opens a database as [sql.OpenDB] does, and watches it.
func (p *Probe) OpenDB(c driver.Connector) *sql.DB { return sql.OpenDB(p.Connector(c)) }

// Connector wraps a connector: its connections are watched. Close closes the
// original, if that can be closed, and Driver is the original's.
func (p *Probe) Connector(c driver.Connector) driver.Connector { return &connector{c, p} }

// Driver wraps a driver, for what can only open a database by a name:
//
//	sql.Register("sqlite-traced", p.Driver(d))
//
// The name is the caller's, and so is the registration, which lasts as long as
// the process.
func (p *Probe) Driver(d driver.Driver) driver.Driver {
	plain := plainDriver{d, p}
	if dc, ok := d.(driver.DriverContext); ok {
		return contextDriver{plain, dc}
	}
	return plain
}

// A plainDriver wraps a driver without DriverContext. It must not have
// OpenConnector: database/sql would then open through it.
type plainDriver struct {
	inner driver.Driver
	probe *Probe
}

// Open implements [driver.Driver].
func (d plainDriver) Open(dsn string) (driver.Conn, error) {
	c, err := d.inner.Open(dsn)
	return d.probe.wrapConn(c, err)
}

// Unwrap is the original driver.
func (d plainDriver) Unwrap() driver.Driver { return d.inner }

// A contextDriver wraps a driver with DriverContext.
type contextDriver struct {
	plainDriver
	opener driver.DriverContext
}

// OpenConnector implements [driver.DriverContext].
func (d contextDriver) OpenConnector(dsn string) (driver.Connector, error) {
	c, err := d.opener.OpenConnector(dsn)
	if err != nil || c == nil {
		return c, err
	}
	return d.probe.Connector(c), nil
}

// A connector wraps a connector.
type connector struct {
	inner driver.Connector
	probe *Probe
}

// Connect implements [driver.Connector].
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.inner.Connect(ctx)
	return c.probe.wrapConn(conn, err)
}

// Driver implements [driver.Connector]. It is the original driver, not a
// wrapper: programs switch on its type to learn the dialect.
func (c *connector) Driver() driver.Driver { return c.inner.Driver() }

// Close implements [io.Closer], which database/sql looks for on the connector
// that it was given.
func (c *connector) Close() error {
	if closer, ok := c.inner.(io.Closer); ok {
		return closer.Close()
	}
	return nil
}

// A dsnConnector opens connections of a driver without DriverContext, as
// database/sql's own does.
type dsnConnector struct {
	driver driver.Driver
	dsn    string
}

// Connect implements [driver.Connector].
func (c dsnConnector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.dsn) }

// Driver implements [driver.Connector].
func (c dsnConnector) Driver() driver.Driver { return c.driver }
