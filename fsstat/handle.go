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
	opener View        // what it was opened through
	name   string      // as it was opened by
	opened int64       // epoch of the probe when the open was counted, 0 if it was not
	reads  bool        // opened for reading, and for nothing else
	used   atomic.Bool // for something else all the same

	label atomic.Pointer[probe.Label] // nil until an operation is watched
	row   atomic.Pointer[row]         // the same

	pass atomic.Pointer[pass] // that reads belong to; nil before the first
	at   atomic.Int64         // the position, as far as the probe has seen it move
	end  atomic.Int64         // how far reads have come within the pass
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
	case every == 1, every > 1 && t.series.turns.Add(1)%every == 1:
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
	p := t.passOver(of, h.name, h.opened == 0)
	if p.compares() {
		p.epoch = t.series.probe.epoch.Load()
		if seeker, ok := of.(io.Seeker); ok && (h.opened != p.epoch || last != nil) {
			if at, err := seeker.Seek(0, io.SeekCurrent); err == nil {
				h.at.Store(at)
			}
		}
	}
	h.end.Store(0)
	h.pass.Store(p)
	return p
}

// went notes that the next n bytes were read.
func (h *handle) went(t tally, p *pass, n int64) {
	if n > 0 && p.compares() {
		at := h.at.Add(n)
		if at > h.end.Load() {
			h.end.Store(at)
		}
		p.read(t, at-n, n)
	}
}

// moved notes that the position is now at another place, before the first read as
// well. Back at the start, after the end was read, another pass begins.
func (h *handle) moved(at int64) {
	h.at.Store(at)
	if p := h.pass.Load(); p.compares() && at == 0 && h.end.Load() >= p.id.size {
		h.pass.CompareAndSwap(p, nil)
	}
}

// use notes that the handle is used for something else than reading.
func (h *handle) use() {
	if !h.used.Load() {
		h.used.Store(true)
	}
}

// change notes that the handle is written to or listed. It is not compared then:
// neither content nor position is foretold.
func (h *handle) change() {
	h.use()
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
	h.change()
	return h.beginOften(callWrite)
}

// beginStat begins a look at what is open.
func (h *handle) beginStat() call {
	if h != nil {
		h.use()
	}
	return h.begin(callStat)
}

// beginList begins the reading of a directory.
func (h *handle) beginList() call {
	if h.watched() {
		h.change()
	}
	return h.begin(callReadDir)
}

// close begins the close, and counts an open that was in vain: for reading alone,
// and used for nothing since, all of which was watched.
func (h *handle) close() call {
	c := h.begin(untimed)
	if c.series == nil || !h.reads || h.used.Load() || h.opened != c.series.probe.epoch.Load() {
		return c
	}
	if h.pass.CompareAndSwap(nil, plainPass) {
		c.series.leftUnread()
		if c.row != nil {
			c.row.add(rowUnread, 1)
		}
	}
	return c
}
