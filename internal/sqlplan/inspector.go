package sqlplan

import (
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/tidestaff/tidestaff/internal/sqltext"
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
	plans  map[string]known
	bytes  int  // of the texts in plans
	dirty  bool // a transaction has changed the schema, and may yet take that back
}

// A known plan holds until one of the databases that it is of changes.
type known struct {
	Plan
	of []int
}

// Inspect returns the plan of a statement that is about to run on q with these
// arguments, and whether it is a new one, for a caller who reports each once.
// The plan's slices are the Inspector's: they are not to be changed.
// It must be called before the statement: see the package's side effects. Its
// error is that of a statement of its own, for example because the text does not
// compile or the database is locked; the plan is then unknown.
//
// It reads from the databases that the statement itself will read or write, to
// see whether their schema is the known one. Before the first look at a write it
// reads from all that the connection has. Inside an explicit transaction a known
// plan is returned without that, a read may make the Inspector read the schema,
// and a write whose schema is not known is left alone: its plan is unknown and
// the next call looks again. An Inspector whose [Inspector.Refresh] was called
// before the transaction began has what it needs, until the transaction changes
// the schema itself.
//
// All texts should pass by here, those too that have no plan: CREATE, ANALYZE
// and their like make it forget.
func (in *Inspector) Inspect(q Querier, text string, args []driver.NamedValue) (p Plan, fresh bool, err error) {
	if len(text) > maxText {
		return unknown(fmt.Sprintf("the text has more than %d bytes", maxText)), false, nil
	}
	if in.dirty && !q.InTx() {
		in.schema, in.dirty = nil, false
		in.forget()
	}
	if k, ok := in.plans[text]; ok {
		same, err := in.unchanged(q, k.of)
		if err != nil {
			return unknown("the schema could not be read"), false, err
		}
		if same {
			return k.Plan, false, nil
		}
	}
	st := Parse(text)
	if !st.Inspectable() {
		if st.Schema {
			in.schema, in.dirty = nil, in.dirty || q.InTx()
			in.forget()
		}
		return uninspected(st), false, nil
	}
	k, keep, err := in.look(q, st, text, args)
	if keep && !in.dirty {
		in.remember(text, k)
	}
	return k.Plan, keep, err
}

// uninspected is the plan of what is never explained.
func uninspected(st Statement) Plan {
	switch {
	case !st.Single:
		return unknown("not a single statement")
	case idleVerbs[st.Verb]:
		return Plan{Class: None}
	}
	return unknown(sqltext.Shorten(st.Verb, 20) + " is not inspected")
}

// look explains the statement. keep tells whether its plan is good until the
// schema changes.
func (in *Inspector) look(q Querier, st Statement, text string, args []driver.NamedValue) (k known, keep bool, err error) {
	if st.Writes() {
		if !q.InTx() {
			if err := in.Refresh(q); err != nil {
				return known{Plan: unknown("the schema could not be read")}, false, err
			}
		}
		switch {
		case st.changes || in.schema.callsChanges():
			return known{unknown("explaining it would change what its changes() returns"), in.schema.numbers()}, true, nil
		case len(in.schema) == 0:
			return known{Plan: unknown("the schema is not known in this transaction")}, false, nil
		}
	}
	programs, of, err := in.explain(q, st, args)
	switch {
	case errors.As(err, new(surprise)):
		return known{Plan: unknown(err.Error())}, true, nil
	case err != nil:
		return known{Plan: unknown("EXPLAIN failed")}, false, err
	case programs == nil:
		return known{Plan: unknown("the schema changed, or is not known in this transaction")}, false, nil
	}
	rows, err := all(q, "EXPLAIN QUERY PLAN "+st.body, args)
	if err != nil {
		return known{Plan: unknown("EXPLAIN QUERY PLAN failed")}, false, err
	}
	lines, err := readQueryPlan(rows)
	if err != nil {
		return known{unknown(err.Error()), of}, true, nil
	}
	return known{classify(text, programs, lines, in.schema), of}, true, nil
}

// explain reads the bytecode, and the schema that it was made for. It returns no
// programs if that schema cannot be had.
func (in *Inspector) explain(q Querier, st Statement, args []driver.NamedValue) ([]program, []int, error) {
	for range 2 {
		// Without what follows the statement: mattn/go-sqlite3 returns the rows of
		// the last piece of a text, even of a comment.
		rows, err := all(q, "EXPLAIN "+st.body, args)
		if err != nil {
			return nil, nil, err
		}
		programs, err := readPrograms(rows)
		if err != nil {
			return nil, nil, surprise{err}
		}
		ts := programs[0].transactions()
		again, err := in.learn(q, ts)
		if err != nil {
			return nil, nil, err
		}
		if in.schema.current(ts) {
			return programs, numbers(ts), nil
		}
		if !again {
			break
		}
	}
	return nil, nil, nil
}

// A surprise is an answer of SQLite in a form that is not the known one.
type surprise struct{ error }

func (in *Inspector) remember(text string, k known) {
	if _, ok := in.plans[text]; !ok {
		if len(in.plans) >= maxPlans || in.bytes+len(text) > maxTexts {
			in.forget()
		}
		in.bytes += len(text)
	}
	if in.plans == nil {
		in.plans = map[string]known{}
	}
	in.plans[text] = k
}

// forget drops all plans; what is known of the schema stays.
func (in *Inspector) forget() {
	in.plans, in.bytes = nil, 0
}
