package sqlitetrace

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestNormalise(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "",
		"SELECT 1":                    "SELECT ?",
		"select 'it''s', x'1f', -1.5": "select ?, -?",
		"-- name: Get :one\nSELECT  *\n\tFROM t /* c */ WHERE id = ?1;": "SELECT * FROM t WHERE id = ?",
		"SELECT a FROM t WHERE b IN (1, 2,3 , 4)":                       "SELECT a FROM t WHERE b IN (? , ?)",
		"INSERT INTO t (a, b) VALUES (?, ?), (?, ?), (?, ?)":            "INSERT INTO t (a, b) VALUES (?)",
		"INSERT INTO t VALUES (1,'x'),(2,'y')":                          "INSERT INTO t VALUES (?)",
		`SELECT "name", [a b], ` + "`c`" + ` FROM t1 WHERE x = :secret`: `SELECT "name", [a b], ` + "`c`" + ` FROM t1 WHERE x = ?`,
		"SELECT $$it's secret$$, E'\\'secret', $1":                      "SELECT ?",
		"SELECT * FROM t WHERE a = 'unclosed secret":                    "SELECT * FROM t WHERE a = ?",
		"SELECT f(1), g(a, 2) FROM t LIMIT 10 OFFSET 20":                "SELECT f(?), g(a, ?) FROM t LIMIT ? OFFSET ?",
	} {
		if got := normalise(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	long := normalise("SELECT " + strings.Repeat("é + ", maxNormal))
	if len(long) > maxNormal+len("…") || !utf8.ValidString(long) || !strings.HasSuffix(long, "…") {
		t.Errorf("a long text: got %d bytes, %q, want at most %d and a mark", len(long), long[len(long)-10:], maxNormal)
	}
	list := normalise("INSERT INTO t VALUES " + strings.Repeat("(1, 'secret'), ", 10_000) + "(2, 'x')")
	if want := "INSERT INTO t VALUES (?)"; list != want {
		t.Errorf("a long list: got %q, want %q", list, want)
	}
}

// FuzzNormalise wants no literal to get through.
func FuzzNormalise(f *testing.F) {
	f.Add("a", "b")
	f.Add("SELECT 'a' -- ", "\n, ")
	f.Fuzz(func(t *testing.T, before, after string) {
		got := normalise("SELECT 'secret', 0x5ec4e7 -- secret\n, x'5ec4e7' FROM t " + strings.ReplaceAll(before, "secret", ""))
		if strings.Contains(got, "secret") || strings.Contains(got, "5ec4e7") {
			t.Errorf("%q shows a literal", got)
		}
		if got := normalise(before + after); len(got) > maxNormal+len("…") {
			t.Errorf("%d bytes, want at most %d", len(got), maxNormal)
		}
	})
}
