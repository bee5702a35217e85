package sqlitetrace

import (
	"path/filepath"
	"sync"

	"github.com/tidestaff/tidestaff/probe"
)

// maxDatabases bounds the databases that are told apart by name. Further ones
// each have a ledger of their own.
const maxDatabases = 64

// A database is one database file, however many times it is opened.
type database struct {
	dsn
	label  string  // what tells it from the others for people, "" if there is no file
	ledger *ledger // nil if its connections share no write lock
	sizes  [2]lazy[probe.Gauge]
}

// databases finds a probe's databases by their keys.
type databases struct {
	mu    sync.Mutex
	byKey map[string]*database
}

// database gives the database that a dsn names. A connector's dsn is not known; its
// connections are taken for one database of their own.
func (p *Probe) database(name string, known bool) *database {
	d := dsn{}
	if known {
		d = parseDSN(name)
	}
	if p.dbKey != nil {
		d.key = p.dbKey(name)
	}
	switch {
	case p.system != systemSQLite:
		return &database{dsn: d}
	case d.key == "" && known:
		return &database{dsn: d} // in memory
	case d.key == "":
		return &database{dsn: d, ledger: newLedger(p)}
	}
	return p.databases.get(p, d)
}

func (all *databases) get(p *Probe, d dsn) *database {
	all.mu.Lock()
	defer all.mu.Unlock()
	known := all.byKey[d.key]
	switch {
	case known == nil:
		known = &database{dsn: d, label: all.label(d), ledger: newLedger(p)}
		if len(all.byKey) < maxDatabases {
			all.byKey[d.key] = known
		}
		return known
	case known.immediate == d.immediate:
		return known
	}
	return &database{dsn: d, label: known.label, ledger: known.ledger} // one file, two ways to begin
}

// label is the file's name, or all of its path if another file has the name.
func (all *databases) label(d dsn) string {
	if d.path == "" {
		return ""
	}
	name := filepath.Base(d.path)
	for _, other := range all.byKey {
		if other.label == name {
			return d.path
		}
	}
	return name
}

// name is what people call the database.
func (db *database) name() string {
	switch {
	case db.label != "":
		return db.label
	case db.path != "":
		return filepath.Base(db.path)
	case db.ledger == nil:
		return "memory"
	}
	return "database"
}
