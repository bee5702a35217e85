package sqlitetrace

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	// pastHolds is how many ended holds a ledger keeps while somebody waits. What
	// was waited for longer ago is charged to "(other)".
	pastHolds = 256
	// shortestSleep is the first sleep of SQLite's busy handler. What takes less
	// has not waited.
	shortestSleep = int64(time.Millisecond)
	// longSleep is its first three. A BEGIN IMMEDIATE that takes as long has
	// waited, though no holder is known; on a busy machine a shorter one may
	// just have been off its core.
	longSleep = 8 * int64(time.Millisecond)
)

// A ledger is the account of one database file's write lock: who holds it, and
// who has waited for whom. It knows what goes through this probe; a wait for
// another process is one with no known holder.
//
// A writer that nobody disturbs pays a compare-and-swap at its beginning and one
// at its end. The first to begin while the lock is free is taken for the holder,
// and is displaced if another turns out to have got it: SQLite is not fair.
type ledger struct {
	current atomic.Pointer[hold]
	waiters atomic.Int64 // connections for whom ended holds are kept
	pairs   *pairs

	mu   sync.Mutex
	past [pastHolds]pastHold
	n    int   // holds ever kept
	lost int64 // when the last hold that is kept no more had ended
}

func newLedger(p *Probe) *ledger { return &ledger{pairs: p.pairs} }

// A hold is a connection's hold of the write lock, or its bid for it. Its fields
// are only valid for a reader that finds the hold current before and after.
type hold struct {
	series atomic.Pointer[series] // the method that took it
	start  atomic.Int64

	// Of a transaction's hold; see stale.go.
	sure   atomic.Int64 // when SQLite had given it for certain; 0 for a bid, negative when it was refuted
	failed atomic.Int64 // when a statement failed that may have ended it; 0 for none
	ending atomic.Bool  // the commit or rollback is under way
}

// A pastHold is a hold that has ended.
type pastHold struct {
	by         *hold
	series     *series
	start, end int64
}

// A bid is an execution's part in the competition for the write lock.
type bid uint8

const (
	bidNone    bid = iota
	bidFirst       // the lock was free
	bidWaiting     // somebody had it
)

// bidForLock begins an execution that needs the write lock, unless its connection
// has it or bids for it already.
func (x *execution) bidForLock() {
	c := x.conn
	l := c.db.ledger
	switch {
	case l == nil || c.holding && c.hold.sure.Load() > 0:
		return
	case c.holding:
		c.forget()
	case l.current.Load() == &c.hold: // by a cursor that is open
		return
	}
	holder := x.series
	if x.tx != nil && x.tx.series != nil {
		holder = x.tx.series // what it takes is held until the transaction ends
	}
	if c.hold.series.Load() != holder { // a load is cheaper than a store
		c.hold.series.Store(holder)
	}
	c.hold.start.Store(x.span.Start())
	if l.current.CompareAndSwap(nil, &c.hold) {
		x.bid = bidFirst
		return
	}
	l.waiters.Add(1)
	x.bid = bidWaiting
}

// settleLock ends such an execution, at the time end. keep says that the
// connection is in a transaction, which goes on holding the lock.
func (x *execution) settleLock(end int64, keep bool) {
	c := x.conn
	l, from := c.db.ledger, x.span.Start()
	waiting := x.bid == bidWaiting || l.current.Load() != &c.hold // or displaced
	// A violated constraint is found by who has the lock, and a transaction keeps it.
	got := x.outcome == outcomeRan && (x.failure == classNone || x.failure == classConstraint)
	keep = keep && !c.tx.over
	if got && waiting {
		l.refute(x, end)
	}
	if x.outcome == outcomeRan {
		from = l.charge(x, waiting, end)
		x.waited = from - x.span.Start()
	}
	switch {
	case got && waiting && keep:
		c.hold.start.Store(from)
		if old := l.current.Swap(&c.hold); old != nil && old != &c.hold {
			l.waiters.Add(1) // on behalf of the one that is displaced
		}
		l.waiters.Add(-1)
	case got && waiting: // what it held was never on the ledger, or is no more
		l.waiters.Add(-1)
		c.hold.record(from, end, c.shard)
		l.keep(c.hold.past(from, end))
	case waiting:
		l.waiters.Add(-1)
	case !got:
		l.leave(&c.hold)
	case !keep:
		c.hold.record(from, end, c.shard)
		l.pass(c.hold.past(from, end))
	}
	if got && keep {
		c.holding, c.heldSince = true, from
		c.hold.sure.Store(end)
		c.doubt(x, end)
	}
	x.bid = bidNone
}

