package sqlitetrace

import (
	"strings"
	"unicode/utf8"
)

// maxNormal bounds a normalised text, in bytes.
const maxNormal = 500

// normalise makes a text that people may see: its literals and parameters are
// question marks, lists of them are one, its comments are gone. A word in double
// quotes is taken for a name, as the SQL standard has it, though SQLite takes it
// for a string where there is no such name.
func normalise(text string) string {
	var b strings.Builder
	gap := false
	for text != "" && b.Len() <= maxNormal {
		kind, n := nextToken(text)
		token := text[:n]
		text = text[n:]
		switch kind {
		case tokenSpace:
			gap = b.Len() > 0
			continue
		case tokenValue, tokenParam:
			token = "?"
		}
		if gap {
			b.WriteByte(' ')
			gap = false
		}
		b.WriteString(token)
		if token == "?" || token == ")" {
			fold(&b)
		}
	}
	s := strings.TrimRight(b.String(), "; ")
	if len(s) <= maxNormal {
		return s
	}
	end := maxNormal
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}

// fold makes one of a list that has just got longer: "?, ?" is "?", and
// "(?), (?)" is "(?)".
func fold(b *strings.Builder) {
	s := b.String()
	for _, one := range [...]string{"?", "(?)"} {
		for _, comma := range [...]string{",", ", "} {
			if strings.HasSuffix(s, one+comma+one) {
				s = s[:len(s)-len(comma)-len(one)]
				b.Reset()
				b.WriteString(s)
			}
		}
	}
}
