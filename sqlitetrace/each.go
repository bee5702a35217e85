package sqlitetrace

import (
	"database/sql/driver"
	"encoding/binary"
	"hash/maphash"
	"math"
	"reflect"
	"strconv"
	"time"

	"github.com/tidestaff/tidestaff/internal/callsite"
	"github.com/tidestaff/tidestaff/probe"
)

// The attributes of single statements, beside [AttrQueryText] and [AttrPlan].
const (
	// AttrArguments tells executions of a statement apart whose arguments or
	// literals differ: a hash with a key of the process, from which they cannot be
	// had back. It is left out if an argument is of a type that only a driver knows.
	AttrArguments = "tidestaff.db.arguments"
	// AttrCallSite is the line of the service from which the statement was executed,
	// such as "fleet.go:88".
	AttrCallSite = "tidestaff.db.call_site"
)

var descStatements = &probe.Desc{Name: "tidestaff.db.statements", Unit: "{query}", Kind: probe.KindCounter, Detail: true,
	Help: "Statements executed, by text, place and arguments. Only with Options.Statements."}

// An eachKey tells statements apart. The zero key is of those beyond the limit.
type eachKey struct {
	series          *series
	text, arguments string
	site, plan      string
}

// newEach makes the table of single statements; nil if nobody asks for it.
func newEach(p *Probe, limit int) *probe.Table[eachKey, probe.Counter] {
	if limit <= 0 {
		return nil
	}
	return probe.NewTable(limit, eachKey{}, func(k eachKey) *probe.Counter {
		attrs := []probe.Attr{{Key: AttrSystem, Value: p.system}}
		add := func(key, value string) {
			if value != "" {
				attrs = append(attrs, probe.Attr{Key: key, Value: value})
			}
		}
		if k.series == nil {
			k.series, k.text = &series{label: &probe.Label{Method: other, Role: other}}, other
		}
		add(probe.AttrMethod, k.series.label.Method)
		add(probe.AttrRole, k.series.label.Role)
		add(AttrQueryText, k.text)
		add(AttrArguments, k.arguments)
		add(AttrCallSite, k.site)
		add(AttrPlan, k.plan)
		return p.core.Counter(descStatements, attrs...)
	})
}

// countEach counts the execution by itself, if somebody wants that. It is called
// within the driver's call, on the goroutine and with the arguments of the caller.
func (x *execution) countEach() {
	p := x.conn.probe
	if p.each == nil {
		return
	}
	k := eachKey{series: x.series, text: x.text.normal(), site: callsite.Line(p.skip, x.series.label.Method), arguments: p.hash(x.text.text, x.args)}
	if x.plan != nil {
		k.plan = x.plan.Class.String()
	}
	p.each.Get(k).Add(1)
}

// hash tells a text with its literals and its arguments from others; "" if that
// cannot be told.
func (p *Probe) hash(text string, args []driver.NamedValue) string {
	var h maphash.Hash
	h.SetSeed(p.seed)
	part := func(tag byte, s string) {
		_ = h.WriteByte(tag)
		word(&h, uint64(len(s)))
		_, _ = h.WriteString(s)
	}
	part('t', text)
	for _, a := range args {
		part('n', a.Name)
		if !value(&h, part, a.Value) {
			return ""
		}
	}
	return strconv.FormatUint(h.Sum64(), 16)
}

// word writes a number.
func word(h *maphash.Hash, n uint64) {
	_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, n))
}

// value writes an argument. Those of other types than these are not looked at:
// their methods are somebody else's code, and what they point to may be changing.
func value(h *maphash.Hash, part func(tag byte, s string), v driver.Value) bool {
	switch v := v.(type) {
	case nil:
		_ = h.WriteByte('0')
		return true
	case []byte:
		part('b', string(v))
		return true
	case time.Time:
		_ = h.WriteByte('T')
		word(h, uint64(v.Unix()))
		word(h, uint64(v.Nanosecond()))
		return true
	}
	r := reflect.ValueOf(v)
	_ = h.WriteByte(byte(r.Kind()))
	switch {
	case r.Kind() == reflect.String:
		part('s', r.String())
	case r.Kind() == reflect.Bool:
		part('B', strconv.FormatBool(r.Bool()))
	case r.CanInt():
		word(h, uint64(r.Int()))
	case r.CanUint():
		word(h, r.Uint())
	case r.CanFloat():
		word(h, math.Float64bits(r.Float()))
	default:
		return false
	}
	return true
}