// leave takes a hold off the ledger. One that is not there any more has been
// displaced, and counted among the waiters.
func (l *ledger) leave(h *hold) {
	if !l.current.CompareAndSwap(h, nil) {
		l.waiters.Add(-1)
	}
}

// releaseLock ends the hold of a connection whose transaction has ended.
func (c *conn) releaseLock(end int64) {
	if !c.holding {
		return
	}
	c.holding = false
	h := &c.hold
	h.record(c.heldSince, end, c.shard)
	if refuted := h.sure.Swap(0) < 0; !refuted { // otherwise it was taken off the ledger
		c.db.ledger.pass(h.past(c.heldSince, end))
	}
	h.failed.Store(0)
	h.ending.Store(false)
}

func (h *hold) record(start, end int64, shard int) {
	h.series.Load().holds().RecordShard(shard, end-start)
}

// past is the hold when it has ended.
func (h *hold) past(start, end int64) pastHold { return pastHold{h, h.series.Load(), start, end} }

// pass takes a hold that has ended off the ledger, and keeps it for those who wait
// now: who looks for the holders finds it either still there or among the ended.
func (l *ledger) pass(h pastHold) {
	if l.waiters.Load() <= 0 {
		l.leave(h.by)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leave(h.by)
	l.put(h)
}

// keep keeps a hold that has ended for those who wait now.
func (l *ledger) keep(h pastHold) {
	if l.waiters.Load() <= 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.put(h)
}

// put is called with the lock.
func (l *ledger) put(h pastHold) {
	slot := &l.past[l.n%pastHolds]
	l.lost = slot.end
	*slot = h
	l.n++
}

// charge finds for whom an execution has waited until end, charges them, and
// gives the time at which it had the lock. Without a known holder it has waited
// if it says so itself (busy), or if what it asked for is nothing but the lock
// and took longSleep: for somebody outside.
func (l *ledger) charge(x *execution, waiting bool, end int64) int64 {
	start := x.span.Start()
	switch {
	case x.failure == classBusySnapshot: // which waits for nothing
		return start
	case x.failure != classBusy && end-start < shortestSleep:
		return start
	case waiting:
		if until, ok := l.chargeHolders(x, start, end); ok {
			return until
		}
	}
	if x.failure == classBusy || x.failure == classNone && x.onlyLocks() && end-start >= longSleep {
		l.pairs.waited(x.series, nil, end-start, 0)
		return end
	}
	return start
}

// onlyLocks reports whether taking the lock is all that the execution does.
func (x *execution) onlyLocks() bool { return x.kind == kindTx || x.text.effect == effectImmediate }

// chargeHolders charges every other hold that overlaps the time from start to
// end, and says when the wait was over; false if there is none.
func (l *ledger) chargeHolders(x *execution, start, end int64) (until int64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var last pastHold // the one that ended last
	blocked := int64(0)
	each := func(h pastHold) {
		ns := min(h.end, end) - max(h.start, start)
		if h.by == &x.conn.hold || ns <= 0 {
			return
		}
		if last.series != nil { // of the last one it is not yet known what followed
			l.pairs.waited(x.series, last.series, min(last.end, end)-max(last.start, start), 0)
		}
		last = h
		blocked += ns
	}
	if ns := min(l.lost, end) - start; ns > 0 {
		l.pairs.waited(x.series, l.pairs.forgotten, ns, 0)
		blocked += ns
	}
	for i := max(0, l.n-pastHolds); i < l.n; i++ {
		each(l.past[i%pastHolds])
	}
	if h := l.current.Load(); h != nil {
		if s, since := h.series.Load(), h.start.Load(); l.current.Load() == h {
			each(pastHold{h, s, since, end})
		}
	}
	if last.series == nil {
		return 0, false
	}
	until = min(last.end, end) + polled(x, start, last.end, end)
	ns := min(last.end, end) - max(last.start, start)
	poll := max(until-start-blocked, 0)
	l.pairs.waited(x.series, last.series, ns+poll, poll)
	return until, true
}

// polled is how long the execution slept on after the lock was released. What
// only asks for the lock returns when it has it. A statement then does its work,
// which cannot be told apart, but the sleep was no longer than what SQLite's busy
// handler (and modernc.org/sqlite's own) sleeps after so long a wait.
func polled(x *execution, start, released, end int64) int64 {
	ns := max(end-released, 0)
	if x.onlyLocks() || x.failure == classBusy {
		return ns
	}
	var slept int64
	for _, ms := range [...]int64{1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50} {
		slept += ms * int64(time.Millisecond)
		if slept > released-start {
			return min(ns, slept-(released-start))
		}
	}
	const longest = 100 * int64(time.Millisecond)
	return min(ns, longest-(released-start-slept)%longest)
}
