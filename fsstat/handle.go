package fsstat

import (
	"io"
	"io/fs"
	"sync/atomic"

	"github.com/tidestaff/tidestaff/probe"
)

// A handle is what is known of something open: for whom its operations count
// and how far it has been read.
type handle struct {
	opener View   // what it was opened through
	name   string // as it was opened by
	opened int64  // epoch of the probe when the open was counted, 0 if it was not
	reads  bool   // opened for reading

	label atomic.Pointer[probe.Label] // nil until an operation is watched
	row   atomic.Pointer[row]         // the same
	turns atomic.Int64                // reads and writes, for every which one is timed

	pass atomic.Pointer[pass] // that reads belong to; nil before the first
	at   atomic.Int64         // the position, as far as the probe has seen it move
}

// watched says whether an operation that begins now is counted.
func (h *handle) watched() bool { return h != nil && h.opener.watched() }

// tally is where the operations of the handle count. Whose they are is found out
// once, for the windows that are opened later as well.
func (h *handle) tally() (tally, *probe.Label) {
	p := h.opener.probe
	l := h.label.Load()
	if l == nil {
		h.row.CompareAndSwap(nil, p.row(h.name, nil))
		h.label.CompareAndSwap(nil, h.opener.who())
		l = h.label.Load()
	}
	return tally{p.labels.Of(l), h.row.Load(), h.opener.op}, l
}

// begin begins an operation.
func (h *handle) begin(k callKind) call {
	if !h.watched() {
		return call{}
	}
	t, l := h.tally()
	return t.begin(k, l)
}

// beginOften begins one of those that there may be very many of, of which not all
// need be timed.
func (h *handle) beginOften(k callKind) call {
	if !h.watched() {
		return call{}
	}
	t, l := h.tally()
	switch every := h.opener.probe.every; {
	case every == 1, every > 1 && h.turns.Add(1)%every == 1:
		return t.begin(k, l)
	}
	return call{tally: t}
}

// A stater says what is open.
type stater interface{ Stat() (fs.FileInfo, error) }

// beginRead begins a read, and the pass that it belongs to if it is the first
// one.
func (h *handle) beginRead(of stater) (call, *pass) {
	if !h.watched() {
		return call{}, nil
	}
	p := h.passNow(of)
	return h.beginOften(p.kind), p
}

// passNow is the pass that a read belongs to.
func (h *handle) passNow(of stater) *pass {
	p := h.pass.Load()
	if p == nil || p.compares() && p.epoch != h.opener.probe.epoch.Load() {
		p = h.passOver(of, p)
	}
	return p
}

// passOver begins a pass. The identity is asked for before the read, so that a
// change meanwhile is seen by the next pass; and the position, if reads may have
// gone by unwatched.
func (h *handle) passOver(of stater, last *pass) *pass {
	t, _ := h.tally()
	p := t.passOver(of, h.name)
	if p.compares() {
		p.epoch = t.series.probe.epoch.Load()
		if seeker, ok := of.(io.Seeker); ok && (h.opened != p.epoch || last != nil) {
			if at, err := seeker.Seek(0, io.SeekCurrent); err == nil {
				h.at.Store(at)
			}
		}
	}
	h.pass.Store(p)
	return p
}

// went notes that the next n bytes were read.
func (h *handle) went(t tally, p *pass, n int64) {
	if n > 0 && p.compares() {
		p.read(t, h.at.Add(n)-n, n)
	}
}

// moved notes that the position is now at another place. Back at the start,
// after all had been read, another pass begins.
func (h *handle) moved(at int64) {
	p := h.pass.Load()
	if !p.compares() {
		return
	}
	if last := h.at.Swap(at); at == 0 && last >= p.id.size {
		h.pass.CompareAndSwap(p, nil)
	}
}

// use notes that the handle is used for something else than reading. What it
// writes to is not compared: neither content nor position is foretold then.
func (h *handle) use() {
	if p := h.pass.Load(); p == nil || p.compares() {
		h.pass.Store(plainPass)
	}
}

// beginWrite begins a write to what, if somebody else has opened it, may be no
// file.
func (h *handle) beginWrite(to stater) call {
	if !h.watched() {
		return call{}
	}
	p := h.pass.Load()
	if p == nil && h.opened == 0 {
		p = h.passOver(to, nil)
	}
	if p == streamPass {
		return h.beginOften(untimed)
	}
	h.use()
	return h.beginOften(callWrite)
}

// beginList begins the reading of a directory.
func (h *handle) beginList() call {
	if h.watched() {
		h.use()
	}
	return h.begin(callReadDir)
}

// close begins the close, and counts an open that was in vain.
func (h *handle) close() call {
	c := h.begin(untimed)
	if c.series != nil && h.opened != 0 && h.reads && h.pass.CompareAndSwap(nil, plainPass) {
		c.series.leftUnread()
		if c.row != nil {
			c.row.add(rowUnread, 1)
		}
	}
	return c
}
