package sqlitetrace

import (
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

// FuzzTokens wants every text to be taken apart whole, and to be parsed.
func FuzzTokens(f *testing.F) {
	for _, seed := range []string{
		"SELECT a, 'it''s', x'1f', 1.5e-3, 0x1F, \"n\", `n`, [n] FROM t -- c", "$1 $tag$ x $tag$ :a @b ?1 /* x", "E'\\'' $$", "'", "é",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for rest := text; rest != ""; {
			_, n := nextToken(rest)
			if n < 1 || n > len(rest) {
				t.Fatalf("%q: a token of %d bytes, of %d", rest, n, len(rest))
			}
			rest = rest[n:]
		}
		parse(text)
	})
}

func TestTokens(t *testing.T) {
	names := map[tokenKind]string{tokenSpace: "_", tokenWord: "w", tokenQuoted: "q", tokenValue: "v", tokenParam: "p", tokenOther: "o"}
	for text, want := range map[string]string{
		"SELECT a":            "w _ w",
		"'it''s'a":            "v w",
		"'open":               "v",
		"x'1f' N'a' E'\\'x'":  "v _ v _ v",
		"1.5e-3+.5":           "v o v",
		"0x1e+1":              "v o v",
		"a1+1":                "w o v",
		`"a""b" [c] ` + "`d`": "q _ q _ q",
		"?,?12,:a,@b,$c":      "p o p o p o p o p",
		"a::int":              "w o p",
		"$1$2 $x$":            "p p _ p o",
		"$$it's$$ $t$a$$b$t$": "v _ v",
		"-- c\n1/* ' */2":     "_ v _ v",
		"a$b":                 "w",
	} {
		var got []string
		for rest := text; rest != ""; {
			kind, n := nextToken(rest)
			got = append(got, names[kind])
			rest = rest[n:]
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%q: got %s, want %s", text, s, want)
		}
	}
}
