package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite", in pure Go

	"github.com/tidestaff/tidestaff/cgroup"
	"github.com/tidestaff/tidestaff/examples/internal/stage"
	"github.com/tidestaff/tidestaff/fsstat"
	"github.com/tidestaff/tidestaff/lag"
	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/probe/report"
	"github.com/tidestaff/tidestaff/sqlitetrace"
)

// logFolder holds the sessions' event logs.
const logFolder = "logs"

// roleServer is the part of the process that serves.
const roleServer = "server"

// dirVar tells the server its folder, which parent and child both remove: one
// of them may be killed.
const dirVar = "TIDESTAFF_TEAM_DIR"

// service is the server's process: the control plane and the probes on it.
type service struct {
	opt    options
	dir    string
	set    *probe.Set
	run    *report.Run // while a phase is open
	atRest report.Conditions

	store *Store
	loops *loops
	http  *http.Server
}

// serveChild is the server's process from start to end.
func serveChild(opt options) error {
	s := &service{opt: opt, dir: os.Getenv(dirVar)}
	return stage.Child(stage.Handler{Start: s.start, Open: s.open, Close: s.close, Stop: s.stop})
}

// start seeds the history and serves. Whatever it began is undone if it fails.
func (s *service) start(ctx context.Context) (addr string, err error) {
	defer func() {
		if err != nil {
			_ = s.stop()
		}
	}()
	listener, err := net.Listen("tcp", s.opt.addr)
	if err != nil {
		return "", err
	}
	path := filepath.Join(s.dir, "team.db")
	if err := Seed(path, s.opt.seed, s.opt.profile); err != nil {
		listener.Close()
		return "", err
	}
	debug.FreeOSMemory() // what the seeding left would count as the server's own

	sqlp, files := sqlitetrace.New(sqlitetrace.Options{}), fsstat.New(fsstat.Options{})
	s.store, err = OpenStore(watched(sqlp), path, s.opt.variants[0].scans)
	if err != nil {
		listener.Close()
		return "", err
	}
	if err := errors.Join(os.Mkdir(filepath.Join(s.dir, logFolder), 0o700), s.measureData(path)); err != nil {
		listener.Close()
		return "", err
	}
	ops := new(probe.Ops)
	s.loops = &loops{store: s.store, ops: ops, files: files, logs: filepath.Join(s.dir, logFolder),
		profile: s.opt.profile, batch: s.opt.variants[0].batch}
	s.loops.run(s.opt.seed)
	s.set = probe.NewSet(ops, sqlp, files, lag.New(lag.Options{}), cgroup.New(cgroup.Options{}), &s.loops.records)
	s.http = &http.Server{Handler: newServer(s.store, ops, s.loops).Handler()}
	go func() { _ = s.http.Serve(listener) }() // returns when stop closes it
	return listener.Addr().String(), nil
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

// open begins a phase.
func (s *service) open(phase string) (err error) {
	s.run, err = report.Start(s.set, report.Options{Name: phase})
	return err
}

// close ends it and returns the report, with the data at rest.
func (s *service) close() ([]byte, error) {
	rep := s.run.Close()
	s.run = nil
	rep.Conditions = slices.Clone(s.atRest)
	if err := rep.Conditions.Tree(filepath.Join(s.dir, logFolder)); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err := rep.Write(&out)
	return out.Bytes(), err
}

// measureData counts the data at rest: the rows of each table and the bytes of
// database and write-ahead log. It runs before the load: at the end of an
// overloaded run it would wait behind every call that is still queued for one
// of the few connections.
func (s *service) measureData(path string) error {
	c := &s.atRest
	for _, table := range tables {
		var n int64
		if err := s.store.db.QueryRow(`SELECT count(*) FROM ` + table).Scan(&n); err != nil {
			return fmt.Errorf("count %s: %w", table, err)
		}
		c.Add(table, n, "{row}")
	}
	if err := c.FileSystem(s.dir); err != nil && !errors.Is(err, probe.ErrUnsupported) {
		return err
	}
	return errors.Join(c.File(path), c.File(path+"-wal"))
}

// stop ends everything and removes the folder. It also follows a start that
// failed half-way.
func (s *service) stop() error {
	if s.loops != nil {
		s.loops.stop() // the calls under way end with it
	}
	if s.http != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = s.http.Shutdown(ctx) // the store is closed whether or not all have ended
	}
	if s.run != nil {
		s.run.Close()
	}
	var err error
	if s.store != nil {
		err = s.store.Close()
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}
