package sqlplan

import "strings"

// A Statement is what a text says of itself, without a database.
type Statement struct {
	// Verb is the keyword of the first statement in upper case, that behind the
	// common table expressions if it has any: SELECT for WITH a AS (…) SELECT.
	// It is empty if there is no statement.
	Verb string
	// Single tells whether the text is one statement, whatever follows it of
	// comments and semicolons, and free of what the tokenizer does not know.
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
	s := scanner{text}
	begin, behind := 0, len(text) // of the first statement
	for t := s.solid(); t.kind != end; t = s.solid() {
		at := len(text) - len(s.rest) - len(t.text)
		switch {
		case t.kind != semi:
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
	last   token
}

// read takes a token that is neither blank nor a semicolon.
func (r *reader) read(t token) {
	verb := "?" // of what starts with no word
	if t.kind == word {
		verb = strings.ToUpper(t.text)
	}
	switch {
	case r.starts && r.Verb == "":
		r.Verb, r.with = verb, verb == "WITH"
	case r.starts:
		r.Single = false
	case r.with && r.depth == 0 && mainVerbs[verb]:
		r.Verb, r.with = verb, false
	}
	r.Schema = r.Schema || r.starts && schemaVerbs[verb]
	r.Single = r.Single && t.kind != illegal
	switch t.text {
	case "(":
		r.depth++
		r.changes = r.changes || isName(r.last, "changes")
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

// isName tells whether t is this identifier, bare or quoted.
func isName(t token, name string) bool {
	return t.kind == word && strings.EqualFold(t.text, name) ||
		t.kind == quoted && strings.EqualFold(unquote(t.text), name)
}

// unquote returns the name in a quoted identifier.
func unquote(s string) string {
	q := s[len(s)-1:]
	return strings.ReplaceAll(s[1:len(s)-1], q+q, q)
}
