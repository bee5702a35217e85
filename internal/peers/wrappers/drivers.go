package wrappers

import (
	"database/sql"
	"database/sql/driver"

	_ "modernc.org/sqlite" // registers "sqlite"
)

// A target is a driver to wrap, and what it opens.
type target struct {
	name, dsn string
	driver    func() (driver.Driver, error) // a new one if it keeps anything
}

// targets are the drivers that this build has.
func targets() []target {
	return append([]target{
		{"fake", "", func() (driver.Driver, error) { return new(instant), nil }},
		{"modernc", ":memory:", registered("sqlite")},
	}, cgoTargets...)
}

// registered finds a driver by the name that its package has registered it by.
func registered(name string) func() (driver.Driver, error) {
	return func() (driver.Driver, error) {
		db, err := sql.Open(name, ":memory:") // makes no connection
		if err != nil {
			return nil, err
		}
		return db.Driver(), db.Close()
	}
}
