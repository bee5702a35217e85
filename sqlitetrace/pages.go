package sqlitetrace

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/tidestaff/tidestaff/probe"
)

var (
	descPages = &probe.Desc{Name: "tidestaff.sqlite.pages", Unit: "{page}", Kind: probe.KindGauge,
		Help: "Pages of the database, free ones included, at the last CountPages."}
	descFreePages = &probe.Desc{Name: "tidestaff.sqlite.free_pages", Unit: "{page}", Kind: probe.KindGauge,
		Help: "Pages of the database that hold nothing, at the last CountPages: what a VACUUM would give back at least."}
	descPageSize = &probe.Desc{Name: "tidestaff.sqlite.page_size", Unit: "By", Kind: probe.KindGauge,
		Help: "Size of a page of the database, at the last CountPages."}

	pageDescs = []*probe.Desc{descPages, descFreePages, descPageSize}
)

// pagePragmas are where SQLite says the numbers of pageDescs, in their order.
var pagePragmas = [...]string{"page_count", "freelist_count", "page_size"}

// CountPages asks SQLite for the pages of a database, and sets the gauges
// tidestaff.sqlite.pages, .free_pages and .page_size, which keep what it was told
// until the next call. It is for a service that wants them now and then, since
// nothing but a statement can tell: the probe asks for nothing by itself.
//
// It takes a connection of db from the pool, waiting for one as any call does, and
// runs three PRAGMAs on it, which are no queries in any metric. They read the
// database's first page, of main and of no attached database, and each is a read
// transaction of its own.
//
// The error is that of ctx or of the PRAGMA that failed, for example because the
// database is locked. It is an error if db was not opened through this probe, or
// if [Options].System is not "sqlite". After an error the gauges are as before.
func (p *Probe) CountPages(ctx context.Context, db *sql.DB) error {
	const doing = "sqlitetrace: count pages"
	if p.system != systemSQLite {
		return fmt.Errorf("%s: the probe's system is %q, not %q", doing, p.system, systemSQLite)
	}
	held, err := db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	defer held.Close()
	return held.Raw(func(dc any) error {
		c := p.own(dc)
		if c == nil {
			return errors.New(doing + ": the database was not opened through this probe")
		}
		if err := c.countPages(ctx); err != nil {
			return fmt.Errorf("%s of %q: %w", doing, c.db.name, err)
		}
		return nil
	})
}

// own finds this probe's wrapper in a connection, below those of others.
func (p *Probe) own(dc any) *conn {
	for range maxWrappers {
		if w, ok := dc.(interface{ self() *conn }); ok && w.self().probe == p {
			return w.self()
		}
		inner := innerConn(dc)
		if inner == nil {
			return nil
		}
		dc = inner
	}
	return nil
}

// self finds the core of a connection in any of its combinations.
func (c *conn) self() *conn { return c }

// countPages sets the gauges of the connection's database.
func (c *conn) countPages(ctx context.Context) error {
	var counts [len(pagePragmas)]int64
	for i, pragma := range pagePragmas {
		n, err := c.number(ctx, "PRAGMA "+pragma)
		if err != nil {
			return fmt.Errorf("PRAGMA %s: %w", pragma, err)
		}
		counts[i] = n
	}
	for i, n := range counts {
		c.db.pages[i].get(func() *probe.Gauge { return c.probe.core.Gauge(pageDescs[i], c.probe.attrsOf(c.db)...) }).Set(float64(n))
	}
	return nil
}

// number asks for one number.
func (c *conn) number(ctx context.Context, text string) (n int64, err error) {
	var row []driver.Value
	err = c.ask(ownContext{ctx}, text, nil, func(r []driver.Value) { row = append([]driver.Value(nil), r...) })
	if err != nil {
		return 0, err
	}
	if len(row) == 1 {
		if n, ok := row[0].(int64); ok {
			return n, nil
		}
	}
	return 0, fmt.Errorf("got %v, want one number", row)
}
