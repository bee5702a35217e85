package sqlitetrace

import "strings"

// A tokenKind is a kind of token of SQL's text.
type tokenKind uint8

const (
	tokenSpace  tokenKind = iota // white space and comments
	tokenWord                    // a keyword or a bare name
	tokenQuoted                  // a quoted name: "n", `n` or [n]
	tokenValue                   // a string, a blob or a number
	tokenParam                   // ?, ?1, :n, @n, $n
	tokenOther                   // one byte of anything else
)

// nextToken gives the kind and the length of the token that a non-empty text
// begins with. It knows SQLite's quotes and comments, and of PostgreSQL's the
// dollar quotes and E'...' strings. What is not closed reaches to the end.
func nextToken(s string) (tokenKind, int) {
	switch c := s[0]; {
	case c == ' ' || c >= '\t' && c <= '\r':
		return tokenSpace, 1
	case strings.HasPrefix(s, "--"):
		return tokenSpace, until(s, 2, "\n")
	case strings.HasPrefix(s, "/*"):
		return tokenSpace, until(s, 2, "*/")
	case c == '\'':
		return tokenValue, quoted(s, 0, false)
	case c == '"' || c == '`':
		return tokenQuoted, quoted(s, 0, false)
	case c == '[':
		return tokenQuoted, until(s, 1, "]")
	case isDigit(c) || c == '.' && len(s) > 1 && isDigit(s[1]):
		return tokenValue, numeral(s)
	case c == '$':
		return dollar(s)
	case c == '?' || (c == ':' || c == '@') && len(s) > 1 && isWordByte(s[1]):
		return tokenParam, word(s, 1)
	case isWordByte(c):
		n := word(s, 0)
		if n == 1 && len(s) > 1 && s[1] == '\'' && strings.ContainsRune("xXeEnNbB", rune(c)) {
			return tokenValue, quoted(s, 1, c == 'e' || c == 'E')
		}
		return tokenWord, n
	}
	return tokenOther, 1
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isWordByte accepts what names are made of; all of UTF-8 beyond ASCII is.
func isWordByte(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || isDigit(c) || c == '_' || c >= 0x80
}

// word is where the word ends that reaches over s[from].
func word(s string, from int) int {
	for from < len(s) && (isWordByte(s[from]) || s[from] == '$') {
		from++
	}
	return from
}

// until is the end of the first end at or after from.
func until(s string, from int, end string) int {
	if i := strings.Index(s[from:], end); i >= 0 {
		return from + i + len(end)
	}
	return len(s)
}

// quoted is the end of the quotation that begins at from. A doubled quote does
// not end it, nor does, where that is so, one after a backslash.
func quoted(s string, from int, backslash bool) int {
	quote := s[from]
	for i := from + 1; i < len(s); i++ {
		switch {
		case backslash && s[i] == '\\':
			i++
		case s[i] != quote:
		case i+1 < len(s) && s[i+1] == quote:
			i++
		default:
			return i + 1
		}
	}
	return len(s)
}

// numeral is the end of a number: digits, a fraction, an exponent with its sign,
// and whatever letters and digits go on without a break (0x1F, 1_000).
func numeral(s string) int {
	i := 1
	for i < len(s) && (isWordByte(s[i]) || s[i] == '.' || (s[i] == '+' || s[i] == '-') && s[i-1]|0x20 == 'e' && !strings.HasPrefix(s, "0x")) {
		i++
	}
	return i
}

// dollar is a parameter ($1, $name), or PostgreSQL's $$ or $tag$ quotation.
func dollar(s string) (tokenKind, int) {
	i := 1
	for i < len(s) && isWordByte(s[i]) {
		i++
	}
	if i < len(s) && s[i] == '$' && (i == 1 || !isDigit(s[1])) {
		if end := strings.Index(s[i+1:], s[:i+1]); end >= 0 {
			return tokenValue, 2*(i+1) + end
		}
	}
	if i == 1 {
		return tokenOther, 1
	}
	return tokenParam, i
}
