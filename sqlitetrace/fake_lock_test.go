package sqlitetrace_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
	"sync"
	"time"
)

// A lockFile is a database file of which nothing is simulated but SQLite's write
// lock, with the sleeps of its busy handler. Within a bubble of synctest all
// times are exact.
//
// What a statement costs stands at its end: "INSERT 3ms". "upgrade" is a write
// that fails at once with SQLITE_BUSY_SNAPSHOT, "abort" one that violates a
// constraint, and "rollback" one that rolls its transaction back by that, so that
// there is none to commit. "temp" is a write that takes no lock.
type lockFile struct {
	mu      sync.Mutex
	locked  bool
	timeout time.Duration // of the busy handler; 0 for none
	tells   bool          // connections say whether they are in a transaction
	readers bool          // a commit fails with SQLITE_BUSY
	late    time.Duration // of a commit's return
	begins  time.Duration // what a begin takes, and
	rolls   time.Duration // a rollback
}

func (f *lockFile) try() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.locked {
		return false
	}
	f.locked = true
	return true
}

func (f *lockFile) unlock() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.locked = false
}

// lock sleeps as sqliteDefaultBusyCallback does.
func (f *lockFile) lock() error {
	delays := []time.Duration{1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100}
	for slept := time.Duration(0); !f.try(); {
		d := delays[0] * time.Millisecond
		if len(delays) > 1 {
			delays = delays[1:]
		}
		if f.timeout > 0 && slept+d > f.timeout {
			time.Sleep(f.timeout - slept)
			return codeError(5)
		}
		time.Sleep(d)
		slept += d
	}
	return nil
}

func (f *lockFile) Connect(context.Context) (driver.Conn, error) {
	if f.tells {
		return tellingConn{&lockConn{file: f}}, nil
	}
	return &lockConn{file: f}, nil
}

// A tellingConn has a method of mattn/go-sqlite3.
type tellingConn struct{ *lockConn }

func (c tellingConn) AutoCommit() bool { return !c.tx }

func (f *lockFile) Driver() driver.Driver { return lockDriver{f} }

type lockDriver struct{ file *lockFile }

func (d lockDriver) Open(string) (driver.Conn, error) { return &lockConn{file: d.file}, nil }

type lockConn struct {
	file     *lockFile
	tx, held bool
}

func (c *lockConn) Prepare(query string) (driver.Stmt, error) { return &lockStmt{c, query}, nil }
func (c *lockConn) Begin() (driver.Tx, error)                 { return nil, errFake }

func (c *lockConn) Close() error {
	if c.held {
		c.held = false
		c.file.unlock()
	}
	return nil
}

func (c *lockConn) BeginTx(context.Context, driver.TxOptions) (driver.Tx, error) {
	time.Sleep(c.file.begins)
	c.tx = true
	return c, nil
}

// Commit takes 2 ms. One that fails rolls back, as the Commit of all drivers does.
func (c *lockConn) Commit() error {
	time.Sleep(2 * time.Millisecond)
	if c.file.readers {
		return errors.Join(codeError(5), c.end())
	}
	defer time.Sleep(c.file.late)
	return c.end()
}

func (c *lockConn) Rollback() error {
	time.Sleep(c.file.rolls)
	return c.end()
}

func (c *lockConn) end() error {
	if !c.tx {
		return codeError(1)
	}
	c.tx = false
	return c.Close()
}

func (c *lockConn) ExecContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Result, error) {
	return driver.RowsAffected(1), c.run(query)
}

func (c *lockConn) run(query string) error {
	verb, cost, _ := strings.Cut(query, " ")
	switch verb {
	case "BEGIN":
		time.Sleep(c.file.begins)
		if err := c.file.lock(); err != nil {
			return err
		}
		c.held, c.tx = true, true
		return nil
	case "COMMIT":
		if c.file.readers { // in words nobody rolls back
			return codeError(5)
		}
		return c.Commit()
	case "ROLLBACK":
		return c.Rollback()
	case "SKIP/**/":
		return driver.ErrSkip
	}
	if strings.Contains(query, "upgrade") {
		return codeError(517)
	}
	if verb == "INSERT" && !c.held && cost != "temp" {
		if err := c.file.lock(); err != nil {
			return err
		}
		c.held = true
	}
	if d, err := time.ParseDuration(cost); err == nil {
		time.Sleep(d)
	}
	var err error
	if cost == "abort" || cost == "rollback" {
		err = codeError(19)
	}
	if !c.tx || cost == "rollback" {
		c.tx = false
		return errors.Join(err, c.Close())
	}
	return err
}

// QueryContext is an INSERT with RETURNING, which does its work in the close.
func (c *lockConn) QueryContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Rows, error) {
	return &lockRows{c, query}, nil
}

type lockRows struct {
	conn  *lockConn
	query string
}

func (r *lockRows) Columns() []string         { return []string{"n"} }
func (r *lockRows) Next([]driver.Value) error { return io.EOF }
func (r *lockRows) Close() error              { return r.conn.run(r.query) }

type lockStmt struct {
	conn  *lockConn
	query string
}

func (s *lockStmt) Close() error  { return nil }
func (s *lockStmt) NumInput() int { return -1 }
func (s *lockStmt) Exec([]driver.Value) (driver.Result, error) {
	return driver.RowsAffected(1), s.conn.run(s.query)
}
func (s *lockStmt) Query([]driver.Value) (driver.Rows, error) { return &lockRows{s.conn, s.query}, nil }
