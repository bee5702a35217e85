package sqlitetrace

import (
	"strings"

	"github.com/tidestaff/tidestaff/internal/sqltext"
	"github.com/tidestaff/tidestaff/probe"
)

const (
	// maxStatements is how many statement texts are remembered.
	maxStatements = 1000
	// maxStatementLen is how long a text may be to be remembered, in bytes. A
	// longer one, such as an INSERT of a thousand rows, is read every time.
	maxStatementLen = 8 << 10
)

// An effect is what a text does to the connection's transaction, or, if that is
// nothing, to the database's files.
type effect uint8

const (
	effectNone       effect = iota
	effectBegin             // the write lock comes with the first write
	effectImmediate         // BEGIN IMMEDIATE or EXCLUSIVE: it comes at once
	effectCheckpoint        // PRAGMA wal_checkpoint, alone in its text
	effectCommit            // those from here on end it
	effectRollback
)

// A statement is what is known of a statement's text. It is found once per text
// and shared by all connections; whatever else is to be found once per text
// belongs here.
type statement struct {
	text    string
	method  string // by sqlc's comment, "" if there is none
	changes bool   // INSERT, UPDATE, DELETE or REPLACE: it has rows affected
	writes  bool   // it needs SQLite's write lock: those, and changes of the schema
	effect  effect

	checkpoint checkpointMode // for effectCheckpoint

	savepoints int // that it begins, less those that it releases

	shown lazy[string] // the text, normalised
}

// maxShown bounds a text that is shown, in bytes.
const maxShown = 500

// normal is the text without its literals and comments.
func (s *statement) normal() string {
	return *s.shown.get(func() *string {
		text := sqltext.Normalize(s.text, maxShown)
		return &text
	})
}

// noStatement is the text of what has none: begin, commit and rollback.
var noStatement = new(statement)

// newStatements makes the table of a probe's statements.
func newStatements() *probe.Table[string, statement] {
	return probe.NewTable(maxStatements, "", parse)
}

// statement finds what is known of a text. One that is beyond the table's
// bounds is read again each time.
func (c *conn) statement(text string) *statement {
	if s := c.last; s != nil && s.text == text { // often the very same string
		return s
	}
	s := c.lookUp(text)
	if len(text) <= maxStatementLen { // a long one is not kept alive
		c.last = s
	}
	return s
}

func (c *conn) lookUp(text string) *statement {
	if len(text) <= maxStatementLen {
		if s := c.probe.statements.Get(text); s.text == text {
			return s
		}
	}
	return parse(text)
}

// parse reads a text, which may hold several statements. It looks at how each
// of them begins and at nothing else: what a trigger or a PRAGMA writes is not
// seen.
func parse(text string) *statement {
	s := &statement{text: text, method: sqlcName(text)}
	statements := 0
	for rest := text; rest != ""; {
		var head clause
		head, rest = nextClause(rest)
		s.add(head)
		if head.n > 0 {
			statements++
		}
	}
	if s.effect == effectCheckpoint && statements > 1 {
		s.effect = effectNone // its time is not that of the text
	}
	return s
}

// add adds one statement of the text.
func (s *statement) add(head clause) {
	switch head.verb() {
	case "INSERT", "UPDATE", "DELETE", "REPLACE":
		s.changes, s.writes = true, true
	case "CREATE", "DROP", "ALTER", "REINDEX", "VACUUM", "ANALYZE":
		s.writes = true
	case "BEGIN", "START":
		s.effect = effectBegin
		if m := head.words[1]; m == "IMMEDIATE" || m == "EXCLUSIVE" {
			s.effect = effectImmediate
		}
	case "SAVEPOINT":
		s.savepoints++
	case "RELEASE":
		s.savepoints--
	case "PRAGMA":
		if mode, ok := head.checkpoint(); ok && s.effect == effectNone {
			s.effect, s.checkpoint = effectCheckpoint, mode
		}
	case "COMMIT", "END":
		s.end(effectCommit)
	case "ROLLBACK":
		if head.words[1] != "TO" && head.words[2] != "TO" { // TO a savepoint: it goes on
			s.end(effectRollback)
		}
	}
}

// end ends a transaction: one that the same text began leaves nothing behind.
func (s *statement) end(e effect) {
	if s.effect == effectBegin || s.effect == effectImmediate {
		e = effectNone
	}
	s.effect = e
}

// A clause is the beginning of a statement: its first words, in upper case.
type clause struct {
	words [4]string
	n     int
	main  string // after WITH: the word that says what is done
}

// verb is the word that says what the statement does.
func (c *clause) verb() string {
	if c.words[0] == "WITH" {
		return c.main
	}
	return c.words[0]
}

// nextClause reads the text's first statement and gives what is after it.
func nextClause(text string) (c clause, rest string) {
	depth := 0
	s := sqltext.Scanner{Rest: text}
	for t := s.Solid(); t.Kind != sqltext.End; t = s.Solid() {
		switch {
		case t.Kind == sqltext.Word:
			c.add(t.Text, depth)
			if c.isTrigger() {
				return c, "" // its body has statements, of which none runs now
			}
		case c.words[0] == "PRAGMA" && (t.Kind == sqltext.Literal || t.Kind == sqltext.Quoted):
			c.add(strings.Trim(t.Text, "'\"`[]"), depth) // as good as a bare word there
		case t.Text == "(":
			depth++
		case t.Text == ")":
			depth--
		case t.Kind == sqltext.Semi:
			return c, s.Rest
		}
	}
	return c, ""
}

func (c *clause) add(word string, depth int) {
	if c.n < len(c.words) {
		c.words[c.n] = strings.ToUpper(word)
		c.n++
	}
	if c.words[0] == "WITH" && c.main == "" && depth == 0 {
		switch w := strings.ToUpper(word); w {
		case "SELECT", "VALUES", "INSERT", "UPDATE", "DELETE", "REPLACE":
			c.main = w
		}
	}
}

// isTrigger recognises CREATE [TEMP] TRIGGER.
func (c *clause) isTrigger() bool {
	return c.words[0] == "CREATE" && c.n <= 3 && c.words[c.n-1] == "TRIGGER"
}

// sqlcName is the name that sqlc gave the query in the comment before it, such
// as "-- name: GetUser :one", or "".
func sqlcName(text string) string {
	for _, begin := range []string{"-- name: ", "/* name: ", "# name: "} {
		if rest, ok := strings.CutPrefix(text, begin); ok {
			name, rest, _ := strings.Cut(rest, " ")
			if strings.HasPrefix(rest, ":") && !strings.ContainsAny(name, "\t\n") {
				return name
			}
		}
	}
	return ""
}
