package sqltext

import "strings"

// A Kind is what a token is to us, which is less than what it is to SQLite.
type Kind uint8

// The kinds of tokens.
const (
	End     Kind = iota // of the text
	Blank               // white space or a comment
	Word                // a keyword or a bare identifier
	Quoted              // an identifier in "", [] or ``
	Literal             // a string, blob or number
	Foreign             // a string of other databases, which SQLite reads differently
	Param               // ? ?1 :a @a $a
	Semi                // ;
	Punct               // anything else that SQLite knows
	Illegal             // unterminated, or what SQLite refuses
)

// A Token is a piece of the text.
type Token struct {
	Kind Kind
	Text string
}

// A Scanner cuts a text into tokens as SQLite's tokenizer does, but for strings
// of kind [Foreign]. Every byte belongs to a token, so that the tokens' texts
// joined are the text.
type Scanner struct {
	Rest string // what is not cut yet
}

// Next returns the next token, at last one of kind [End] for ever.
func (s *Scanner) Next() Token {
	if s.Rest == "" {
		return Token{}
	}
	k, n := cut(s.Rest)
	t := Token{k, s.Rest[:n]}
	s.Rest = s.Rest[n:]
	return t
}

// Solid returns the next token that is not blank.
func (s *Scanner) Solid() Token {
	for {
		if t := s.Next(); t.Kind != Blank {
			return t
		}
	}
}

// Name returns the name that the token is if it is an identifier, bare or quoted.
func (t Token) Name() (name string, ok bool) {
	switch t.Kind {
	case Word:
		return t.Text, true
	case Quoted:
		q := t.Text[len(t.Text)-1:]
		return strings.ReplaceAll(t.Text[1:len(t.Text)-1], q+q, q), true
	}
	return "", false
}

// IsName tells whether t is this identifier, bare or quoted.
func (t Token) IsName(name string) bool {
	own, ok := t.Name()
	return ok && strings.EqualFold(own, name)
}

// cut measures the first token of a text that is not empty.
func cut(s string) (Kind, int) {
	c := s[0]
	switch {
	case isSpace(c):
		return Blank, span(s, isSpace)
	case isDigit(c), c == '.' && len(s) > 1 && isDigit(s[1]):
		return Literal, number(s)
	case (c == 'x' || c == 'X') && len(s) > 1 && s[1] == '\'':
		k, n := delimited(s[1:], '\'', Literal)
		return k, n + 1
	case len(s) > 1 && s[1] == '\'' && strings.IndexByte("eEnNbB", c) >= 0:
		return prefixed(s)
	case isWord(c) && c != '$':
		return wordOrMark(s)
	}
	switch c {
	case '\'':
		return delimited(s, c, Literal)
	case '"', '`':
		return delimited(s, c, Quoted)
	case '[':
		return bracketed(s)
	case '-', '/':
		return comment(s)
	case ';':
		return Semi, 1
	case '?':
		return Param, 1 + span(s[1:], isDigit)
	case '$':
		if n := dollars(s); n > 0 {
			return Foreign, n
		}
		return parameter(s)
	case ':', '@', '#':
		return parameter(s)
	case 0, '\\', '{', '}', ']', '^', '\x7f':
		return Illegal, 1
	}
	if c < ' ' {
		return Illegal, 1
	}
	return Punct, 1
}

// wordOrMark tells a byte order mark, which SQLite takes for white space, from
// the identifiers that may start with the same byte.
func wordOrMark(s string) (Kind, int) {
	if len(s) >= 3 && s[:3] == "\xef\xbb\xbf" {
		return Blank, 3
	}
	return Word, span(s, isWord)
}

// delimited measures a string or identifier in which the delimiter is doubled.
func delimited(s string, q byte, k Kind) (Kind, int) {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == 0:
			return Illegal, i // the drivers' C string ends here
		case s[i] != q:
		case i+1 < len(s) && s[i+1] == q:
			i++
		default:
			return k, i + 1
		}
	}
	return Illegal, len(s)
}

// prefixed measures PostgreSQL's E'…', in which a backslash takes the meaning of
// what follows it, and the standard's N'…' and B'…'. SQLite takes the letter for
// a name and the rest for a string.
func prefixed(s string) (Kind, int) {
	if s[0] != 'e' && s[0] != 'E' {
		k, n := delimited(s[1:], '\'', Foreign)
		return k, n + 1
	}
	for i := 2; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] != '\'':
		case i+1 < len(s) && s[i+1] == '\'':
			i++
		default:
			return Foreign, i + 1
		}
	}
	return Illegal, len(s)
}

// dollars measures PostgreSQL's $$…$$ or $tag$…$tag$; 0 if s begins with none.
func dollars(s string) int {
	n := 1 + span(s[1:], func(c byte) bool { return isWord(c) && c != '$' })
	if n == len(s) || s[n] != '$' || isDigit(s[1]) {
		return 0
	}
	tag := s[:n+1]
	end := strings.Index(s[len(tag):], tag)
	if end < 0 {
		return 0
	}
	return len(tag) + end + len(tag)
}

func bracketed(s string) (Kind, int) {
	for i := range len(s) {
		switch s[i] {
		case 0:
			return Illegal, i
		case ']':
			return Quoted, i + 1
		}
	}
	return Illegal, len(s)
}

// comment measures a comment, or the operator that starts like one. SQLite lets
// the end of the text end a comment. A NUL ends the text for SQLite and not for
// us, so a comment with one in it is illegal.
func comment(s string) (Kind, int) {
	n := 0
	switch {
	case len(s) >= 2 && s[:2] == "--":
		n = span(s, func(c byte) bool { return c != '\n' })
	case len(s) >= 3 && s[:2] == "/*": // at the very end it is two operators
		n = len(s)
		for i := 3; i < len(s); i++ {
			if s[i] == '/' && s[i-1] == '*' {
				n = i + 1
				break
			}
		}
	default:
		return Punct, 1
	}
	if span(s[:n], func(c byte) bool { return c != 0 }) < n {
		return Illegal, n
	}
	return Blank, n
}

// parameter measures a named parameter. Its TCL form, $a(b), is refused: nobody
// writes it, and what may stand in the parentheses is odd.
func parameter(s string) (Kind, int) {
	n := 1
	for n < len(s) && (isWord(s[n]) || s[n] == ':' && n+1 < len(s) && s[n+1] == ':') {
		if s[n] == ':' {
			n++
		}
		n++
	}
	if n == 1 || s[0] == '#' || n < len(s) && s[n] == '(' {
		return Illegal, n
	}
	return Param, n
}

// number measures a numeric literal with what sticks to it: 1e-5, 0x1F, 1_000.
func number(s string) int {
	n := 0
	for n < len(s) {
		c := s[n]
		exponent := (c == '+' || c == '-') && n > 0 && (s[n-1] == 'e' || s[n-1] == 'E') && !isHex(s)
		if !isWord(c) && c != '.' && !exponent {
			break
		}
		n++
	}
	return n
}

func isHex(s string) bool {
	return len(s) > 1 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X')
}

func span(s string, in func(byte) bool) int {
	n := 0
	for n < len(s) && in(s[n]) {
		n++
	}
	return n
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isWord tells the bytes of identifiers, as SQLite has them: all above ASCII are.
func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || isDigit(c) || c == '_' || c == '$' || c >= 0x80
}
