package sqlitetrace

import "github.com/tidestaff/tidestaff/probe"

// The attributes of transactions and locks.
const (
	// AttrOutcome is how a transaction ended: "commit"; "rollback"; "failed", a
	// commit that returned an error; "abandoned", rolled back because its
	// context had ended, or its connection closed under it.
	AttrOutcome = "tidestaff.transaction.outcome"
	// AttrHolder is the method that held what another one waited for,
	// "(external)" if it was none that this probe sees, and "(other)" for those
	// beyond 500 pairs, or before the last 256 holds of one wait.
	AttrHolder = "tidestaff.lock.holder"
	// AttrHolderRole is the role of the method that held it.
	AttrHolderRole = "tidestaff.lock.holder.role"
	// AttrResource is what was waited for: "lock", SQLite's write lock, or
	// "connection", one of the pool's.
	AttrResource = "tidestaff.db.resource"
)

var holdBounds = []float64{1e-4, 5e-4, 1e-3, 5e-3, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}

var (
	descTransaction = &probe.Desc{Name: "tidestaff.db.transaction.duration", Unit: "s", Kind: probe.KindDistribution,
		Help:   "Hold of a transaction: from the end of its begin to the end of its commit or rollback, by outcome.",
		Bounds: holdBounds,
		Bench:  []probe.Bench{{Unit: "max-tx-ns", Stat: "max", Better: "lower"}}}
	descTransactionTime = &probe.Desc{Name: "tidestaff.db.transaction.time", Unit: "s", Kind: probe.KindCounter,
		Help: "Where the time of transactions went that have ended, by phase: begin, statements, idle (the application's own), commit, rollback."}
	descTransactionStatements = &probe.Desc{Name: "tidestaff.db.transaction.statements", Unit: "{query}", Kind: probe.KindDistribution,
		Help:   "Statements executed per transaction.",
		Bounds: []float64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000}}
	descTransactionActive = &probe.Desc{Name: "tidestaff.db.transaction.active", Unit: "{transaction}", Kind: probe.KindUpDownCounter,
		Help: "Transactions that have not ended yet."}
	descHold = &probe.Desc{Name: "tidestaff.db.lock.hold.duration", Unit: "s", Kind: probe.KindDistribution,
		Help:   "How long SQLite's write lock was held, by the method that took it.",
		Bounds: holdBounds,
		Bench:  []probe.Bench{{Unit: "lock-ns/op", Stat: "sum", PerOp: true, Better: "lower"}, {Unit: "max-lock-ns", Stat: "max", Better: "lower"}}}
	descLockWaits = &probe.Desc{Name: "tidestaff.db.lock.waits", Unit: "{wait}", Kind: probe.KindCounter,
		Help: "Executions that waited for SQLite's write lock, by who waited and who held it; one that waited for several holders in turn counts for each."}
	descLockWait = &probe.Desc{Name: "tidestaff.db.lock.wait.time", Unit: "s", Kind: probe.KindCounter,
		Help: "Time waited for SQLite's write lock, by who waited and who held it."}
	descLockPoll = &probe.Desc{Name: "tidestaff.db.lock.poll.time", Unit: "s", Kind: probe.KindCounter,
		Help: "The part of tidestaff.db.lock.wait.time in which the lock was free: SQLite's busy handler slept on."}
	descOthersWaited = &probe.Desc{Name: "tidestaff.db.others.wait.time", Unit: "s", Kind: probe.KindCounter,
		Help: "Time that others waited for what this method held, by resource: the write lock, or a connection of the pool."}

	txDescs = []*probe.Desc{descTransaction, descTransactionTime, descTransactionStatements, descTransactionActive,
		descHold, descLockWaits, descLockWait, descLockPoll, descOthersWaited}
)

// An outcome of a transaction.
type txOutcome uint8

const (
	txCommitted txOutcome = iota
	txRolledBack
	txFailed
	txAbandoned
	txOutcomes
)

var txOutcomeNames = [txOutcomes]string{"commit", "rollback", "failed", "abandoned"}

// A txSeries has what only transactions have.
type txSeries struct {
	begin, busy, idle *probe.Counter                   // ns
	ends              [2]lazy[probe.Counter]           // ns of commits and of rollbacks
	holds             [txOutcomes]lazy[probe.Recorder] // ns
	statements        *probe.Recorder
	active            *probe.Counter
}

