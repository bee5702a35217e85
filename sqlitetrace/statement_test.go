package sqlitetrace

import (
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, tc := range []struct {
		text            string
		changes, writes bool
		effect          effect
	}{
		{"", false, false, effectNone},
		{"SELECT 1", false, false, effectNone},
		{"insert into a values (1)", true, true, effectNone},
		{"  -- DELETE\n/* x */ REPLACE INTO a VALUES (1)", true, true, effectNone},
		{"WITH n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) INSERT INTO a SELECT i FROM n", true, true, effectNone},
		{"WITH n AS (SELECT 'DELETE') SELECT * FROM n", false, false, effectNone},
		{"WITH n AS (VALUES (1)), m AS (SELECT 2) UPDATE a SET b = 1", true, true, effectNone},
		{"EXPLAIN DELETE FROM a", false, false, effectNone},
		{"CREATE TABLE a (b)", false, true, effectNone},
		{"CREATE TRIGGER t AFTER INSERT ON a BEGIN DELETE FROM b; COMMIT; END", false, true, effectNone},
		{"CREATE TEMP TRIGGER t AFTER INSERT ON a BEGIN SELECT 1; END", false, true, effectNone},
		{"BEGIN", false, false, effectBegin},
		{"begin deferred transaction", false, false, effectBegin},
		{"START TRANSACTION", false, false, effectBegin},
		{"BEGIN IMMEDIATE", false, false, effectImmediate},
		{"begin /* now */ exclusive", false, false, effectImmediate},
		{"COMMIT", false, false, effectCommit},
		{"END TRANSACTION;", false, false, effectCommit},
		{"ROLLBACK", false, false, effectRollback},
		{"ROLLBACK TO a", false, false, effectNone},
		{"ROLLBACK TRANSACTION TO SAVEPOINT a", false, false, effectNone},
		{"SAVEPOINT a", false, false, effectNone},
		{"SELECT ';INSERT'; -- ;DELETE\n", false, false, effectNone},
		{`SELECT "a;b", [c;d]; UPDATE a SET b = 1`, true, true, effectNone},
		{"BEGIN IMMEDIATE; INSERT INTO a VALUES (1); COMMIT", true, true, effectNone},
		{"BEGIN IMMEDIATE; INSERT INTO a VALUES (1)", true, true, effectImmediate},
		{"INSERT INTO a VALUES (1); COMMIT", true, true, effectCommit},
	} {
		got := parse(tc.text)
		if got.text != tc.text || got.changes != tc.changes || got.writes != tc.writes || got.effect != tc.effect {
			t.Errorf("%q: got changes %v, writes %v, effect %v, want %v, %v, %v",
				tc.text, got.changes, got.writes, got.effect, tc.changes, tc.writes, tc.effect)
		}
	}
}

// TestParseCheckpoint recognises a checkpoint in each of its forms.
func TestParseCheckpoint(t *testing.T) {
	const none = checkpointModes
	for text, want := range map[string]checkpointMode{
		"PRAGMA wal_checkpoint":                            checkpointPassive,
		"pragma wal_checkpoint(passive);":                  checkpointPassive,
		"PRAGMA wal_checkpoint(nonsense)":                  checkpointPassive,
		"PRAGMA wal_checkpoint=FULL":                       checkpointFull,
		"PRAGMA main.wal_checkpoint ( Restart )":           checkpointRestart,
		"PRAGMA [a b].\"wal_checkpoint\"('TRUNCATE') -- x": checkpointTruncate,
		"PRAGMA wal_checkpoint(NOOP)":                      checkpointNoop,
		"PRAGMA":                                           none,
		"PRAGMA wal_autocheckpoint = 5":                    none,
		"EXPLAIN PRAGMA wal_checkpoint":                    none,
		"SELECT wal_checkpoint":                            none,
		"PRAGMA wal_checkpoint; SELECT 1":                  none,
		"BEGIN; PRAGMA wal_checkpoint":                     none,
	} {
		got := none
		if s := parse(text); s.effect == effectCheckpoint {
			got = s.checkpoint
		}
		if got != want {
			t.Errorf("%q: got mode %d, want %d", text, got, want)
		}
	}
	if s := parse("COMMIT; PRAGMA wal_checkpoint"); s.effect != effectCommit {
		t.Errorf("behind a commit: got effect %d, want the commit's", s.effect)
	}
}

func TestSqlcName(t *testing.T) {
	for text, want := range map[string]string{
		"-- name: GetUser :one\nSELECT 1":    "GetUser",
		"/* name: ListUsers :many */ SELECT": "ListUsers",
		"# name: Delete :exec\nDELETE":       "Delete",
		"-- name: GetUser\nSELECT":           "",
		"-- name: a comment :one":            "",
		"-- the name: GetUser :one":          "",
		"SELECT 1":                           "",
	} {
		if got := sqlcName(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestStatementBounds wants a text beyond the bounds to be read, and not kept.
func TestStatementBounds(t *testing.T) {
	p := New(Options{})
	c := &conn{probe: p}
	for i := range maxStatements + 10 {
		text := "INSERT INTO a VALUES (" + strings.Repeat("1", i+1) + ")"
		for range 2 {
			if s := c.lookUp(text); s.text != text || !s.writes {
				t.Fatalf("%.30q: got %.30q, writes %v, want itself", text, s.text, s.writes)
			}
		}
	}
	if got := p.statements.Len(); got != maxStatements {
		t.Errorf("texts kept: got %d, want %d", got, maxStatements)
	}
	long := strings.Repeat(" ", maxStatementLen) + "DELETE FROM a"
	p = New(Options{})
	c = &conn{probe: p}
	if s := c.statement(long); !s.changes || p.statements.Len() != 0 {
		t.Errorf("a long text: changes %v, %d kept, want true, 0", s.changes, p.statements.Len())
	}
}

// FuzzParse wants every text to be parsed, and none to write that has no verb of
// a write in it.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"WITH a AS (SELECT 1) INSERT", "CREATE TRIGGER t BEGIN; END", "BEGIN; COMMIT", "E'\\'; DELETE", "ROLLBACK TO"} {
		f.Add(seed)
	}
	verbs := []string{"INSERT", "UPDATE", "DELETE", "REPLACE", "CREATE", "DROP", "ALTER", "REINDEX", "VACUUM", "ANALYZE"}
	f.Fuzz(func(t *testing.T, text string) {
		s := parse(text)
		upper := strings.ToUpper(text)
		if s.writes && !slices.ContainsFunc(verbs, func(v string) bool { return strings.Contains(upper, v) }) {
			t.Errorf("%q: taken for a write", text)
		}
		if s.changes && !s.writes {
			t.Errorf("%q: it changes rows and writes nothing", text)
		}
		if shown := s.normal(); len(shown) > maxShown+len("…") {
			t.Errorf("%q: shown in %d bytes, want at most %d and a mark", text, len(shown), maxShown)
		}
	})
}

// TestShown wants a statement's own text to show neither a value nor what SQLite
// may take for one.
func TestShown(t *testing.T) {
	text := `-- name: Put :exec
INSERT INTO "item" VALUES (?, "a secret", 'secret'), (?, 'x', 1)`
	if got, want := parse(text).normal(), `INSERT INTO "item" VALUES (?)`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
