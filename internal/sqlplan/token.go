package sqlplan

// A kind is what a token is to us, which is less than what it is to SQLite.
type kind uint8

const (
	end     kind = iota // of the text
	blank               // white space or a comment
	word                // a keyword or a bare identifier
	quoted              // an identifier in "", [] or ``
	literal             // a string, blob or number
	param               // ? ?1 :a @a $a
	semi                // ;
	punct               // anything else that SQLite knows
	illegal             // unterminated, or what SQLite refuses
)

// A token is a piece of the text.
type token struct {
	kind kind
	text string
}

// A scanner cuts a text into tokens as SQLite's tokenizer does. Every byte
// belongs to a token, so that the tokens' texts joined are the text.
type scanner struct {
	rest string
}

// next returns the next token, at last one of kind end for ever.
func (s *scanner) next() token {
	if s.rest == "" {
		return token{}
	}
	k, n := cut(s.rest)
	t := token{k, s.rest[:n]}
	s.rest = s.rest[n:]
	return t
}

// solid returns the next token that is not blank.
func (s *scanner) solid() token {
	for {
		if t := s.next(); t.kind != blank {
			return t
		}
	}
}

// cut measures the first token of a text that is not empty.
func cut(s string) (kind, int) {
	c := s[0]
	switch {
	case isSpace(c):
		return blank, span(s, isSpace)
	case isDigit(c), c == '.' && len(s) > 1 && isDigit(s[1]):
		return literal, number(s)
	case (c == 'x' || c == 'X') && len(s) > 1 && s[1] == '\'':
		k, n := delimited(s[1:], '\'', literal)
		return k, n + 1
	case isWord(c) && c != '$':
		return wordOrMark(s)
	}
	switch c {
	case '\'':
		return delimited(s, c, literal)
	case '"', '`':
		return delimited(s, c, quoted)
	case '[':
		return bracketed(s)
	case '-', '/':
		return comment(s)
	case ';':
		return semi, 1
	case '?':
		return param, 1 + span(s[1:], isDigit)
	case ':', '@', '$', '#':
		return parameter(s)
	case 0, '\\', '{', '}', ']', '^', '\x7f':
		return illegal, 1
	}
	if c < ' ' {
		return illegal, 1
	}
	return punct, 1
}

// wordOrMark tells a byte order mark, which SQLite takes for white space, from
// the identifiers that may start with the same byte.
func wordOrMark(s string) (kind, int) {
	if len(s) >= 3 && s[:3] == "\xef\xbb\xbf" {
		return blank, 3
	}
	return word, span(s, isWord)
}

// delimited measures a string or identifier in which the delimiter is doubled.
func delimited(s string, q byte, k kind) (kind, int) {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == 0:
			return illegal, i // the drivers' C string ends here
		case s[i] != q:
		case i+1 < len(s) && s[i+1] == q:
			i++
		default:
			return k, i + 1
		}
	}
	return illegal, len(s)
}

func bracketed(s string) (kind, int) {
	for i := range len(s) {
		switch s[i] {
		case 0:
			return illegal, i
		case ']':
			return quoted, i + 1
		}
	}
	return illegal, len(s)
}

// comment measures a comment, or the operator that starts like one. SQLite lets
// the end of the text end a comment. A NUL ends the text for SQLite and not for
// us, so a comment with one in it is illegal.
func comment(s string) (kind, int) {
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
		return punct, 1
	}
	if span(s[:n], func(c byte) bool { return c != 0 }) < n {
		return illegal, n
	}
	return blank, n
}

// parameter measures a named parameter. Its TCL form, $a(b), is refused: nobody
// writes it, and what may stand in the parentheses is odd.
func parameter(s string) (kind, int) {
	n := 1
	for n < len(s) && (isWord(s[n]) || s[n] == ':' && n+1 < len(s) && s[n+1] == ':') {
		if s[n] == ':' {
			n++
		}
		n++
	}
	if n == 1 || s[0] == '#' || n < len(s) && s[n] == '(' {
		return illegal, n
	}
	return param, n
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
