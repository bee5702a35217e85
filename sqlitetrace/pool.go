package sqlitetrace

import (
	"database/sql"
	"fmt"
	"math"
	"sync"

	"github.com/tidestaff/tidestaff/probe"
)

// The attributes of pools and files.
const (
	// AttrPool is OpenTelemetry's attribute for the name of a pool of
	// connections: the name of its database (see AttrNamespace), with "#2" and so
	// on behind it for a second one of it, and "(other)" beyond 64.
	AttrPool = "db.client.connection.pool.name"
	// AttrState is OpenTelemetry's attribute for the state of connections:
	// "used" or "idle".
	AttrState = "db.client.connection.state"
	// AttrCloseReason is why the pool closed connections: "max_idle",
	// "idle_time" or "lifetime".
	AttrCloseReason = "tidestaff.close.reason"
	// AttrNamespace is OpenTelemetry's attribute for the database: its file's
	// name, or all of its path where another file has that name; "memory",
	// "database" if it was opened by a connector or is no SQLite, "(other)" beyond
	// 64.
	AttrNamespace = "db.namespace"
	// AttrFile is which of a database's files it is: "database" or "wal".
	AttrFile = "tidestaff.db.file"
)

var (
	descConnections = &probe.Desc{Name: "db.client.connection.count", Unit: "{connection}", Kind: probe.KindUpDownCounter,
		Help: "Connections of the pool now, by state, from sql.DBStats."}
	descMaxConnections = &probe.Desc{Name: "db.client.connection.max", Unit: "{connection}", Kind: probe.KindGauge,
		Help: "Most connections that the pool may open; absent if it is not limited."}
	descPoolWaits = &probe.Desc{Name: "tidestaff.db.connection.waits", Unit: "{wait}", Kind: probe.KindCounter,
		Help: "Calls that waited for a connection of the pool."}
	descPoolWait = &probe.Desc{Name: "tidestaff.db.connection.wait.time", Unit: "s", Kind: probe.KindCounter,
		Help:  "Time that calls waited for a connection of the pool.",
		Bench: []probe.Bench{{Unit: "pool-wait-ns/op", Stat: "value", PerOp: true, Better: "lower"}}}
	descCallWait = &probe.Desc{Name: "tidestaff.db.connection.wait.duration", Unit: "s", Kind: probe.KindDistribution,
		Help:   "Time from a call of a DB to its having a connection, by method.",
		Bounds: []float64{1e-6, 1e-5, 1e-4, 1e-3, 5e-3, 0.01, 0.05, 0.1, 0.5, 1, 5, 10}}
	descClosed = &probe.Desc{Name: "tidestaff.db.connection.closed", Unit: "{connection}", Kind: probe.KindCounter,
		Help: "Connections that the pool closed by its limits, by reason."}
	descFileSize = &probe.Desc{Name: "tidestaff.db.file.size", Unit: "By", Kind: probe.KindGauge,
		Help: "Size of the database's file and of its write-ahead log, where that exists."}

	poolDescs = []*probe.Desc{descConnections, descMaxConnections, descPoolWaits, descPoolWait, descCallWait, descClosed, descFileSize}
)

// maxPools bounds the pools that are told apart; those beyond it share "(other)".
const maxPools = 64

// pools are the pools of a probe that are open.
type pools struct {
	mu    sync.Mutex
	open  map[*pool]struct{}
	names map[string]*poolSeries
}

// A pool is one *sql.DB of this probe's making.
type pool struct {
	db     *sql.DB
	name   string
	last   sql.DBStats
	series *poolSeries
}

// A poolSeries has the metrics of one name, which one pool after the other may
// have.
type poolSeries struct {
	users                  int
	used, idle             *probe.Counter
	max                    *probe.Gauge
	waits, wait            *probe.Counter
	byIdle, byTime, byLife *probe.Counter
}

