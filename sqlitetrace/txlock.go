package sqlitetrace

import (
	"database/sql"
	"database/sql/driver"
	"net/url"
	"reflect"
	"strings"
)

// A txlock is what a dsn says of when transactions take the write lock.
type txlock uint8

const (
	txlockDefault txlock = iota // nothing: it is the driver's choice
	txlockLater                 // with the first write
	txlockAtOnce                // as they begin
)

// txlockOf reads the parameters of a dsn. Where PRAGMA query_only forbids to
// write, ncruces/go-sqlite3 does not choose to take the lock.
func txlockOf(params url.Values) txlock {
	switch strings.ToLower(params.Get("_txlock")) {
	case "immediate", "exclusive":
		return txlockAtOnce
	case "":
		for _, pragma := range params["_pragma"] {
			if strings.HasPrefix(strings.ToLower(pragma), "query_only") {
				return txlockLater
			}
		}
		return txlockDefault
	}
	return txlockLater
}

// A maker is a driver that has rules of its own for how transactions begin.
type maker uint8

const (
	makerUnknown maker = iota // modernc.org/sqlite among them
	makerMattn
	makerNcruces
)

// makerOf knows a driver by the package of its connections, below the wrappers
// that say what they wrap.
func makerOf(inner driver.Conn) maker {
	t := reflect.TypeOf(unwrap(inner))
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.PkgPath() {
	case "github.com/mattn/go-sqlite3":
		return makerMattn
	case "github.com/ncruces/go-sqlite3/driver":
		return makerNcruces
	}
	return makerUnknown
}

// beginsLocked reports whether a transaction of these options asks for the write
// lock as it begins.
//
// mattn/go-sqlite3 looks at no options. ncruces/go-sqlite3 has it so unless it is
// told otherwise, and goes by the isolation level first.
func (c *conn) beginsLocked(opts driver.TxOptions) bool {
	switch c.maker {
	case makerMattn:
		return c.db.txlock == txlockAtOnce
	case makerNcruces:
		switch sql.IsolationLevel(opts.Isolation) {
		case sql.LevelSerializable, sql.LevelLinearizable:
			return true
		}
		return !opts.ReadOnly && c.db.txlock != txlockLater
	}
	return !opts.ReadOnly && c.db.txlock == txlockAtOnce
}