// transactions gives the series that only transactions have.
func (s *series) transactions() *txSeries {
	return s.tx.get(func() *txSeries {
		core := &s.probe.core
		phase := func(name string) *probe.Counter {
			return core.Counter(descTransactionTime, s.base(probe.Attr{Key: AttrPhase, Value: name})...)
		}
		return &txSeries{
			begin: phase("begin"), busy: phase("statements"), idle: phase("idle"),
			statements: core.Recorder(descTransactionStatements, s.base()...),
			active:     core.Counter(descTransactionActive, s.base()...),
		}
	})
}

// holds gives the recorder of the method's holds of the write lock.
func (s *series) holds() *probe.Recorder {
	return s.lock.get(func() *probe.Recorder { return s.probe.core.Recorder(descHold, s.base()...) })
}

// ended counts a transaction that has ended.
func (s *series) ended(t *tx, o txOutcome, hold, end int64, shard int) {
	ts, core := s.transactions(), &s.probe.core
	phase := 0
	if o != txCommitted && o != txFailed {
		phase = 1
	}
	ts.begin.Add(t.began)
	ts.busy.Add(t.busy)
	ts.idle.Add(max(hold-t.busy-end, 0))
	ts.ends[phase].get(func() *probe.Counter {
		return core.Counter(descTransactionTime, s.base(probe.Attr{Key: AttrPhase, Value: txOutcomeNames[phase]})...)
	}).Add(end)
	ts.holds[o].get(func() *probe.Recorder {
		return core.Recorder(descTransaction, s.base(probe.Attr{Key: AttrOutcome, Value: txOutcomeNames[o]})...)
	}).RecordShard(shard, hold)
	ts.statements.RecordShard(shard, t.statements)
}

// othersWaited charges a wait to the series' method, which held the resource.
func (s *series) othersWaited(r resource, ns int64) {
	s.others[r].get(func() *probe.Counter {
		return s.probe.core.Counter(descOthersWaited, s.base(probe.Attr{Key: AttrResource, Value: resourceNames[r]})...)
	}).Add(ns)
}

// A resource is what one has and another waits for.
type resource uint8

const (
	resourceLock resource = iota
	resourceConnection
	resources
)

var resourceNames = [resources]string{"lock", "connection"}

// maxPairs bounds the pairs of who waited and who held that are kept apart.
const maxPairs = 500

// A pairKey is who waited for whom; a nil holder is one that is not known.
type pairKey struct{ waiter, holder *series }

// pairs are the series of waits.
type pairs struct {
	table     *probe.Table[pairKey, pair]
	forgotten *series // the holder whom the ledger does not know any more
}

type pair struct{ waits, wait, poll *probe.Counter }

func newPairs(p *Probe) *pairs {
	word := func(s *series, absent string) (method, role string) {
		if s == nil {
			return absent, absent
		}
		return s.label.Method, s.label.Role
	}
	table := probe.NewTable(maxPairs, pairKey{}, func(k pairKey) *pair {
		unknown := "(external)"
		if k.waiter == nil {
			unknown = other // beyond the limit
		}
		waiter, waiterRole := word(k.waiter, unknown)
		holder, holderRole := word(k.holder, unknown)
		attrs := []probe.Attr{{Key: AttrSystem, Value: p.system}, {Key: probe.AttrMethod, Value: waiter}, {Key: probe.AttrRole, Value: waiterRole},
			{Key: AttrHolder, Value: holder}, {Key: AttrHolderRole, Value: holderRole}}
		return &pair{p.core.Counter(descLockWaits, attrs...), p.core.Counter(descLockWait, attrs...), p.core.Counter(descLockPoll, attrs...)}
	})
	return &pairs{table, &series{probe: p, label: &probe.Label{Method: other, Role: other}}}
}

// waited charges a wait of ns, of which poll was polling, to both sides.
func (t *pairs) waited(waiter, holder *series, ns, poll int64) {
	p := t.table.Get(pairKey{waiter, holder})
	p.waits.Add(1)
	p.wait.Add(ns)
	p.poll.Add(poll)
	if holder != nil {
		holder.othersWaited(resourceLock, ns)
	}
}
