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
	c, err := connectorOf(d, dsn)
	if err != nil {
		return nil, err
	}
	return p.openDB(&connector{inner: c, probe: p, db: p.database(dsn, true)}), nil
}

// OpenDB opens a database as [sql.OpenDB] does, and watches it.
func (p *Probe) OpenDB(c driver.Connector) *sql.DB { return p.openDB(p.connector(c)) }

// Connector wraps a connector: its connections are watched. Close closes the
// original, if that can be closed, and Driver is the original's.
func (p *Probe) Connector(c driver.Connector) driver.Connector { return p.connector(c) }

func (p *Probe) connector(c driver.Connector) *connector {
	return &connector{inner: c, probe: p, db: p.database("", false)}
}

// Driver wraps a driver, for what can only open a database by a name:
//
//	sql.Register("sqlite-traced", p.Driver(d))
//
// The name is the caller's, and so is the registration, which lasts as long as
// the process.
func (p *Probe) Driver(d driver.Driver) driver.Driver { return watchedDriver{d, p} }

// A watchedDriver wraps a driver. It has DriverContext even if the original has
// not: database/sql would then answer (*sql.DB).Driver with the wrapper, and
// opens one connection after the other by the original's Open either way.
type watchedDriver struct {
	inner driver.Driver
	probe *Probe
}

// Open implements [driver.Driver]. database/sql uses OpenConnector.
func (d watchedDriver) Open(dsn string) (driver.Conn, error) {
	c, err := d.inner.Open(dsn)
	return d.probe.wrapConn(c, err, d.probe.database(dsn, true))
}

// OpenConnector implements [driver.DriverContext].
func (d watchedDriver) OpenConnector(dsn string) (driver.Connector, error) {
	c, err := connectorOf(d.inner, dsn)
	if err != nil || c == nil {
		return c, err
	}
	return &connector{inner: c, probe: d.probe, db: d.probe.database(dsn, true)}, nil
}

// Unwrap is the original driver.
func (d watchedDriver) Unwrap() driver.Driver { return d.inner }

// connectorOf opens a driver's connector as sql.Open does.
func connectorOf(d driver.Driver, dsn string) (driver.Connector, error) {
	if dc, ok := d.(driver.DriverContext); ok {
		return dc.OpenConnector(dsn)
	}
	return dsnConnector{d, dsn}, nil
}

// A connector wraps a connector.
type connector struct {
	inner driver.Connector
	probe *Probe
	db    *database
	pool  *pool // nil for one that others open
}

// Connect implements [driver.Connector].
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.inner.Connect(callers(ctx))
	return c.probe.wrapConn(conn, err, c.db)
}

// Driver implements [driver.Connector].
func (c *connector) Driver() driver.Driver {
	if c.probe.driver == DriverAsWrapper {
		return c.probe.Driver(c.inner.Driver())
	}
	return c.inner.Driver()
}

// Close implements [io.Closer], which database/sql looks for on the connector
// that it was given.
func (c *connector) Close() error {
	if c.pool != nil {
		c.probe.closePool(c.pool)
	}
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
