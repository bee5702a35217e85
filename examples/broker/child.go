package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"path/filepath"

	"github.com/tidestaff/tidestaff/cgroup"
	"github.com/tidestaff/tidestaff/examples/internal/page"
	"github.com/tidestaff/tidestaff/fsstat"
	"github.com/tidestaff/tidestaff/lag"
	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/probe/report"
)

// serve is the server's process: the broker and the probes on it.
func serve(o page.Options) error {
	var b *Broker
	s := new(page.Server)
	s.Begin = func(dir string) (_ http.Handler, _ probe.Probe, err error) {
		if err := errors.Join(Seed(dir, o.Seed, profileOf(o)), measureData(&s.AtRest, dir)); err != nil {
			return nil, nil, err
		}
		ops, files := new(probe.Ops), newFiles(dir)
		if b, err = newBroker(OpenStore(dir, files, o.Variants[0] == after), ops); err != nil {
			return nil, nil, err
		}
		return handler(b), probe.NewSet(ops, files, cgroup.New(cgroup.Options{}), lag.New(lag.Options{Interval: heartbeat}),
			lag.New(lag.Options{Interval: heartbeat, Through: b.beat})), nil
	}
	s.End = func() error {
		if b == nil {
			return nil
		}
		return b.Close()
	}
	return s.Serve(o)
}

// newFiles is a probe that tells all files of the store apart, which it must to
// say which of them are read again unchanged.
func newFiles(dir string) *fsstat.Probe {
	return fsstat.New(fsstat.Options{MaxPaths: 2 * (archiveCount + runCount), Path: func(path string) string {
		if below, err := filepath.Rel(dir, path); err == nil {
			path = below
		}
		return filepath.ToSlash(path)
	}})
}

// measureData counts the data before the load.
func measureData(c *report.Conditions, dir string) error {
	c.Add("jobs", jobCount, "{job}")
	err := errors.Join(c.File(filepath.Join(dir, jobsName)), c.Tree(filepath.Join(dir, archiveName)), c.Tree(filepath.Join(dir, runsName)))
	if fsErr := c.FileSystem(dir); !errors.Is(fsErr, probe.ErrUnsupported) {
		err = errors.Join(err, fsErr)
	}
	return err
}

// handler serves dashboards, on goroutines of their own: the dispatcher finds
// the answer and these encode it. Who is ready says where peers connect to.
func handler(b *Broker) http.Handler {
	mux := http.NewServeMux()
	answer := func(w http.ResponseWriter, v any, err error) {
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v) // fails only for a client that has gone
	}
	for _, name := range []string{opDashboard, opSummaries} {
		mux.HandleFunc(name, func(w http.ResponseWriter, r *http.Request) {
			all, err := b.Summaries(name, r.FormValue("cold") != "")
			answer(w, all, err)
		})
	}
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { answer(w, addressOf(b.listen), nil) })
	return mux
}
