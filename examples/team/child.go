package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver "sqlite", in pure Go

	"github.com/tidestaff/tidestaff/cgroup"
	"github.com/tidestaff/tidestaff/examples/internal/page"
	"github.com/tidestaff/tidestaff/fsstat"
	"github.com/tidestaff/tidestaff/lag"
	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/probe/report"
	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// logFolder holds the sessions' event logs.
const logFolder = "logs"

// serve is the server's process: the control plane and the probes on it.
func serve(o page.Options) error {
	prof, v := profileOf(o), variantOf(o.Variants[0])
	s := new(page.Server)
	s.Begin = func(dir string) (http.Handler, probe.Probe, error) {
		path, logs := filepath.Join(dir, "team.db"), filepath.Join(dir, logFolder)
		if err := errors.Join(Seed(path, o.Seed, prof), os.Mkdir(logs, 0o700)); err != nil {
			return nil, nil, err
		}
		// What a service needs to be measured: probes, where it opens its
		// database and its files, and one set of them all.
		ops, sqlp, files := new(probe.Ops), sqlitetrace.New(sqlitetrace.Options{}), fsstat.New(fsstat.Options{})
		store, err := OpenStore(watched(sqlp), path, v.scans)
		if err != nil {
			return nil, nil, err
		}
		s.End = store.Close
		if err := measureData(&s.AtRest, store, path, logs, prof); err != nil {
			return nil, nil, err
		}
		l := &loops{store: store, ops: ops, files: files, logs: logs, profile: prof, batch: v.batch}
		l.run(o.Seed)
		s.End = func() error {
			l.stop() // the calls under way end with it
			return store.Close()
		}
		set := probe.NewSet(ops, sqlp, files, lag.New(lag.Options{}), cgroup.New(cgroup.Options{}), &l.records)
		return newServer(store, ops, l).Handler(), set, nil
	}
	return s.Serve(o)
}

// watched opens a database through a probe, so that who waits for one of the
// few connections is seen too.
func watched(p *sqlitetrace.Probe) func(driver, dsn string) (database, error) {
	return func(driver, dsn string) (database, error) {
		db, err := p.Open(driver, dsn)
		if err != nil {
			return nil, err
		}
		return p.Wrap(db), nil
	}
}

// measureData counts the data before the load: the rows of each table, the bytes
// of database, write-ahead log and event logs, and what a soak will move.
func measureData(c *report.Conditions, store *Store, path, logs string, p profile) error {
	for _, table := range tables {
		var n int64
		if err := store.db.QueryRow(`SELECT count(*) FROM ` + table).Scan(&n); err != nil {
			return fmt.Errorf("count %s: %w", table, err)
		}
		c.Add(table, n, "{row}")
	}
	if p.soaks() {
		c.Add("sandboxes to move", int64(p.sweep.sandboxes), "{row}")
		c.Add("jobs to move", int64(p.sweep.jobs), "{row}")
	}
	return errors.Join(c.File(path), c.File(path+"-wal"), c.Tree(logs))
}
