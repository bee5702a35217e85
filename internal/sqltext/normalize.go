package sqltext

import (
	"strings"
	"unicode/utf8"
)

// Normalize returns the text as it is fit for a report: literals become ?,
// comments go, white space is one blank, a list of literals and parameters after
// IN is (?), and so are the rows after VALUES together, so that calls which
// differ in their arguments alone look the same. Parameters stay as they are.
//
// A name in double quotes stays only if it could do without them, since SQLite
// takes an unknown one for a string, and one in brackets only if it could not be
// PostgreSQL's array of literals. The text is cut at about limit bytes, with … at
// the end.
func Normalize(text string, limit int) string {
	text, _, _ = strings.Cut(text, "\x00") // which ends it for SQLite
	var b strings.Builder
	s := Scanner{text}
	gap, before := false, "" // before: IN or VALUES, if that was the last token
	for t := s.Next(); t.Kind != End && b.Len() <= limit; t = s.Next() {
		if t.Kind == Blank {
			gap = b.Len() > 0
			continue
		}
		if gap {
			b.WriteByte(' ')
		}
		if rest, ok := afterLists(s.Rest, before); ok && t.Text == "(" {
			b.WriteString("(?)")
			s.Rest = rest
		} else {
			b.WriteString(shown(t))
		}
		gap, before = false, listed(t)
	}
	return Shorten(strings.TrimRight(b.String(), " ;"), limit)
}

// listed is the keyword, in upper case, if it is one that lists follow, or "".
func listed(t Token) string {
	for _, w := range [...]string{"IN", "VALUES"} {
		if t.Kind == Word && strings.EqualFold(t.Text, w) {
			return w
		}
	}
	return ""
}

// shown is how a token looks in a report.
func shown(t Token) string {
	hidden := false
	switch {
	case t.Kind == Literal || t.Kind == Foreign || t.Kind == Illegal && len(t.Text) > 1:
		hidden = true
	case t.Kind == Quoted && t.Text[0] == '"':
		hidden = !plain(t.Text[1:len(t.Text)-1], isWord)
	case t.Kind == Quoted && t.Text[0] == '[':
		hidden = !plain(t.Text[1:len(t.Text)-1], func(c byte) bool { return isWord(c) || c == ' ' })
	}
	if hidden {
		return "?"
	}
	return t.Text
}

// plain tells whether a name has only such bytes and does not look like a number.
func plain(name string, in func(byte) bool) bool {
	return name != "" && !isDigit(name[0]) && span(name, in) == len(name)
}

// afterLists skips what stands behind the parenthesis after IN, a list, or after
// VALUES, any number of them. It is not ok if that is not a list.
func afterLists(text, before string) (rest string, ok bool) {
	if before == "" {
		return "", false
	}
	rest, ok = afterList(text)
	for ok && before == "VALUES" {
		s := Scanner{rest}
		if s.Solid().Text != "," || s.Solid().Text != "(" {
			break
		}
		next, more := afterList(s.Rest)
		if !more {
			break
		}
		rest = next
	}
	return rest, ok
}

// afterList skips a list of literals and parameters to behind its parenthesis.
func afterList(text string) (rest string, ok bool) {
	s := Scanner{text}
	for {
		t := s.Solid()
		for t.Text == "-" || t.Text == "+" {
			t = s.Solid()
		}
		if t.Kind != Param && shown(t) != "?" {
			return "", false
		}
		switch s.Solid().Text {
		case ")":
			return s.Rest, true
		case ",":
		default:
			return "", false
		}
	}
}

// Shorten cuts s to limit bytes and a mark, between two characters.
func Shorten(s string, limit int) string {
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
