package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"path/filepath"
	"strings"

	"github.com/tidestaff/tidestaff/cgroup"
	"github.com/tidestaff/tidestaff/examples/internal/page"
	"github.com/tidestaff/tidestaff/fsstat"
	"github.com/tidestaff/tidestaff/lag"
	"github.com/tidestaff/tidestaff/probe"
)

// serve is the server's process: the broker and the probes on it.
func serve(o page.Options) error {
	var b *Broker
	s := new(page.Server)
	s.Begin = func(dir string) (_ http.Handler, _ probe.Probe, err error) {
		store := OpenStore(dir, newFiles(dir), o.Variants[0] == after)
		s.AtRest.Add("jobs", jobCount, "{job}")
		err = errors.Join(Seed(dir, o.Seed, profileOf(o)), s.AtRest.File(store.path(jobsName)),
			s.AtRest.Tree(store.path(archiveName)), s.AtRest.Tree(store.path(runsName)))
		if err != nil {
			return nil, nil, err
		}
		ops := new(probe.Ops)
		if b, err = newBroker(store, ops); err != nil {
			return nil, nil, err
		}
		return handler(b), probe.NewSet(ops, store.files, cgroup.New(cgroup.Options{}), lag.New(lag.Options{Interval: heartbeat}),
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
		return strings.TrimPrefix(filepath.ToSlash(path), filepath.ToSlash(dir)+"/")
	}})
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
	mux.HandleFunc(opDashboard, func(w http.ResponseWriter, r *http.Request) {
		all, err := b.Dashboard(r.FormValue("cold") != "")
		answer(w, all, err)
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { answer(w, b.address(), nil) })
	return mux
}
