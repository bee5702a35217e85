package fsstat

import (
	"io"
	"os"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// A tally is where operations are counted: the series of a role, the row of a
// path and the user's operation, if there is one. The zero tally counts nothing.
type tally struct {
	series *series
	row    *row // nil if paths are not told apart
	op     *probe.Op
}

// A call is what the program called and waits for, visible to
// [Probe.Overlapping] until its end. What happened in it is counted when its
// parts end: one operation for a Read, several for a ReadFile. The zero call
// is one that began while nobody watched, and counts nothing.
type call struct {
	tally
	span probe.Span // zero for one that is counted and not timed
	kind callKind
}

// begin begins a call that is timed.
func (t tally) begin(k callKind, l *probe.Label) call {
	span := t.series.probe.core.Begin(l)
	if span.Start() == 0 {
		return call{} // the last window was closed just now
	}
	return call{t, span, k}
}

// end ends the call, and keeps how long it took. A second one does nothing: where
// code of somebody else's runs, which may panic, the end is deferred as well.
func (c *call) end() {
	if c.series == nil {
		return
	}
	if ns, ok := c.series.probe.core.End(c.span); ok {
		c.span = probe.Span{}
		c.series.took(c.kind, ns)
	}
}

// endOpen ends a call that has just opened f, and says whether that is something
// to wait for.
func (c *call) endOpen(f *os.File) (waits bool) {
	if waits = waitsAt(f); waits {
		c.kind = untimed
	}
	c.end()
	return waits
}

// waitsAt says whether what was just opened is a FIFO, a socket or a terminal.
// Package os waits for these by the poller, and for files never, so that only these
// take a deadline. To take away one that nobody can have set yet makes no system
// call and changes nothing.
func waitsAt(f *os.File) bool { return f.SetDeadline(time.Time{}) == nil }

// on says what file the call was on, and whether it failed there.
func (c *call) on(name string, err error) *call {
	if c.series != nil {
		c.row = c.series.probe.row(name, err)
	}
	return c
}

// count counts an operation that moves no bytes.
func (t tally) count(o operation, err error) {
	if t.series == nil {
		return
	}
	t.series.operations[o].Add(1)
	if t.row != nil {
		t.row.count(o)
	}
	t.failed(err)
}

// opened counts an open of name, which a call of the kinds open, readfile or
// writefile has made.
func (c *call) opened(name string, err error) {
	c.on(name, err).count(opOpen, err)
}

// moved counts a read or a write of n bytes by the program.
func (t tally) moved(d direction, n int64, err error) {
	if t.series == nil {
		return
	}
	if d == in {
		class := sizeClass(n)
		t.series.sizes[class].Add(1)
		if t.row != nil && class <= smallRead && n > 0 {
			t.row.add(rowSmall, 1)
		}
	}
	t.transferred(d, n, err)
}

// buffered counts n bytes that were found in a buffer of the program, by no read.
func (t tally) buffered(n int64) {
	if n <= 0 {
		return
	}
	t.series.io[in].Add(n)
	t.op.AddReads(0, n)
	if t.row != nil {
		t.row.add(rowRead, n)
	}
}

// copied counts a read or a write of n bytes that package os or the kernel
// made.
func (t tally) copied(d direction, n int64, kernel bool, err error) {
	if t.series == nil {
		return
	}
	if kernel {
		t.series.copies[d].Add(1)
		t.series.kernel[d].Add(max(n, 0))
	}
	t.transferred(d, n, err)
}

// transferred counts a read or a write of n bytes, whoever made it.
func (t tally) transferred(d direction, n int64, err error) {
	n = max(n, 0)
	if d == in {
		t.series.operations[opRead].Add(1)
		t.op.AddReads(1, n)
	} else {
		t.series.operations[opWrite].Add(1)
	}
	if n > 0 {
		t.series.io[d].Add(n)
	}
	if t.row != nil {
		t.row.moved(d, n)
	}
	t.failed(err)
}

// failed counts an error, if it is one: the end of a file is not.
func (t tally) failed(err error) {
	if err != nil && err != io.EOF && t.series != nil {
		t.series.fail(err)
	}
}
