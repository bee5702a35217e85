package sqlitetrace

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// maxHeld bounds the list of what is open.
const maxHeld = 1000

// A Held is a cursor or a transaction that the application has open. One that
// stays is a leak: a cursor pins the write-ahead log, and either has a
// connection of the pool.
type Held struct {
	Kind         string // "cursor" or "transaction"
	Method, Role string // of the call that opened it
	// Query is the cursor's statement without its literals and comments, as in
	// the events of slow statements.
	Query string
	Start time.Time
	Age   time.Duration
}

// Held lists the cursors and transactions that are open now, the oldest first
// and at most 1,000. What was opened while nobody watched is not among them, what
// was opened before the last window was closed is.
func (p *Probe) Held() []Held {
	var all []Held
	now := probe.Now()
	p.conns.each(func(c *conn) {
		all = c.appendHeld(all, now)
	})
	slices.SortStableFunc(all, func(a, b Held) int { return cmp.Compare(b.Age, a.Age) })
	return all[:min(len(all), maxHeld)]
}

// conns are a probe's open connections.
type conns struct {
	mu  sync.Mutex
	all map[*conn]struct{}
}

func (cs *conns) add(c *conn) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.all == nil {
		cs.all = map[*conn]struct{}{}
	}
	cs.all[c] = struct{}{}
}

func (cs *conns) remove(c *conn) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	delete(cs.all, c)
}

func (cs *conns) each(f func(*conn)) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for c := range cs.all {
		f(c)
	}
}

// An openList is what a connection has open. Its lock is for whoever lists it:
// the connection itself is used by one goroutine at a time.
type openList struct {
	mu      sync.Mutex
	cursors *rows   // a list by rows.nextOpen
	tx      *series // of the transaction, nil for none
	txSince int64
}

// opened adds a cursor.
func (l *openList) opened(r *rows) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.nextOpen = l.cursors; r.nextOpen != nil {
		r.nextOpen.prevOpen = r
	}
	l.cursors = r
}

// closed takes a cursor away.
func (l *openList) closed(r *rows) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.prevOpen != nil {
		r.prevOpen.nextOpen = r.nextOpen
	} else {
		l.cursors = r.nextOpen
	}
	if r.nextOpen != nil {
		r.nextOpen.prevOpen = r.prevOpen
	}
	r.nextOpen, r.prevOpen = nil, nil
}

// abandonBids takes the bids of cursors that are still open off the ledger: their
// connection is closed, and with it the transaction that they were in.
func (c *conn) abandonBids() {
	for r := c.open.cursors; r != nil; r = r.nextOpen { // only this goroutine changes the list
		switch r.x.bid {
		case bidFirst:
			c.db.ledger.leave(&c.hold)
		case bidWaiting:
			c.db.ledger.waiters.Add(-1)
		}
		r.x.bid = bidNone
	}
}

// setTx notes the transaction's beginning, or its end with nil.
func (l *openList) setTx(s *series, since int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tx, l.txSince = s, since
}

func (c *conn) appendHeld(all []Held, now int64) []Held {
	l := &c.open
	l.mu.Lock()
	defer l.mu.Unlock()
	held := func(kind string, s *series, text string, since int64) Held {
		age := time.Duration(max(now-since, 0))
		return Held{kind, s.label.Method, s.label.Role, text, time.Now().Add(-age), age}
	}
	if l.tx != nil {
		all = append(all, held("transaction", l.tx, "", l.txSince))
	}
	for r := l.cursors; r != nil; r = r.nextOpen {
		all = append(all, held("cursor", r.x.series, r.x.text.normal(), r.x.span.Start()))
	}
	return all
}
