package sqlitetrace

import (
	"hash/maphash"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// Options are the settings of [New]. The zero value works.
type Options struct {
	// Name tells several probes of one process apart, for example two
	// databases: the attribute tidestaff.probe.name of every metric. If empty,
	// the attribute is left out.
	Name string
	// System is the attribute db.system.name of every metric, as OpenTelemetry
	// names database systems; if empty, "sqlite". It also decides how errors
	// are read: SQLite's result codes for "sqlite", SQLSTATE for the rest.
	System string
	// MaxSeries bounds the methods × roles that are kept apart; 0 means 500.
	// The rest share the method "(other)", so that no count is lost.
	MaxSeries int
	// SkipPackages are import paths of further packages that stand between the
	// service's own code and database/sql, each with all packages below it: a
	// wrapper, generated code. The method of an operation is not looked for in
	// them, as it is not in those that are known (sqlx, gorm, ent, bun, squirrel
	// and their like, and types with the four methods that sqlc calls).
	SkipPackages []string
	// RowTiming says how the time of stepping rows is found; the zero value
	// samples it.
	RowTiming RowTiming
	// DBKey tells one database from another by the data source name with which
	// it is opened: databases of equal keys share a write lock, and one of the
	// key "" is taken to have none. If nil, the key is the file's absolute path,
	// which is found in the names of modernc.org/sqlite, mattn/go-sqlite3 and
	// ncruces/go-sqlite3. A connector's name is not known: DBKey is called with
	// "" for it, and if it is nil or answers "", that connector is a database of
	// its own. It is not called if System is not "sqlite".
	DBKey func(dsn string) string
	// Slow has every statement, begin, commit and rollback that spends this long
	// or longer in the driver make an event "tidestaff.db.slow"; 0 makes none.
	Slow time.Duration
	// ShowArguments has those events show the arguments of their statements, the
	// first 16 and 64 bytes of each, as the attributes "db.query.parameter.0" and
	// so on; the zero value shows none. Arguments are what users have typed,
	// passwords and all: with this they are in whatever reads events, in a report
	// on disk for one. Those of an Exec are looked at if it was slow; a query's
	// are copied when its call returns, since its rows are read after it, which
	// takes an allocation.
	ShowArguments bool
	// Plans has SQLite asked for the plan of each statement before it runs, to
	// find those that read whole tables; the zero value asks nothing. It is for
	// tests and benchmarks.
	Plans Plans
	// Statements has each statement counted by itself, by text, method, role, line,
	// arguments and plan, up to so many of them; further ones share one series. It
	// is what budgets of duplicates and snapshots are made from, and for tests: a
	// statement takes some microseconds more. The zero value counts none.
	Statements int
	// DriverAs is what (*sql.DB).Driver answers; the zero value is the original
	// driver.
	DriverAs DriverAs
}

// A DriverAs says what (*sql.DB).Driver answers for a watched database.
type DriverAs uint8

const (
	// DriverAsOriginal answers with the original driver: programs switch on its
	// type to learn the dialect.
	DriverAsOriginal DriverAs = iota
	// DriverAsWrapper answers with a driver that opens watched connections, for
	// libraries that open further ones through it. It has Unwrap() driver.Driver.
	DriverAsWrapper
)

// A Probe measures the databases that are opened through it. It is a
// [probe.Probe].
type Probe struct {
	core   probe.Core
	system string
	timing RowTiming
	series *probe.Series[series]
	shards atomic.Int64 // connections ever made; each owns a shard of the recorders
	slow   int64        // ns; 0 for no events
	shows  bool         // arguments, in those events
	driver DriverAs

	statements *probe.Table[string, statement] // by text
	databases  databases
	dbKey      func(string) string
	pairs      *pairs
	conns      conns
	pools      pools
	plans      Plans
	each       *probe.Table[eachKey, probe.Counter] // nil unless asked for
	seed       maphash.Seed                         // for each
	skip       []string                             // Options.SkipPackages
	scans      *probe.Table[scanKey, probe.Counter]
	marked     atomic.Bool // there is a DB: connections remember their uses
}

var _ probe.Probe = (*Probe)(nil)

// New makes a probe that watches no database yet; see [Probe.Open].
func New(o Options) *Probe {
	p := &Probe{system: o.System, timing: o.RowTiming, statements: newStatements()}
	if p.system == "" {
		p.system = systemSQLite
	}
	p.core.Name, p.core.Activity = o.Name, "statement"
	p.core.Descs = slices.Concat(descs, txDescs, poolDescs, planDescs, pageDescs, checkpointDescs, []*probe.Desc{descStatements})
	p.core.Sample = p.sample
	p.slow, p.driver = int64(o.Slow), o.DriverAs
	p.shows = o.ShowArguments && o.Slow > 0
	p.pools.open, p.pools.names = map[*pool]struct{}{}, map[string]*poolSeries{}
	p.dbKey, p.databases.byKey, p.pairs = o.DBKey, map[string]*database{}, newPairs(p)
	p.plans, p.scans = o.Plans, newScans(p)
	p.each, p.seed, p.skip = newEach(p, o.Statements), maphash.MakeSeed(), slices.Clone(o.SkipPackages)
	p.series = probe.NewSeries(o.MaxSeries, func(l *probe.Label) *series { return &series{probe: p, label: l} })
	p.series.Skip(o.SkipPackages...)
	return p
}

// Watch implements [probe.Probe].
func (p *Probe) Watch() (*probe.Window, error) { return p.core.Watch() }

// Describe implements [probe.Probe].
func (p *Probe) Describe() []*probe.Desc { return p.core.Describe() }

// FeedsOps says that an operation's queries are measured; see [probe.Ops].
func (p *Probe) FeedsOps() (queries, reads bool) { return true, false }

// Overlapping appends to dst the statements and transaction calls that
// overlapped the last d, without a lock; see [probe.Core.Overlapping]. A query
// runs until its rows are closed: what holds a service up may as well be what
// the application does between two rows.
func (p *Probe) Overlapping(dst []probe.Overlap, d time.Duration) []probe.Overlap {
	return p.core.Overlapping(dst, d)
}
