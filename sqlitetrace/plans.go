package sqlitetrace

import (
	"context"
	"database/sql/driver"
	"io"

	"github.com/tidestaff/tidestaff/internal/sqlplan"
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
	defer func() {
		p.ctx = nil
		if recover() != nil { // a driver that does not expect it; see resultCode
			plan = new(sqlplan.Plan)
		}
	}()
	st := p.conn.statement(query)
	if st.effect == effectBegin || st.effect == effectImmediate || st.savepoints > 0 {
		p.refresh(ctx)
	}
	p.ctx = lookContext{ctx}
	found, _, _ := p.inspector.Inspect(p, query, args)
	p.follow(st)
	return &found
}

// refresh reads the schema if it has changed. If that fails, plans are unknown.
func (p *planner) refresh(ctx context.Context) {
	if p.InTx() {
		return
	}
	defer func() {
		p.ctx = nil
		_ = recover()
	}()
	p.ctx = lookContext{ctx}
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

// A lookContext is the caller's context under another type: a driver may know
// its own contexts by their type and take the call for another one.
type lookContext struct{ context.Context }

// Query implements sqlplan.Querier.
func (p *planner) Query(text string, args []driver.NamedValue, each func([]driver.Value)) error {
	c := p.conn
	rows, err := driver.Rows(nil), error(driver.ErrSkip)
	if c.queryer != nil || c.legacyQueryer != nil {
		rows, err = c.queryInner(p.ctx, text, args)
	}
	if err == driver.ErrSkip {
		var prepared driver.Stmt
		if prepared, err = c.prepareInner(p.ctx, text); err != nil {
			return err
		}
		defer prepared.Close()
		s := stmt{inner: prepared}
		s.queryer, _ = prepared.(driver.StmtQueryContext)
		rows, err = s.queryInner(p.ctx, args)
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

// planNumbered is plan for a call of the old kind, without context and names.
func (c *conn) planNumbered(query string, args []driver.Value) *sqlplan.Plan {
	if c.planner == nil {
		return nil
	}
	named := make([]driver.NamedValue, len(args))
	for i, v := range args {
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	return c.planner.look(context.Background(), query, named)
}
