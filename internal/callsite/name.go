package callsite

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A function is the name of a frame's function, taken apart.
type function struct {
	pkg      string // import path
	receiver string // "(*Store)" or "Store"; "" for a plain function
	name     string // without closures and type arguments
}

// parse takes apart what the runtime calls a function, for example
// "example.com/app/store.(*Store[...]).Get.func1". A function literal is the
// function that it is written in, and so is the body of a range over a function.
//
// A literal in a function that the compiler inlined is called after both:
// "main.main.(*Store).Get.func1" is a literal of (*Store).Get, inlined in
// main.main. Of these the last counts; its package, if it is another one, is not
// in the name. Where both are plain functions the name reads as that of a
// method with a value receiver, "main.run".
func parse(full string) function {
	full = strings.ReplaceAll(full, "[...]", "")
	slash := strings.LastIndexByte(full, '/') + 1
	dot := strings.IndexByte(full[slash:], '.')
	if dot < 0 {
		return function{name: full}
	}
	f := function{pkg: unescape(full[:slash+dot])}
	parts := strings.Split(full[slash+dot+1:], ".")
	last := len(parts) - 1
	for last > 0 && isClosure(parts[last]) && !isPointer(parts[last-1]) {
		last--
	}
	f.name = trimSuffixes(parts[last])
	if last > 0 && (isPointer(parts[last-1]) || !isClosure(parts[last-1])) {
		f.receiver = trimSuffixes(parts[last-1])
	}
	return f
}

// isPointer recognises a pointer receiver, which only a method's name follows.
func isPointer(part string) bool { return strings.HasPrefix(part, "(*") }

// isClosure recognises the compiler's names of function literals and of wrapped
// calls: func1, gowrap2, deferwrap1, a bare number or nothing.
func isClosure(part string) bool {
	part = strings.TrimRight(trimSuffixes(part), "0123456789")
	return part == "" || part == "func" || part == "gowrap" || part == "deferwrap"
}

// trimSuffixes removes what marks a method value ("-fm") and the bodies of
// ranges over functions ("-range1").
func trimSuffixes(part string) string {
	name, _, _ := strings.Cut(part, "-")
	return name
}

// unescape undoes the linker's escapes in import paths: the dots in a path's
// last element, such as "gopkg.in/yaml%2ev3".
func unescape(path string) string {
	at := strings.IndexByte(path, '%')
	if at < 0 || at+2 >= len(path) {
		return path
	}
	high, low := unhex(path[at+1]), unhex(path[at+2])
	if high < 0 || low < 0 {
		return path[:at+1] + unescape(path[at+1:])
	}
	return path[:at] + string([]byte{byte(high<<4 | low)}) + unescape(path[at+3:])
}

func unhex(c byte) int { return strings.IndexByte("0123456789abcdef", c) }

func (f function) String() string {
	if f.receiver != "" {
		return f.receiver + "." + f.name
	}
	return f.name
}

func (f function) exported() bool {
	first, _ := utf8.DecodeRuneInString(f.name)
	return unicode.IsUpper(first)
}

// sameType reports whether both are methods of one type, be it by value or by
// pointer.
func (f function) sameType(other function) bool {
	return f.receiver != "" && f.pkg == other.pkg && typeName(f.receiver) == typeName(other.receiver)
}

func typeName(receiver string) string {
	return strings.TrimSuffix(strings.TrimPrefix(receiver, "(*"), ")")
}
