package sqlitetrace

import (
	"bytes"
	"database/sql/driver"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidestaff/tidestaff/probe"
)

const (
	// maxArguments is how many arguments of a statement are shown; one more
	// tells that there are more.
	maxArguments = 16
	// maxArgument is how much of one is shown: bytes of a text, and half as many
	// of a blob, which takes two characters for each.
	maxArgument = 64
)

// AttrParameter begins OpenTelemetry's attributes for the arguments of a slow
// statement, "db.query.parameter.0" or "db.query.parameter.name"; see
// [Options].ShowArguments, without which there are none.
const AttrParameter = "db.query.parameter."

// bound has the arguments for the event of a slow statement, if it shows them, and
// for countEach. They are the caller's and only valid during the call: see wrapRows.
func (x *execution) bound(args []driver.NamedValue) {
	if x.bindsArguments() {
		x.args = args
	}
}

// boundNumbered is bound for a call of the old kind.
func (x *execution) boundNumbered(args []driver.Value) {
	if x.bindsArguments() {
		x.args = numbered(args)
	}
}

// bindsArguments tells whether anything looks at them.
func (x *execution) bindsArguments() bool {
	return x.series != nil && (x.conn.probe.shows || x.conn.probe.each != nil)
}

// numbered gives the arguments of a call of the old kind as those of a new one.
func numbered(args []driver.Value) []driver.NamedValue {
	named := make([]driver.NamedValue, len(args))
	for i, v := range args {
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
	}
	return named
}

// keptArguments copies what is shown of arguments that outlive their call.
func (p *Probe) keptArguments(args []driver.NamedValue) []driver.NamedValue {
	if !p.shows || len(args) == 0 {
		return nil
	}
	kept := slices.Clone(args[:min(len(args), maxArguments+1)])
	for i := range kept {
		switch v := kept[i].Value.(type) {
		case []byte: // the program may change it as soon as the call has returned
			kept[i].Value = bytes.Clone(v[:min(len(v), maxArgument+1)])
		case string: // do not keep a long one alive
			if len(v) > maxArgument {
				kept[i].Value = strings.Clone(v[:maxArgument+1])
			}
		}
	}
	return kept
}

// parameters appends the arguments as attributes.
func (x *execution) parameters(attrs []probe.Attr) []probe.Attr {
	if !x.conn.probe.shows {
		return attrs
	}
	for i, a := range x.args {
		key := AttrParameter + a.Name
		if a.Name == "" {
			key = AttrParameter + strconv.Itoa(i)
		}
		if i == maxArguments {
			return append(attrs, probe.Attr{Key: AttrParameter + strconv.Itoa(i), Value: "…"})
		}
		attrs = append(attrs, probe.Attr{Key: key, Value: shownArgument(a.Value)})
	}
	return attrs
}

// shownArgument is what is shown of an argument. Of the types that only a driver
// knows it is the type: their methods are somebody else's code, and what they
// point to may be changing.
func shownArgument(v driver.Value) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case string:
		n := len(v)
		if n <= maxArgument {
			return strconv.Quote(v)
		}
		for n = maxArgument; n > maxArgument-utf8.UTFMax && !utf8.RuneStart(v[n]); n-- {
		}
		return strconv.Quote(v[:n]) + "…"
	case []byte:
		if len(v) > maxArgument/2 {
			return fmt.Sprintf("x'%x'…", v[:maxArgument/2])
		}
		return fmt.Sprintf("x'%x'", v)
	case time.Time:
		return v.Format(time.RFC3339Nano)
	case bool, int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, float32, float64:
		return fmt.Sprint(v)
	}
	return fmt.Sprintf("(%T)", v)
}
