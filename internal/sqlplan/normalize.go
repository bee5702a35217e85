package sqlplan

import (
	"strings"
	"unicode/utf8"
)

// Normalize returns the text as it is fit for a report: literals become ?,
// comments go, white space is one blank, a list of values after IN is (…), so
// that calls which differ in their arguments alone look the same. A name in
// double quotes stays only if it could do without them, since SQLite takes an
// unknown one for a string. It is cut at about limit bytes, with … at the end.
func Normalize(text string, limit int) string {
	var b strings.Builder
	s := scanner{text}
	gap, in := false, false // in: the last token was IN
	for t := s.next(); t.kind != end && b.Len() <= limit; t = s.next() {
		if t.kind == blank {
			gap = true
			continue
		}
		if gap && b.Len() > 0 {
			b.WriteByte(' ')
		}
		if rest := afterList(s.rest, in && t.text == "("); rest != s.rest {
			b.WriteString("(…)")
			s.rest = rest
		} else {
			b.WriteString(shown(t))
		}
		gap, in = false, t.kind == word && strings.EqualFold(t.text, "IN")
	}
	return shorten(strings.TrimRight(b.String(), " ;"), limit)
}

// shown is how a token looks in a report.
func shown(t token) string {
	if t.kind == literal || t.kind == illegal && len(t.text) > 1 {
		return "?"
	}
	if t.kind == quoted && t.text[0] == '"' {
		if name := t.text[1 : len(t.text)-1]; span(name, isWord) < len(name) {
			return "?"
		}
	}
	return t.text
}

// afterList skips a list of literals and parameters to behind its parenthesis.
// It returns the text itself if there is none, or none is wanted.
func afterList(text string, wanted bool) string {
	s := scanner{text}
	for wanted {
		t := s.solid()
		for t.text == "-" || t.text == "+" {
			t = s.solid()
		}
		if t.kind != literal && t.kind != param {
			break
		}
		switch s.solid().text {
		case ")":
			return s.rest
		case ",":
		default:
			return text
		}
	}
	return text
}

// shorten cuts s to limit bytes and a mark, between two characters.
func shorten(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	s = s[:max(limit, 0)]
	for range utf8.UTFMax - 1 {
		if r, n := utf8.DecodeLastRuneInString(s); r == utf8.RuneError && n == 1 {
			s = s[:len(s)-1]
		}
	}
	return s + "…"
}
