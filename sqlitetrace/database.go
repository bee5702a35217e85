package sqlitetrace

import (
	"path/filepath"
	"sync"

	"github.com/tidestaff/tidestaff/probe"
)

// maxDatabases bounds the databases that are told apart by name. Further ones
// each have a ledger of their own, and share the name "(other)".
const maxDatabases = 64

// What databases are called that have no file's name to themselves.
const (
	inMemory = "memory"
	unnamed  = "database" // its dsn is not known, or not SQLite's
)

// A database is one database file, however many times it is opened.
type database struct {
	dsn
	name   string  // what people call it
	ledger *ledger // nil if its connections share no write lock
	sizes  [2]lazy[probe.Gauge]
	looks  lazy[lookSeries]
	pages  [len(pagePragmas)]lazy[probe.Gauge]
	frames [2]lazy[probe.Gauge] // in the log, and moved

	checkpoints [checkpointModes]lazy[checkpointSeries]
}

// databases finds a probe's databases by their keys.
type databases struct {
	mu    sync.Mutex
	byKey map[string]*database
}

// database gives the database that a dsn names. A connector's dsn is not known; its
// connections are taken for one database of their own.
//
// The dsn of another system than SQLite is not read at all: its form is its own,
// and it may well have a password in it.
func (p *Probe) database(name string, known bool) *database {
	if p.system != systemSQLite {
		return &database{name: unnamed}
	}
	d := dsn{}
	if known {
		d = parseDSN(name)
	}
	if p.dbKey != nil {
		d.key = p.dbKey(name)
	}
	switch {
	case d.key != "":
		return p.databases.get(p, d)
	case !known:
		return &database{dsn: d, name: unnamed, ledger: newLedger(p)}
	case d.path == "":
		return &database{dsn: d, name: inMemory}
	}
	return &database{dsn: d, name: unnamed} // by the will of Options.DBKey
}

func (all *databases) get(p *Probe, d dsn) *database {
	all.mu.Lock()
	defer all.mu.Unlock()
	known := all.byKey[d.key]
	if known == nil {
		known = &database{dsn: d, name: all.nameOf(d), ledger: newLedger(p)}
		if len(all.byKey) < maxDatabases {
			all.byKey[d.key] = known
		} else {
			known.name = other
		}
	}
	switch {
	case d.readOnly:
		return &database{dsn: d, name: known.name}
	case known.dsn == d:
		return known
	}
	return &database{dsn: d, name: known.name, ledger: known.ledger} // one file, two ways to begin
}

// nameOf is the file's name, or all of its path if another file has the name.
func (all *databases) nameOf(d dsn) string {
	if d.path == "" {
		return unnamed
	}
	name := filepath.Base(d.path)
	for _, taken := range all.byKey {
		if taken.name == name {
			return d.path
		}
	}
	return name
}

// attrsOf are the attributes of a database's own metrics, with more.
func (p *Probe) attrsOf(db *database, more ...probe.Attr) []probe.Attr {
	return append([]probe.Attr{{Key: AttrSystem, Value: p.system}, {Key: AttrNamespace, Value: db.name}}, more...)
}
