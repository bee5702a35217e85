package fsstat

import (
	"context"

	"github.com/tidestaff/tidestaff/probe"
)

// A View is a Probe for one role or one operation; see [Probe.In] and
// [Probe.As]. The zero View counts nothing, as a nil Probe does.
type View struct {
	probe *Probe
	ctx   context.Context // knows the role, or nil; of no use beside a label
	label *probe.Label    // nil if it is to be found out at each call
	op    *probe.Op
}

// watched says whether an operation that begins now is counted.
func (v View) watched() bool { return v.probe != nil && v.probe.core.Watched() }

// who finds out who does the work.
func (v View) who() *probe.Label {
	if v.label != nil {
		return v.label
	}
	return v.probe.labels.Label(v.ctx)
}

// settled is the view with its label found out, if somebody watches: it then
// holds for everything that comes of it.
func (v View) settled() View {
	if v.watched() && v.label == nil {
		v.label, v.ctx = v.who(), nil
	}
	return v
}

// begin begins a call on the file of a name, whose row is found when it is known
// whether there is one; see [call.on].
func (v View) begin(k callKind) call {
	if !v.watched() {
		return call{}
	}
	l := v.who()
	return tally{v.probe.labels.Of(l), nil, v.op}.begin(k, l)
}
