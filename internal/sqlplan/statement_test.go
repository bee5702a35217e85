package sqlplan

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	tests := []struct {
		text           string
		verb           string
		single, schema bool
		body           string // if it is not the text
	}{
		{"SELECT 1", "SELECT", true, false, ""},
		{"", "", true, false, ""},
		{" -- nothing\n ; /* at all */ ;", "", true, false, " -- nothing\n ; /* at all */ ;"},
		{"select 1;", "SELECT", true, false, "select 1"},
		{"/* a; b */ SELECT 1 -- c; d\n; -- e", "SELECT", true, false, "SELECT 1 -- c; d\n"},
		{";;SELECT 1;;", "SELECT", true, false, "SELECT 1"},
		{"\ufeffSELECT 1", "SELECT", true, false, "SELECT 1"},
		{"SELECT 1; DELETE FROM t", "SELECT", false, false, "SELECT 1"},
		{"SELECT 1; DROP TABLE t", "SELECT", false, true, "SELECT 1"},
		{"SELECT ';' || \"a;\" || [b;] || `c;` || x'' || 'it''s;'", "SELECT", true, false, ""},
		{"SELECT 'a\\'; DELETE FROM t; --'", "SELECT", false, false, "SELECT 'a\\'"},
		{`SELECT "a"";"; DELETE FROM t`, "SELECT", false, false, `SELECT "a"";"`},
		{"SELECT [a];b]", "SELECT", false, false, "SELECT [a]"},
		{"SELECT 1 /* never closed ; DELETE", "SELECT", true, false, ""},
		{"SELECT 1 -- DELETE\r;DELETE FROM t", "SELECT", true, false, ""},
		{"SELECT 1 /*/; DELETE FROM t", "SELECT", true, false, ""},
		{"SELECT 'never closed", "SELECT", false, false, ""},
		{"SELECT 1\x00; DELETE FROM t", "SELECT", false, false, "SELECT 1\x00"},
		{"SELECT 1 -- \x00\n; DELETE FROM t", "SELECT", false, false, "SELECT 1 -- \x00\n"},
		{"SELECT ?1, :a, @b, $c::d", "SELECT", true, false, ""},
		{"SELECT $a(;)", "SELECT", false, false, "SELECT $a("},
		{"SELECT 1e-5, 0x1F, .5, 1_000, 5-3", "SELECT", true, false, ""},
		{"SELECT $$; DELETE FROM t; $$", "SELECT", false, true, ""},
		{"SELECT E'\\'; DELETE FROM t; --'", "SELECT", false, true, ""},
		{"WITH a AS (SELECT 1), b(x) AS (VALUES (2)) SELECT * FROM a", "SELECT", true, false, ""},
		{"WITH a AS (SELECT 1) insert INTO t SELECT * FROM a", "INSERT", true, false, ""},
		{"WITH RECURSIVE n AS (DELETE FROM t) UPDATE t SET a = 1", "UPDATE", true, false, ""},
		{"VALUES (1), (2)", "VALUES", true, false, ""},
		{"EXPLAIN DELETE FROM t", "EXPLAIN", true, false, ""},
		{"PRAGMA user_version = 3", "PRAGMA", true, true, ""},
		{"(SELECT 1)", "?", true, false, ""},
		{"'secret'", "?", true, false, ""},
	}
	for _, tt := range tests {
		if tt.body == "" {
			tt.body = strings.TrimPrefix(tt.text, "\ufeff")
		}
		got := Parse(tt.text)
		if got.Verb != tt.verb || got.Single != tt.single || got.Schema != tt.schema || got.body != tt.body {
			t.Errorf("%q:\n got %+v\nwant verb %q, single %v, schema %v, body %q", tt.text, got, tt.verb, tt.single, tt.schema, tt.body)
		}
	}
}

func TestCallsChanges(t *testing.T) {
	for text, want := range map[string]bool{
		"INSERT INTO t VALUES (changes())":       true,
		`SELECT "Changes" /* x */ ()`:            true,
		"SELECT [changes](), 1":                  true,
		"SELECT changes FROM t WHERE (a)":        false,
		"SELECT 'changes()', total_changes()":    false,
		"SELECT $a$ changes() $a$":               true,
		"CREATE TABLE t (a DEFAULT (CHANGES()))": true,
	} {
		if got := Parse(text).changes; got != want {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
}

func TestInspectable(t *testing.T) {
	for text, want := range map[string]bool{
		"SELECT 1": true, "WITH a AS (SELECT 1) DELETE FROM t": true, "REPLACE INTO t VALUES (1)": true, "VALUES (1)": true,
		"": false, "EXPLAIN SELECT 1": false, "PRAGMA x": false, "SELECT 1; SELECT 2": false, "CREATE TABLE t AS SELECT 1": false,
	} {
		if got := Parse(text).Inspectable(); got != want {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"SELECT 'a;b' -- c\n, \"d\"", "/*", "x'0", "1e+", "$a::b(c)", "[", "\xef\xbb\xbf;"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		st := Parse(text)
		if !strings.Contains(text, st.body) {
			t.Errorf("%q: body %q", text, st.body)
		}
		again := Parse(st.body)
		if st.Verb != "" && (again.Verb != st.Verb || st.Single && !again.Single) {
			t.Errorf("%q: got %+v of its body, want %+v", text, again, st)
		}
	})
}
