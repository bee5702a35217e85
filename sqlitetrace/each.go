package sqlitetrace

import (
	"database/sql/driver"
	"hash/maphash"
	"math"
	"reflect"
	"slices"
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
		method, role, text := other, other, other
		if k.series != nil {
			method, role, text = k.series.label.Method, k.series.label.Role, k.text
		}
		attrs := []probe.Attr{{Key: AttrSystem, Value: p.system}, {Key: probe.AttrMethod, Value: method},
			{Key: probe.AttrRole, Value: role}, {Key: AttrQueryText, Value: text},
			{Key: AttrArguments, Value: k.arguments}, {Key: AttrCallSite, Value: k.site}, {Key: AttrPlan, Value: k.plan}}
		attrs = slices.DeleteFunc(attrs, func(a probe.Attr) bool { return a.Value == "" }) // what is not known
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
	maphash.WriteComparable(&h, text)
	for _, a := range args {
		maphash.WriteComparable(&h, a.Name)
		if !hashValue(&h, a.Value) {
			return ""
		}
	}
	return strconv.FormatUint(h.Sum64(), 16)
}

// hashValue writes an argument, behind its kind. Those of other types than these are
// not looked at: their methods are somebody else's code, and what they point to may
// be changing.
func hashValue(h *maphash.Hash, value driver.Value) bool {
	r := reflect.ValueOf(value)
	_ = h.WriteByte(byte(r.Kind()))
	switch v := value.(type) {
	case nil:
		return true
	case []byte:
		maphash.WriteComparable(h, string(v))
		return true
	case time.Time:
		maphash.WriteComparable(h, [2]int64{v.Unix(), int64(v.Nanosecond())})
		return true
	}
	switch {
	case r.Kind() == reflect.String:
		maphash.WriteComparable(h, r.String())
	case r.Kind() == reflect.Bool:
		maphash.WriteComparable(h, r.Bool())
	case r.CanInt():
		maphash.WriteComparable(h, r.Int())
	case r.CanUint():
		maphash.WriteComparable(h, r.Uint())
	case r.CanFloat():
		maphash.WriteComparable(h, math.Float64bits(r.Float()))
	default:
		return false
	}
	return true
}
