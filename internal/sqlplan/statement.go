package sqlplan

import (
	"strings"

	"github.com/tidestaff/tidestaff/internal/sqltext"
)

// A Statement is what a text says of itself, without a database.
type Statement struct {
	// Verb is the keyword of the first statement in upper case, that behind the
	// common table expressions if it has any: SELECT for WITH a AS (…) SELECT.
	// It is empty if there is no statement.
	Verb string
	// Single tells whether the text is one statement, whatever follows it of
	// comments and semicolons, and free of what SQLite's tokenizer does not know
	// and of strings that only other databases know.
	Single bool
	// Schema tells whether any statement of the text may change the schema, or
	// the statistics that plans are made from.
	Schema bool

	body    string // the first statement alone
	changes bool   // it may call changes()
}

// Parse reads a text. It costs no more than a pass over it.
func Parse(text string) Statement {
	r := reader{Statement: Statement{Single: true}, starts: true}
	s := sqltext.Scanner{Rest: text}
	begin, behind := 0, len(text) // of the first statement
	for t := s.Solid(); t.Kind != sqltext.End; t = s.Solid() {
		at := len(text) - len(s.Rest) - len(t.Text)
		switch {
		case t.Kind != sqltext.Semi:
			if r.Verb == "" {
				begin = at
			}
			r.read(t)
		case !r.starts:
			behind = min(behind, at)
			r.starts = true
		}
	}
	r.body = text[begin:behind]
	return r.Statement
}

// A reader is where Parse is in a text.
type reader struct {
	Statement
	starts bool // the next token begins a statement
	with   bool // the verb is still behind common table expressions
	depth  int  // of parentheses
	last   sqltext.Token
}

// read takes a token that is neither blank nor a semicolon.
func (r *reader) read(t sqltext.Token) {
	verb := "?" // of what starts with no word
	if t.Kind == sqltext.Word {
		verb = strings.ToUpper(t.Text)
	}
	switch {
	case r.starts && r.Verb == "":
		r.Verb, r.with = verb, verb == "WITH"
	case r.starts:
		r.Single = false
	case r.with && r.depth == 0 && mainVerbs[verb]:
		r.Verb, r.with = verb, false
	}
	foreign := t.Kind == sqltext.Foreign // to SQLite it is several tokens, of any kind
	r.changes = r.changes || foreign
	r.Schema = r.Schema || r.starts && schemaVerbs[verb] || foreign
	r.Single = r.Single && t.Kind != sqltext.Illegal && !foreign
	switch t.Text {
	case "(":
		r.depth++
		r.changes = r.changes || r.last.IsName("changes")
	case ")":
		r.depth--
	}
	r.starts, r.last = false, t
}

// Inspectable tells whether the plan of the text can be asked for.
func (st Statement) Inspectable() bool {
	return st.Single && (st.Verb == "SELECT" || st.Verb == "VALUES" || st.Writes())
}

// Writes tells whether the first statement changes rows.
func (st Statement) Writes() bool {
	switch st.Verb {
	case "INSERT", "UPDATE", "DELETE", "REPLACE":
		return true
	}
	return false
}

// schemaVerbs start what changes the schema, or takes such a change back.
var schemaVerbs = set("CREATE", "DROP", "ALTER", "ANALYZE", "REINDEX", "VACUUM", "ATTACH", "DETACH", "PRAGMA", "ROLLBACK")

// idleVerbs start what has no plan since it reads and writes no rows.
var idleVerbs = set("", "BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE")

// mainVerbs can follow common table expressions. REPLACE could also be the name
// of one; taking it for the verb only adds caution.
var mainVerbs = set("SELECT", "VALUES", "INSERT", "UPDATE", "DELETE", "REPLACE")
