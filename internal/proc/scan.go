package proc

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"time"
)

// Value is a number that may be absent: V means something only if OK.
// A kernel that does not print a field, and a field that reads 0, are two
// different answers.
type Value struct {
	V  uint64
	OK bool
}

// ParseUint parses a file that holds one unsigned decimal number, such as
// memory.current, with or without a trailing newline.
func ParseUint(b []byte) (uint64, error) {
	b = bytes.TrimSpace(b)
	v, ok := digits(b)
	if !ok {
		return 0, fmt.Errorf("not an unsigned number: %q", clip(b))
	}
	return v, nil
}

// ParseInt parses a file that holds one signed decimal number, such as
// cpu.cfs_quota_us, whose -1 means no quota.
func ParseInt(b []byte) (int64, error) {
	b = bytes.TrimSpace(b)
	d, neg := bytes.CutPrefix(b, minus)
	v, ok := digits(d)
	switch {
	case ok && neg && v <= 1<<63:
		return int64(-v), nil
	case ok && !neg && v <= math.MaxInt64:
		return int64(v), nil
	}
	return 0, fmt.Errorf("not a number: %q", clip(b))
}

// noLimit is where the kernel's ways to say "no limit" in a version 1 file
// begin: the largest signed number rounded down to a page, which is
// 9223372036854771712 with pages of 4 KiB and less with larger ones. Nobody
// means a limit of eight exbibytes.
const noLimit = math.MaxInt64 - (1<<20 - 1)

// ParseLimit parses a file that holds a limit in bytes or pieces. The Value
// is absent when there is no limit: "max" in version 2; -1 or the largest
// signed number, rounded down to a page, in version 1.
func ParseLimit(b []byte) (Value, error) {
	b = bytes.TrimSpace(b)
	if string(b) == "max" || string(b) == "-1" {
		return Value{}, nil
	}
	v, ok := digits(b)
	if !ok {
		return Value{}, fmt.Errorf("not a limit: %q", clip(b))
	}
	return Bounded(Value{V: v, OK: true}), nil
}

// ParseFlat looks up keys in a flat keyed file ("key number" lines: cpu.stat,
// memory.stat, memory.events) and sets dst[i] to the number of keys[i], absent
// if the file does not have it. dst is at least as long as keys. Other lines
// are not looked at.
func ParseFlat(b []byte, keys []string, dst []Value) error {
	return parseKeyed(b, ' ', keys, dst)
}

// parseColon is [ParseFlat] for files of "key: number" lines with an optional
// unit (/proc/self/io, the numeric lines of /proc/self/status).
// A number of kB is returned in bytes; the kernel's kB are 1024 bytes.
func parseColon(b []byte, keys []string, dst []Value) error {
	return parseKeyed(b, ':', keys, dst)
}

func parseKeyed(b []byte, sep byte, keys []string, dst []Value) error {
	clear(dst[:len(keys)])
	for missing := len(keys); missing > 0 && len(b) > 0; {
		var line []byte
		line, b = nextLine(b)
		i := bytes.IndexByte(line, sep)
		if i < 0 {
			continue
		}
		k := indexKey(keys, line[:i])
		if k < 0 {
			continue
		}
		v, ok := quantity(line[i+1:])
		if !ok {
			return fmt.Errorf("not a number: %q", clip(line))
		}
		if !dst[k].OK {
			missing-- // what follows the last key is not looked at
		}
		dst[k] = Value{V: v, OK: true}
	}
	return nil
}

// indexKey compares without converting, so that nothing is allocated.
func indexKey(keys []string, key []byte) int {
	for i, k := range keys {
		if k == string(key) {
			return i
		}
	}
	return -1
}

// quantity reads "  123" or "  123 kB".
func quantity(b []byte) (uint64, bool) {
	f, rest := nextField(b)
	v, ok := digits(f)
	if !ok {
		return 0, false
	}
	switch unit, _ := nextField(rest); string(unit) {
	case "":
		return v, true
	case "kB":
		return v << 10, v <= math.MaxUint64>>10
	}
	return 0, false
}

// digits parses one or more decimal digits and nothing else. Unlike strconv
// it knows no sign, no underscore and no prefix, and does not allocate an
// error.
func digits(b []byte) (uint64, bool) {
	if len(b) == 0 {
		return 0, false
	}
	var v uint64
	for _, c := range b {
		d := uint64(c - '0')
		if d > 9 || v > math.MaxUint64/10 {
			return 0, false
		}
		v *= 10
		if v+d < v {
			return 0, false
		}
		v += d
	}
	return v, true
}

// decimal parses "12.34" as the kernel prints load averages.
func decimal(b []byte) (float64, bool) {
	whole, frac, dot := bytes.Cut(b, point)
	if _, ok := digits(whole); !ok {
		return 0, false
	}
	if _, ok := digits(frac); dot && !ok {
		return 0, false
	}
	v, err := strconv.ParseFloat(string(b), 64)
	return v, err == nil
}

var (
	minus = []byte("-")
	point = []byte(".")
)

// nextLine splits off the first line, which may lack its newline.
func nextLine(b []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(b, newline)
	return line, rest
}

var newline = []byte{'\n'}

// nextField splits off the first run of bytes that are neither space nor tab.
func nextField(b []byte) (field, rest []byte) {
	for len(b) > 0 && blank(b[0]) {
		b = b[1:]
	}
	for i, c := range b {
		if blank(c) {
			return b[:i], b[i:]
		}
	}
	return b, nil
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// duration is n units, if that is representable (292 years).
func duration(n uint64, unit time.Duration) (time.Duration, bool) {
	if n > uint64(math.MaxInt64/unit) {
		return 0, false
	}
	return time.Duration(n) * unit, true
}

// clip keeps quoted text of a broken file to a readable length.
func clip(b []byte) []byte {
	const most = 80
	if len(b) > most {
		return b[:most]
	}
	return b
}
