package sqlitetrace

import "fmt"

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
