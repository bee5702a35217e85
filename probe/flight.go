package probe

import (
	"slices"
	"sync/atomic"
	"time"
)

const (
	// flightSlots is how many operations of a probe are visible while they
	// run. Further ones are counted and timed all the same.
	flightSlots = 128
	// longOperation is from when on an ended operation is remembered: long
	// enough to have mattered to a stall, rare enough to cost nothing.
	longOperation = 5 * time.Millisecond
	// lateSlots is how many of those are remembered.
	lateSlots = 64
)

// An Overlap is an operation that overlapped a stretch of time.
type Overlap struct {
	Activity string // what it was: "statement", "file operation", "operation"
	Name     string // the method or the operation's name
	Role     string
	Start    time.Time
	Duration time.Duration // so far, if it is running
	Running  bool
}

// A Span is an operation between Begin and End. The zero Span is one that
// nobody watched.
type Span struct {
	slot  *flightSlot
	label *Label
	start int64
}

// Start is the value of [Now] at Begin, 0 for a Span that nobody watched.
func (s Span) Start() int64 { return s.start }

// flight is the table of a probe's operations under way. Readers take no lock:
// a stall is explained while it is going on.
type flight struct {
	slots    [flightSlots]flightSlot
	overflow atomic.Int64 // running without a slot
	late     [lateSlots]atomic.Pointer[lateOperation]
	lateNext atomic.Uint64
}

// A lateOperation is one that ended.
type lateOperation struct {
	label     *Label
	start, ns int64
}

// A flightSlot is free while start is 0 and being filled while it is -1. The
// padding keeps two goroutines' slots off one cache line.
type flightSlot struct {
	start atomic.Int64
	label atomic.Pointer[Label]
	_     [48]byte
}

// Begin begins an operation of the label: it reads the clock and makes the
// operation visible to Overlapping. While nobody watches the Core it does
// nothing, so that a probe can be left in the code for good.
func (c *Core) Begin(l *Label) Span {
	if !c.watched.Load() {
		return Span{}
	}
	f := c.flight.Load()
	if f == nil {
		c.flight.CompareAndSwap(nil, new(flight))
		f = c.flight.Load()
	}
	s := Span{label: l, start: Now()}
	s.slot = f.claim(l, s.start)
	return s
}

// claim takes a free slot near the goroutine's own place, or none if eight are
// taken.
func (f *flight) claim(l *Label, start int64) *flightSlot {
	from := stackShard() * (flightSlots / 16)
	for i := range 8 {
		s := &f.slots[(from+i)%flightSlots]
		if s.start.Load() == 0 && s.start.CompareAndSwap(0, -1) {
			s.label.Store(l)
			s.start.Store(start)
			return s
		}
	}
	f.overflow.Add(1)
	return nil
}

// End ends the operation and gives its duration in nanoseconds; false if nobody
// watched when it began.
func (c *Core) End(s Span) (ns int64, ok bool) {
	if s.start == 0 {
		return 0, false
	}
	ns = Now() - s.start
	f := c.flight.Load()
	if ns >= int64(longOperation) {
		f.remember(&lateOperation{s.label, s.start, ns})
	}
	if s.slot != nil {
		s.slot.start.Store(0)
	} else {
		f.overflow.Add(-1)
	}
	return ns, true
}

func (f *flight) remember(o *lateOperation) {
	f.late[(f.lateNext.Add(1)-1)%lateSlots].Store(o)
}

// Overlapping appends to dst the operations that overlapped the last d, oldest
// first: those that run now, and of those that took at least 5 ms and ended
// within d the last 64. It takes no lock.
func (c *Core) Overlapping(dst []Overlap, d time.Duration) []Overlap {
	f := c.flight.Load()
	if f == nil {
		return dst
	}
	now, first := Now(), len(dst)
	add := func(l *Label, start, ns int64, running bool) {
		dst = append(dst, Overlap{c.Activity, l.Method, l.Role, timeAt(start), time.Duration(ns), running})
	}
	late := f.lately(now - int64(d))
	for _, o := range late {
		add(o.label, o.start, o.ns, false)
	}
	for i := range f.slots {
		s := &f.slots[i]
		start := s.start.Load()
		if start <= 0 {
			continue
		}
		l := s.label.Load()
		if s.start.Load() != start { // the label may be the next operation's
			continue
		}
		// One that is ending stands in both.
		if !slices.ContainsFunc(late, func(o *lateOperation) bool { return o.label == l && o.start == start }) {
			add(l, start, max(now-start, 0), true)
		}
	}
	slices.SortStableFunc(dst[first:], func(a, b Overlap) int { return a.Start.Compare(b.Start) })
	return dst
}

// lately are the remembered operations that ended at or after a time.
func (f *flight) lately(since int64) []*lateOperation {
	var late []*lateOperation
	for i := range f.late {
		if o := f.late[i].Load(); o != nil && o.start+o.ns >= since {
			late = append(late, o)
		}
	}
	return late
}

// running counts the operations under way.
func (c *Core) running() int {
	f := c.flight.Load()
	if f == nil {
		return 0
	}
	n := int(f.overflow.Load())
	for i := range f.slots {
		if f.slots[i].start.Load() > 0 {
			n++
		}
	}
	return n
}
