package sqlplan

import (
	"database/sql/driver"
	"fmt"
)

const (
	maxPlans = 512     // statement texts that an Inspector remembers
	maxText  = 1 << 16 // bytes of a text that it looks at
	maxTexts = 1 << 20 // bytes of all texts together
)

// An Inspector inspects the statements of one connection and remembers their
// plans until the schema changes. The zero value is ready. It is for one
// goroutine at a time, like the connection, and holds at most 512 texts of
// together 1 MiB; when it is full, it starts again.
type Inspector struct {
	schema schema
	plans  map[string]Plan
	bytes  int  // of the texts in plans
	dirty  bool // a transaction has changed the schema, and may yet take that back
}

// Inspect returns the plan of a statement that is about to run on q with these
// arguments, and whether it is a new one, for a caller who reports each once. It must be called before the statement: see the package's
// side effects. Its error is that of a statement of its own, for example because
// the text does not compile or the database is locked; the plan is then unknown.
//
// Inside an explicit transaction a known plan is returned without a look at the
// schema, a read may make the Inspector read the schema of the databases that
// the statement itself is about to read, and a write whose schema is not known
// is left alone: its plan is unknown and the next call looks again. An
// Inspector whose [Inspector.Refresh] was called before the transaction began
// has what it needs, until the transaction changes the schema itself.
//
// All texts should pass by here, those too that have no plan: CREATE, ANALYZE
// and their like make it forget.
func (in *Inspector) Inspect(q Querier, text string, args []driver.NamedValue) (p Plan, fresh bool, err error) {
	if len(text) > maxText {
		return unknown(fmt.Sprintf("the text has more than %d bytes", maxText)), false, nil
	}
	st := Parse(text)
	if !st.Inspectable() {
		if st.Schema {
			in.schema, in.dirty = nil, q.InTx()
			in.forget()
		}
		return uninspected(st), false, nil
	}
	if !q.InTx() {
		if err := in.Refresh(q); err != nil {
			return unknown("the schema could not be read"), false, err
		}
	}
	if p, ok := in.plans[text]; ok {
		return p, false, nil
	}
	p, keep, err := in.look(q, st, text, args)
	if keep && !in.dirty {
		in.remember(text, p)
	}
	return p, keep, err
}

// uninspected is the plan of what is never explained.
func uninspected(st Statement) Plan {
	switch {
	case !st.Single:
		return unknown("not a single statement")
	case idleVerbs[st.Verb]:
		return Plan{Class: None}
	}
	return unknown(shorten(st.Verb, 20) + " is not inspected")
}

// Refresh reads the schema of every database whose version is another than the
// known one, and forgets all plans if there is one. It must not be called in an
// explicit transaction that has not read yet, since it reads.
func (in *Inspector) Refresh(q Querier) error {
	names, err := databases(q)
	if err != nil {
		return err
	}
	in.dirty = false
	for n := range in.schema {
		if _, ok := names[n]; !ok {
			delete(in.schema, n)
			in.forget()
		}
	}
	for n, name := range names {
		v, err := version(q, name)
		if err != nil {
			return err
		}
		if d := in.schema[n]; d == nil || d.version != v || d.name != name {
			if err := in.load(q, n, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// load reads one database's schema. Plans that were made before are forgotten.
func (in *Inspector) load(q Querier, n int, name string) error {
	d, err := readDatabase(q, name)
	if err != nil {
		return err
	}
	if in.schema == nil {
		in.schema = schema{}
	}
	in.schema[n] = d
	in.forget()
	return nil
}

// look explains the statement. keep tells whether its plan is good until the
// schema changes.
func (in *Inspector) look(q Querier, st Statement, text string, args []driver.NamedValue) (p Plan, keep bool, err error) {
	if st.Writes() {
		switch {
		case st.changes || in.schema.callsChanges():
			return unknown("explaining it would change what its changes() returns"), true, nil
		case len(in.schema) == 0:
			return unknown("the schema is not known in this transaction"), false, nil
		}
	}
	// Without what follows the statement: mattn/go-sqlite3 returns the rows of the
	// last piece of a text, even of a comment.
	rows, err := all(q, "EXPLAIN "+st.body, args)
	if err != nil {
		return unknown("EXPLAIN failed"), false, err
	}
	programs, err := readPrograms(rows)
	if err != nil {
		return unknown(err.Error()), true, nil
	}
	if ok, err := in.learn(q, programs[0].transactions()); !ok || err != nil {
		return unknown("the schema changed, or is not known in this transaction"), false, err
	}
	rows, err = all(q, "EXPLAIN QUERY PLAN "+st.body, args)
	if err != nil {
		return unknown("EXPLAIN QUERY PLAN failed"), false, err
	}
	lines, err := readQueryPlan(rows)
	if err != nil {
		return unknown(err.Error()), true, nil
	}
	return classify(text, programs, lines, in.schema), true, nil
}

// learn makes sure that the schema is the one that the bytecode was made for. In
// a transaction it reads what is missing if the statement only reads, since that
// takes the very locks that the statement takes. Outside of one, Refresh has
// done what can be done, and what does not fit now is looked at the next time.
func (in *Inspector) learn(q Querier, ts []transaction) (ok bool, err error) {
	if in.schema.current(ts) {
		return true, nil
	}
	for _, t := range ts {
		if t.write || !q.InTx() {
			return false, nil
		}
	}
	names, err := databases(q)
	if err != nil {
		return false, err
	}
	for _, t := range ts {
		if err := in.load(q, t.db, names[t.db]); err != nil {
			return false, err
		}
	}
	return in.schema.current(ts), nil
}

func (in *Inspector) remember(text string, p Plan) {
	if len(in.plans) >= maxPlans || in.bytes+len(text) > maxTexts {
		in.forget()
	}
	if in.plans == nil {
		in.plans = map[string]Plan{}
	}
	in.plans[text] = p
	in.bytes += len(text)
}

// forget drops all plans; what is known of the schema stays.
func (in *Inspector) forget() {
	in.plans, in.bytes = nil, 0
}
