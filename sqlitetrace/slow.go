package sqlitetrace

import (
	"fmt"
	"strconv"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// eventSlow is the name of a slow statement's event.
const eventSlow = "tidestaff.db.slow"

// The attributes of a slow statement's event, beside its method, role and kind of
// operation.
const (
	// AttrQueryText is OpenTelemetry's attribute for the statement; its literals
	// are question marks. The arguments are elsewhere, if anywhere: see
	// [AttrParameter].
	AttrQueryText = "db.query.text"
	// AttrLockWait is the part of the call that was a wait for SQLite's write
	// lock, in seconds.
	AttrLockWait = "tidestaff.db.lock_wait"
)

// A split is where the time of an execution went, in nanoseconds.
type split struct {
	call, step, close int64
	rows              int64 // of a query that was closed
}

func (s split) busy() int64 { return s.call + s.step + s.close }

// emitSlow makes an event of an execution that took wall nanoseconds. It is
// called for slow ones only and need not be fast.
func (x *execution) emitSlow(wall int64, s split) {
	p := x.conn.probe
	seconds := func(ns int64) string { return strconv.FormatFloat(float64(ns)/1e9, 'g', 6, 64) }
	attrs := []probe.Attr{
		{Key: AttrSystem, Value: p.system}, {Key: probe.AttrMethod, Value: x.series.label.Method},
		{Key: probe.AttrRole, Value: x.series.label.Role}, {Key: AttrOperation, Value: kindNames[x.kind]},
		{Key: AttrQueryText, Value: x.slowText()}, {Key: "tidestaff.db.call", Value: seconds(s.call)},
	}
	if p.core.Name != "" {
		attrs = append(attrs, probe.Attr{Key: probe.AttrProbeName, Value: p.core.Name})
	}
	if x.kind == kindQuery {
		attrs = append(attrs, probe.Attr{Key: "tidestaff.db.step", Value: seconds(s.step)},
			probe.Attr{Key: "tidestaff.db.close", Value: seconds(s.close)}, probe.Attr{Key: "tidestaff.db.idle", Value: seconds(wall - s.busy())},
			probe.Attr{Key: "tidestaff.db.rows", Value: strconv.FormatInt(s.rows, 10)})
	}
	if x.plan != nil {
		attrs = append(attrs, probe.Attr{Key: AttrPlan, Value: x.plan.Class.String()})
	}
	attrs = x.parameters(attrs)
	cause := ""
	if x.waited > 0 {
		attrs = append(attrs, probe.Attr{Key: AttrLockWait, Value: seconds(x.waited)})
		cause = "write lock"
	}
	if x.failure != classNone {
		attrs = append(attrs, probe.Attr{Key: attrErrorType, Value: classNames[x.failure]})
	}
	p.core.Emit(probe.Event{
		Name: eventSlow, Start: time.Now().Add(-time.Duration(wall)), Duration: time.Duration(wall), Cause: cause, Attrs: attrs,
		Text: fmt.Sprintf("%s (%s) was in the driver for %v: %s", x.series.label.Method, x.series.label.Role,
			time.Duration(s.busy()).Round(time.Microsecond), x.slowText()),
	})
}

// slowText is what an event shows of the statement.
func (x *execution) slowText() string {
	if x.kind != kindTx {
		return x.text.normal()
	}
	return [...]string{txStatement: "BEGIN", txBegin: "BEGIN", txCommit: "COMMIT", txRollback: "ROLLBACK"}[x.part]
}
