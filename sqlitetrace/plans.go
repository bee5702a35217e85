package sqlitetrace

import (
	"context"
	"database/sql/driver"

	"github.com/tidestaff/tidestaff/internal/sqlplan"
	"github.com/tidestaff/tidestaff/probe"
)

// Plans says whether SQLite is asked how it will run each statement. It is for
// tests and benchmarks: see the package's documentation for what it costs and
// for its side effects.
type Plans uint8

const (
	// PlansOff asks nothing and costs nothing.
	PlansOff Plans = iota
	// PlansOnce asks once per connection, statement text and schema version,
	// before the statement and with its arguments. Only SQLite is asked, and
	// only while a window is open.
	PlansOnce
)

// A planner looks at the statements of one connection before they run. Its own
// statements go to the original connection and are counted nowhere. It is the
// sqlplan.Querier of its Inspector.
type planner struct {
	conn      *conn
	inspector sqlplan.Inspector
	ctx       context.Context // of the call that is about to run

	// unseen counts what may hold a transaction open that conn.tx does not know
	// of: savepoints, and a BEGIN while nobody watched.
	unseen int
}

// newPlanner is nil for a connection that is not looked at.
func (p *Probe) newPlanner(c *conn) *planner {
	if p.plans == PlansOff || p.system != systemSQLite {
		return nil
	}
	return &planner{conn: c}
}

// plan looks at a statement that is about to run. It is nil if nobody looks.
func (c *conn) plan(ctx context.Context, query string, args []driver.NamedValue) *sqlplan.Plan {
	if c.planner == nil {
		return nil
	}
	return c.planner.look(ctx, query, args)
}

// refresh has the planner learn the schema before a transaction begins: in it, a
// look may not read before the program does.
func (c *conn) refresh(ctx context.Context) {
	if c.planner != nil && c.probe.core.Watched() {
		c.planner.refresh(ctx)
	}
}

// look returns the plan of a statement. Whatever goes wrong, for example because
// the text does not compile, is the statement's to report; the plan is unknown.
func (p *planner) look(ctx context.Context, query string, args []driver.NamedValue) (plan *sqlplan.Plan) {
	if !p.conn.probe.core.Watched() {
		return nil // see missed
	}
	start := probe.Now()
	defer func() {
		p.ctx = nil
		if recover() != nil { // a driver that does not expect it; see resultCode
			plan = new(sqlplan.Plan)
		}
		p.conn.looked(probe.Now() - start)
	}()
	st := p.conn.statement(query)
	if st.effect == effectBegin || st.effect == effectImmediate || st.savepoints > 0 {
		p.learn(ctx)
	}
	p.ctx = ownContext{ctx}
	found, _, _ := p.inspector.Inspect(p, query, args)
	p.follow(st)
	return &found
}

// refresh is a look at the schema alone.
func (p *planner) refresh(ctx context.Context) {
	start := probe.Now()
	p.learn(ctx)
	p.conn.looked(probe.Now() - start)
}

// learn reads the schema if it has changed. If that fails, plans are unknown.
func (p *planner) learn(ctx context.Context) {
	if p.InTx() {
		return
	}
	defer func() {
		p.ctx = nil
		_ = recover()
	}()
	p.ctx = ownContext{ctx}
	_ = p.inspector.Refresh(p)
}

// missed forgets what it knows, since a statement runs that it did not look at.
func (p *planner) missed(st *statement) {
	p.inspector = sqlplan.Inspector{}
	p.follow(st)
	if st.effect == effectBegin || st.effect == effectImmediate {
		p.unseen++
	}
}

// follow notes what a statement does to a transaction that conn.tx does not know.
// It takes an end for one that succeeds: if it fails, the transaction has read
// already, and one more read changes nothing.
func (p *planner) follow(st *statement) {
	switch {
	case st.effect == effectCommit || st.effect == effectRollback:
		p.unseen = 0
	case !p.conn.tx.open:
		p.unseen = max(p.unseen+st.savepoints, 0)
	}
}

// InTx implements sqlplan.Querier.
func (p *planner) InTx() bool { return p.conn.tx.open || p.unseen > 0 }

// Query implements sqlplan.Querier.
func (p *planner) Query(text string, args []driver.NamedValue, each func([]driver.Value)) error {
	return p.conn.ask(p.ctx, text, args, each)
}

// planNumbered is plan for a call of the old kind, without context and names.
func (c *conn) planNumbered(query string, args []driver.Value) *sqlplan.Plan {
	if c.planner == nil {
		return nil
	}
	return c.planner.look(context.Background(), query, numbered(args))
}
