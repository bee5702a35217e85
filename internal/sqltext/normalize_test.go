package sqltext

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestNormalize(t *testing.T) {
	for text, want := range map[string]string{
		"":         "",
		"SELECT 1": "SELECT ?",
		"SELECT * FROM t WHERE a = 'x''y' AND b=-1.5e-3":                "SELECT * FROM t WHERE a = ? AND b=-?",
		"SELECT\n\t a -- secret\n FROM/* secret */t ; ":                 "SELECT a FROM t",
		"-- name: Get :one\nSELECT  *\n\tFROM t /* c */ WHERE id = ?1;": "SELECT * FROM t WHERE id = ?1",
		"SELECT x'00ff', 0x1F, .5, ?, ?2, :a, @b, $c, $1":               "SELECT ?, ?, ?, ?, ?2, :a, @b, $c, $1",
		"SELECT a::int":                                      "SELECT a::int",
		"a IN (1, 2, -3) OR b in(?,?)":                       "a IN (?) OR b in(?)",
		"a IN ( :x ) OR b IN (1,2 , 3 )":                     "a IN (?) OR b IN (?)",
		"a IN (SELECT 1) OR b IN (1, c) OR d IN ()":          "a IN (SELECT ?) OR b IN (?, c) OR d IN ()",
		"f(1, 2), inn (1, 2), \"IN\" (1)":                    "f(?, ?), inn (?, ?), \"IN\" (?)",
		"INSERT INTO t (a, b) VALUES (?, ?), (?, ?), (:c,1)": "INSERT INTO t (a, b) VALUES (?)",
		"INSERT INTO t VALUES (1,'x'),(2,'y') RETURNING id":  "INSERT INTO t VALUES (?) RETURNING id",
		"VALUES (1), (a), (2)":                               "VALUES (?), (a), (?)",
		"VALUES (1), 2":                                      "VALUES (?), ?",
		"IN (\"ann@example.com\", 'x') OR b IN (\"b\")":      "IN (?) OR b IN (\"b\")",
		"VALUES (1":                                  "VALUES (?",
		"SELECT \"name\", [b c], `d e`":              "SELECT \"name\", [b c], `d e`",
		`SELECT "ann@example.com", "a b", "1", ""`:   "SELECT ?, ?, ?, ?",
		`SELECT ARRAY['secret', 's'], a[1], a[i]`:    "SELECT ARRAY?, a?, a[i]",
		"SELECT $$it's secret$$, E'\\'secret', N's'": "SELECT ?, ?, ?",
		"SELECT 'never closed secret":                "SELECT ?",
		"SELECT 'sec\x00ret":                         "SELECT ?",
		"SELECT f(1), g(a, 2) LIMIT 10 OFFSET 20":    "SELECT f(?), g(a, ?) LIMIT ? OFFSET ?",
	} {
		if got := Normalize(text, 1000); got != want {
			t.Errorf("%q:\n got %q\nwant %q", text, got, want)
		}
	}
	list := Normalize("INSERT INTO t VALUES "+strings.Repeat("(1, 'secret'), ", 10_000)+"(2, 'x')", 100)
	if want := "INSERT INTO t VALUES (?)"; list != want {
		t.Errorf("a long list: got %q, want %q", list, want)
	}
}

func TestNormalizeCuts(t *testing.T) {
	if got, want := Normalize("SELECT äöü", 9), "SELECT ä…"; got != want {
		t.Errorf("cut between characters: got %q, want %q", got, want)
	}
	if got, want := Normalize("SELECT äöü", 10), "SELECT ä…"; got != want {
		t.Errorf("cut within a character: got %q, want %q", got, want)
	}
	if got, want := Normalize("SELECT äöü", 13), "SELECT äöü"; got != want {
		t.Errorf("as long as the limit: got %q, want %q", got, want)
	}
	if got, want := Shorten("abc", -1), "…"; got != want {
		t.Errorf("cut to less than nothing: got %q, want %q", got, want)
	}
}

func FuzzNormalize(f *testing.F) {
	for _, s := range []string{"SELECT 'a' IN (1, 2)", "IN (1", "\"a b\"", "ä /* ö */ ü", "VALUES (1), (2", "$$ E'\\"} {
		f.Add(s, 20)
	}
	f.Fuzz(func(t *testing.T, text string, limit int) {
		limit = max(limit, 0)
		got := Normalize(text, limit)
		if len(got)-len("…") > limit {
			t.Errorf("%q: got %d bytes, want at most %d and a mark", text, len(got), limit)
		}
		if utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("%q: got %q, which is no UTF-8", text, got)
		}
		// Alone at the end, it begins a string that holds nothing.
		if strings.Contains(strings.TrimRight(got, "'…"), "'") && !strings.ContainsAny(text, "`") {
			t.Errorf("%q: got %q, with a quote of a literal", text, got)
		}
	})
}

// FuzzNormalizeHides wants no literal to get through, whatever follows it.
func FuzzNormalizeHides(f *testing.F) {
	f.Add("a")
	f.Add("SELECT 'a' -- \n, ")
	f.Fuzz(func(t *testing.T, after string) {
		if strings.Contains(after, "secret") || strings.Contains(after, "5ec4e7") {
			t.Skip("it may show its own")
		}
		got := Normalize("SELECT 'secret', \"the secret\", 0x5ec4e7 -- secret\n, x'5ec4e7', $$secret$$, E'\\'secret' FROM t "+after, 500)
		if strings.Contains(got, "secret") || strings.Contains(got, "5ec4e7") {
			t.Errorf("%q shows a literal", got)
		}
	})
}
