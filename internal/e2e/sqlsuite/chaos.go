package sqlsuite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// Chaos has connections write at random, in all ways, each call with a context
// that may end at any time, while windows come and go. Whatever SQLite made of
// it, the books balance and nobody is left on them: no holder, cursor or
// transaction.
func Chaos(t *testing.T, driverName string) {
	seed := rand.Uint64()
	var probe *sqlitetrace.Probe
	r := lockTest(t, driverName, "WAL", func(p *lockPair) {
		probe = p.probe
		Must(t, p.holder, "INSERT INTO item VALUES ('taken')")
		var all sync.WaitGroup
		dbs := []*sql.DB{p.holder, p.other, p.another(), p.another()}
		for i, db := range dbs {
			c := &chaos{db: db, random: rand.New(rand.NewPCG(seed, uint64(i)))}
			all.Go(func() {
				for range 40 {
					c.step()
				}
			})
		}
		stop := make(chan struct{})
		var windows sync.WaitGroup
		windows.Go(func() { openWindows(t, p.probe, stop) })
		all.Wait()
		close(stop)
		windows.Wait()
		for _, db := range dbs { // end what a COMMIT in words left open
			db.ExecContext(As("setup"), "ROLLBACK")
			AwaitIdle(db)
		}
	})
	if held := probe.Held(); len(held) != 0 {
		t.Errorf("seed %d: held: got %+v, want nothing", seed, held)
	}
	if n := Total(r, "tidestaff.db.transaction.active") + Total(r, "tidestaff.db.cursor.active"); n != 0 {
		t.Errorf("seed %d: active transactions and cursors: got %v, want 0", seed, n)
	}
	if n := Sum(r, "tidestaff.db.lock.waits")["afterwards"]; n != 0 {
		t.Errorf("seed %d: a write that nobody disturbs has waited for %v holders", seed, n)
	}
	if waited, busy := Total(r, "tidestaff.db.lock.wait.time"), Total(r, "db.client.operation.duration"); waited > busy {
		t.Errorf("seed %d: waited %v s, more than the %v s in the driver", seed, waited, busy)
	}
	t.Logf("%v waits, %v errors", Total(r, "tidestaff.db.lock.waits"), Total(r, "tidestaff.db.errors"))
}

// openWindows opens and closes windows.
func openWindows(t *testing.T, p *sqlitetrace.Probe, stop chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		w, err := p.Watch()
		if err != nil {
			t.Error(err)
			return
		}
		p.Held()
		w.Close()
	}
}

const returning3 = "INSERT INTO log VALUES (1), (2), (3) RETURNING n"

// A chaos uses one connection.
type chaos struct {
	db     *sql.DB
	random *rand.Rand
	n      int
}

// ctx is one that ends at some time, soon.
func (c *chaos) ctx(method string) (context.Context, context.CancelFunc) {
	return context.WithTimeout(As(method), time.Duration(c.random.IntN(4000))*time.Microsecond)
}

// statement is one that works, fails, ends its transaction or takes long.
func (c *chaos) statement() string {
	c.n++
	return []string{
		fmt.Sprintf("INSERT INTO item VALUES ('%p %d')", c, c.n),
		"INSERT INTO item VALUES ('taken')",
		"INSERT OR ROLLBACK INTO item VALUES ('taken')",
		"INSERT INTO nothing VALUES (1)",
		"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 2000) INSERT INTO log SELECT i FROM n",
		"CREATE TABLE IF NOT EXISTS item (name TEXT)",
		"CREATE TEMP TABLE IF NOT EXISTS own (n INTEGER)",
		"SELECT count(*) FROM log",
	}[c.random.IntN(8)]
}

func (c *chaos) exec(on Target, query string) {
	ctx, cancel := c.ctx("exec")
	defer cancel()
	on.ExecContext(ctx, query)
}

func (c *chaos) step() {
	ctx, cancel := c.ctx("step")
	defer cancel()
	switch c.random.IntN(4) {
	case 0:
		c.exec(c.db, c.statement())
	case 1:
		if c.random.IntN(2) == 0 {
			ctx = As("step") // only its statements end early
		}
		tx, err := c.db.BeginTx(ctx, nil)
		if err != nil {
			return
		}
		for range c.random.IntN(4) {
			if c.random.IntN(4) == 0 {
				if rows, err := tx.QueryContext(ctx, returning3); err == nil {
					defer rows.Close() // which the end of the transaction does before
					rows.Next()
				}
			}
			c.exec(tx, c.statement())
		}
		if c.random.IntN(3) == 0 {
			tx.Rollback()
		} else if tx.Commit() != nil {
			tx.Rollback()
		}
	case 2:
		c.words(ctx)
	case 3:
		rows, err := c.db.QueryContext(ctx, returning3)
		if err == nil && rows.Next() && c.random.IntN(2) == 0 {
			<-ctx.Done() // which closes them
		}
		if err == nil {
			rows.Close()
		}
	}
}

// words has a transaction that statements begin and end, or that its connection
// does not survive.
func (c *chaos) words(ctx context.Context) {
	conn, err := c.db.Conn(As("words"))
	if err != nil {
		return
	}
	defer conn.Close()
	conn.ExecContext(ctx, []string{"BEGIN", "BEGIN IMMEDIATE"}[c.random.IntN(2)])
	for range c.random.IntN(4) {
		c.exec(conn, c.statement())
	}
	if c.random.IntN(4) == 0 {
		conn.Raw(func(any) error { return driver.ErrBadConn })
		return
	}
	c.exec(conn, "COMMIT")
	conn.ExecContext(As("words"), "ROLLBACK") // if the commit did not come to it
}
