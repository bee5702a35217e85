package sqlitetrace

import "database/sql/driver"

// A transaction can be over in SQLite while database/sql, and who uses it, go on
// with it: an INSERT OR ROLLBACK whose constraint is violated, a trigger's
// RAISE(ROLLBACK), a full disk and a statement that its context interrupts roll
// everything back and return an error like any other. The write lock is free
// then, and waits must not be charged to who had it.
//
// Three things tell of it. Some drivers say whether their connection is in a
// transaction. For the others, that a statement of it has failed is a suspicion,
// which a second connection's write confirms: that one has got the lock while it
// was held, by the ledger. And at the latest, the commit or the rollback finds
// that there is none to end. Between the failure and the first of these, the
// ledger still has the hold; when it ends, it ends at the failure.

// doubt looks at a hold after a statement of its transaction has failed.
func (c *conn) doubt(x *execution, end int64) {
	if c.db.ledger == nil || x.outcome != outcomeRan || x.failure == classNone || x.failure == classBadConn {
		return
	}
	switch over, known := autocommit(c.inner); {
	case over:
		c.tx.over = true
		c.releaseLock(end)
	case !known && c.holding:
		c.hold.failed.Store(end)
	}
}

// autocommit asks a driver's connection whether it is outside of a transaction:
// mattn's and ncruces's have a method for it.
func autocommit(dc driver.Conn) (yes, known bool) {
	defer func() {
		if recover() != nil {
			yes, known = false, false
		}
	}()
	switch dc := dc.(type) {
	case interface{ AutoCommit() bool }:
		return dc.AutoCommit(), true
	case interface{ GetAutocommit() bool }:
		return dc.GetAutocommit(), true
	}
	return false, false
}

// refute takes the holder off the ledger if x, which has got the lock and whose
// end is given, is the proof that it does not hold it any more, and is not just
// releasing it. A write may have gone to a temporary or an attached table, so it
// is a proof only where the holder is under suspicion, and the hold then ends at
// the failure. What only asks for the lock is one by itself, if SQLite had given
// it to the holder before x began: something has ended that transaction which did
// not come by here, at the latest when x had the lock.
func (l *ledger) refute(x *execution, end int64) {
	h := l.current.Load()
	if h == nil || h == &x.conn.hold || h.ending.Load() {
		return
	}
	past := pastHold{h, h.series.Load(), h.start.Load(), end}
	sure, failed := h.sure.Load(), h.failed.Load()
	switch {
	case sure <= 0:
		return
	case failed != 0 && failed <= end && (x.onlyLocks() || x.text.changes):
		past.end = failed
	case sure > x.span.Start() || !x.onlyLocks():
		return
	}
	if h.sure.CompareAndSwap(sure, -past.end) { // it is still the same hold
		l.pass(past)
	}
}

// forget ends a hold that was refuted, as far as its connection knows, which now
// has to bid for the lock again.
func (c *conn) forget() { c.releaseLock(-c.hold.sure.Load()) }

// ending says that the hold is about to end, so that who gets the lock before
// the ledger knows of it is no proof of anything.
func (c *conn) ending() {
	if c.holding {
		c.hold.ending.Store(true)
	}
}

// noTransaction reports whether the end of a transaction failed because SQLite
// had none.
func noTransaction(err error) bool {
	if err == nil {
		return false
	}
	code, ok := resultCode(err)
	return ok && code == codeError
}

// findsNone is noTransaction for a COMMIT or a ROLLBACK in words. One that comes
// after other statements may not have run.
func (x *execution) findsNone() bool {
	return x.text.effect >= effectCommit && !x.text.writes && x.outcome == outcomeRan && x.failure == classOther
}
