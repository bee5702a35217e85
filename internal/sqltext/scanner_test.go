package sqltext

import (
	"strings"
	"testing"
)

func TestScanner(t *testing.T) {
	names := map[Kind]string{Blank: "_", Word: "w", Quoted: "q", Literal: "l", Foreign: "f", Param: "p", Semi: ";", Punct: "o", Illegal: "!"}
	for text, want := range map[string]string{
		"":                    "",
		"SELECT a;":           "w _ w ;",
		"'it''s'a":            "l w",
		"'open":               "!",
		"'a\x00c'":            "! ! w !",
		"x'1f' X'":            "l _ !",
		"1.5e-3+.5":           "l o l",
		"0x1e+1":              "l o l",
		"1_000 1.e5":          "l _ l",
		"a1+1":                "w o l",
		`"a""b" [c] ` + "`d`": "q _ q _ q",
		"[open":               "!",
		"?,?12,:a,@b,$c":      "p o p o p o p o p",
		"?1a":                 "p w",
		"a::int":              "w ! p",
		"$a::b $a(1)":         "p _ ! o l o",
		"$1 $x$ $$":           "p _ p _ p",
		"$$it's$$ $t$a$$b$t$": "f _ f",
		"$1$a$1$":             "p",
		"E'\\'x' N'a' b'0'":   "f _ f _ f",
		"E'open\\'":           "!",
		"ee'x'":               "w l",
		"-- c\n1/* ' */2":     "_ _ l _ l",
		"/*/ 1":               "_",
		"/* open":             "_",
		"/*":                  "o o",
		"-- \x00\n1":          "! _ l",
		"a$b äö":              "w _ w",
		"\ufeffa":             "_ w",
		"#a ^ {":              "! _ ! _ !",
	} {
		var got []string
		s := Scanner{text}
		for tok := s.Next(); tok.Kind != End; tok = s.Next() {
			got = append(got, names[tok.Kind])
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%q: got %s, want %s", text, s, want)
		}
	}
}

func TestName(t *testing.T) {
	for text, want := range map[string]string{
		"a": "a", `"a""b"`: `a"b`, "`a``b`": "a`b", "[a b]": "a b", "'a'": "", "1": "", ";": "", "[open": "",
	} {
		s := Scanner{text}
		tok := s.Next()
		if got, ok := tok.Name(); got != want || ok != (want != "") {
			t.Errorf("%s: got %q, %v, want %q", text, got, ok, want)
		}
		if got := tok.IsName(strings.ToUpper(want)); got != (want != "") {
			t.Errorf("%s: is the name %q: got %v", text, strings.ToUpper(want), got)
		}
	}
}

// FuzzScanner wants every text to be taken apart whole.
func FuzzScanner(f *testing.F) {
	for _, s := range []string{
		"SELECT 'a;b' -- c\n, \"d\"", "/*", "x'0", "1e+", "$a::b(c)", "[", "\xef\xbb\xbf;", "E'\\", "$$ $a$ $a$ $$", "é",
		"SELECT a, 'it''s', x'1f', 1.5e-3, 0x1F, \"n\", `n`, [n] FROM t -- c",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, joined := Scanner{text}, ""
		for tok := s.Next(); tok.Kind != End; tok = s.Next() {
			if tok.Text == "" {
				t.Fatalf("%q: an empty token after %q", text, joined)
			}
			joined += tok.Text
			tok.IsName("a")
		}
		if joined != text {
			t.Errorf("tokens: got %q, want %q", joined, text)
		}
	})
}
