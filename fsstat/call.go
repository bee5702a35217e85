package fsstat

import (
	"io"

	"github.com/tidestaff/tidestaff/probe"
)

// A tally is where operations are counted: the series of a role, and the
// user's operation if there is one. The zero tally counts nothing.
type tally struct {
	series *series
	op     *probe.Op
}

// A call is what the program called and waits for, visible to
// [Probe.Overlapping] until its end. What happened in it is counted when its
// parts end: one operation for a Read, several for a ReadFile. The zero call
// is one that began while nobody watched, and counts nothing.
type call struct {
	tally
	span probe.Span
}

// begin begins a call.
func (p *Probe) begin(l *probe.Label, op *probe.Op) call {
	span := p.core.Begin(l)
	if span.Start() == 0 {
		return call{} // the last window was closed just now
	}
	return call{tally{p.labels.Of(l), op}, span}
}

// end ends the call. How long it took is not kept.
func (c *call) end() {
	if c.series != nil {
		c.series.core.End(c.span)
	}
}

// count counts an operation that moves no bytes.
func (t tally) count(o operation, err error) {
	if t.series == nil {
		return
	}
	t.series.operations[o].Add(1)
	t.failed(err)
}

// moved counts a read or a write of n bytes.
func (t tally) moved(d direction, n int64, err error) {
	if t.series == nil {
		return
	}
	o := opRead
	if d == out {
		o = opWrite
	} else {
		t.op.AddReads(1, n)
	}
	t.series.operations[o].Add(1)
	if n > 0 {
		t.series.io[d].Add(n)
	}
	t.failed(err)
}

// copied counts a read or a write of n bytes that package os or the kernel
// made.
func (t tally) copied(d direction, n int64, kernel bool, err error) {
	t.moved(d, n, err)
	if kernel && n > 0 && t.series != nil {
		t.series.kernel[d].Add(n)
	}
}

// failed counts an error, if it is one: the end of a file is not.
func (t tally) failed(err error) {
	if err != nil && err != io.EOF && t.series != nil {
		t.series.fail(err)
	}
}
