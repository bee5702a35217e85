package sqlitetrace

import (
	"database/sql/driver"
	"fmt"
	"runtime"

	"github.com/tidestaff/tidestaff/internal/sqlplan"
	"github.com/tidestaff/tidestaff/probe"
)

// Scans counts a scan of each of n tables. The one that a trigger reads as well
// counts once, as the worse of the two.
func (p *Probe) Scans(n int) {
	s := p.series.Of(&probe.Label{Method: "List", Role: "request"})
	for i := range n {
		table := fmt.Sprint("t", i)
		s.planned(&sqlplan.Plan{Class: sqlplan.Scan, Tables: []sqlplan.Access{
			{Table: "a search", Class: sqlplan.Search}, {Table: table, Class: sqlplan.Scan}, {Table: table, Class: sqlplan.Search, Via: "trigger x"}}})
	}
}

// AtRest says what is wrong with the ledgers of a probe whose connections are
// all idle: a holder or waiters, where there can be none.
func (p *Probe) AtRest() error {
	p.databases.mu.Lock()
	defer p.databases.mu.Unlock()
	for key, db := range p.databases.byKey {
		if h, n := db.ledger.current.Load(), db.ledger.waiters.Load(); h != nil || n != 0 {
			return fmt.Errorf("%s: holder %v, %d waiters", key, h, n)
		}
	}
	return nil
}

// PassesUnseen tells whether a hold that ends, beside somebody who looks for the
// holders, is for a while neither on the ledger nor among the ended.
func PassesUnseen() bool {
	l, h, done := new(ledger), new(hold), make(chan struct{})
	l.current.Store(h)
	l.waiters.Store(1)
	l.mu.Lock() // as who looks does
	go func() { l.pass(pastHold{by: h}); close(done) }()
	unseen := false
	for range 1000 {
		runtime.Gosched()
		unseen = unseen || l.current.Load() == nil
	}
	l.mu.Unlock()
	<-done
	return unseen || l.current.Load() != nil || l.n != 1
}

// Hash is by what a statement's arguments are told apart.
func (p *Probe) Hash(text string, args []driver.NamedValue) string { return p.hash(text, args) }