// openDB makes the *sql.DB of a connector, and watches its pool until its Close.
func (p *Probe) openDB(c *connector) *sql.DB {
	db := sql.OpenDB(c)
	all := &p.pools
	all.mu.Lock()
	defer all.mu.Unlock()
	c.pool = &pool{db: db}
	c.pool.name, c.pool.series = p.poolSeries(c.db.name)
	c.pool.series.users++
	all.open[c.pool] = struct{}{}
	return db
}

// poolSeries finds the first of the name's series that no open pool has.
func (p *Probe) poolSeries(base string) (string, *poolSeries) {
	names := p.pools.names
	for n := 1; ; n++ {
		name := base
		if n > 1 {
			name = fmt.Sprint(base, "#", n)
		}
		s := names[name]
		switch {
		case s != nil && s.users == 0:
			return name, s
		case s != nil:
			continue
		case len(names) >= maxPools && names[other] != nil:
			return other, names[other]
		case len(names) >= maxPools:
			name = other
		}
		s = p.newPoolSeries(name)
		names[name] = s
		return name, s
	}
}

func (p *Probe) newPoolSeries(name string) *poolSeries {
	core := &p.core
	attrs := func(more ...probe.Attr) []probe.Attr {
		return append([]probe.Attr{{Key: AttrSystem, Value: p.system}, {Key: AttrPool, Value: name}}, more...)
	}
	state := func(s string) *probe.Counter {
		return core.Counter(descConnections, attrs(probe.Attr{Key: AttrState, Value: s})...)
	}
	closed := func(reason string) *probe.Counter {
		return core.Counter(descClosed, attrs(probe.Attr{Key: AttrCloseReason, Value: reason})...)
	}
	return &poolSeries{
		used: state("used"), idle: state("idle"), max: core.Gauge(descMaxConnections, attrs()...),
		waits: core.Counter(descPoolWaits, attrs()...), wait: core.Counter(descPoolWait, attrs()...),
		byIdle: closed("max_idle"), byTime: closed("idle_time"), byLife: closed("lifetime"),
	}
}

// closePool takes the pool's last numbers when its *sql.DB is closed.
func (p *Probe) closePool(pl *pool) {
	p.pools.mu.Lock()
	defer p.pools.mu.Unlock()
	if _, open := p.pools.open[pl]; !open {
		return
	}
	pl.sample(pl.db.Stats())
	pl.sample(sql.DBStats{ // no connection any more, and no further counts
		WaitCount: pl.last.WaitCount, WaitDuration: pl.last.WaitDuration, MaxIdleClosed: pl.last.MaxIdleClosed,
		MaxIdleTimeClosed: pl.last.MaxIdleTimeClosed, MaxLifetimeClosed: pl.last.MaxLifetimeClosed,
	})
	pl.series.users--
	delete(p.pools.open, pl)
}

// sample brings the metrics of pools and files up to date.
func (p *Probe) sample() {
	p.pools.mu.Lock()
	for pl := range p.pools.open {
		pl.sample(pl.db.Stats())
	}
	p.pools.mu.Unlock()
	p.databases.sample(p)
}

// sample adds what has changed since the last time.
func (pl *pool) sample(now sql.DBStats) {
	s, last := pl.series, pl.last
	s.used.Add(int64(now.InUse - last.InUse))
	s.idle.Add(int64(now.Idle - last.Idle))
	s.max.Set(math.NaN())
	if now.MaxOpenConnections > 0 {
		s.max.Set(float64(now.MaxOpenConnections))
	}
	s.waits.Add(now.WaitCount - last.WaitCount)
	s.wait.Add(int64(now.WaitDuration - last.WaitDuration))
	s.byIdle.Add(now.MaxIdleClosed - last.MaxIdleClosed)
	s.byTime.Add(now.MaxIdleTimeClosed - last.MaxIdleTimeClosed)
	s.byLife.Add(now.MaxLifetimeClosed - last.MaxLifetimeClosed)
	pl.last = now
}
