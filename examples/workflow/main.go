// Command workflow is a scale benchmark of a workspace of jobs that are folders
// and files: how long submission, scheduling, joining, harvesting and repair take
// at some sizes, how many file operations each job costs, and whether any of it
// grows faster than the number of jobs.
//
//	go run ./examples/workflow                     500 jobs, a few seconds
//	go run ./examples/workflow -profile snapshot   2,500 and 10,000, and their ratio
//	go run ./examples/workflow -md                 tables for a pull request
//	go run ./examples/workflow -variant index -out r.json
//
// The manager runs in a process of its own, so that its memory, its CPU time and
// the lag of its loop are nobody else's.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/tidestaff/tidestaff/examples/internal/drive"
	"github.com/tidestaff/tidestaff/examples/internal/page"
	"github.com/tidestaff/tidestaff/lag"
	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/probe/report"
)

// The variants: payloads are read at every tick, or once.
const reread, index = "reread", "index"

func main() { command().Main() }

func command() *page.Page {
	p := &page.Page{Name: "workflow", Sizes: "smoke (200 jobs), quick (500) or snapshot (2,500 and 10,000)",
		Deviations: deviations, Serve: serve, Play: play, Print: printTables}
	for _, size := range profiles {
		p.Profiles = append(p.Profiles, page.Profile{Name: size.name, Variants: []string{reread, index}})
	}
	return p
}

// A profile is the size of a run.
type profile struct {
	name     string
	jobs     []int // one workspace for each, ascending
	children int   // of the job that waits, in every workspace
}

var profiles = []profile{
	{"smoke", []int{200}, 20},
	{"quick", []int{500}, 500},
	{"snapshot", []int{2500, 10_000}, 500},
}

func profileOf(o page.Options) profile {
	return profiles[slices.IndexFunc(profiles, func(p profile) bool { return p.name == o.Profile })]
}

// partOf is the part of a variant's report that has one size: the largest is what
// every example has.
func partOf(p profile, jobs int) string {
	if jobs == p.jobs[len(p.jobs)-1] {
		return page.PartServer
	}
	return strconv.Itoa(jobs)
}

// play runs all benchmarks at each size.
func play(ctx context.Context, r *page.Run) ([]*report.Report, error) {
	client := drive.Client(1)
	defer client.CloseIdleConnections()
	p := profileOf(r.Options)
	var before []*report.Report
	for _, jobs := range p.jobs[:len(p.jobs)-1] {
		server, users, err := r.Phase(ctx, partOf(p, jobs), "load "+partOf(p, jobs), script(r, client, jobs))
		if server != nil && users != nil {
			before = append(before, server, users)
		}
		if err != nil {
			return before, err
		}
	}
	parts, err := r.Load(ctx, script(r, client, p.jobs[len(p.jobs)-1]), before...)
	if len(parts) == 0 {
		parts = before // interrupted before it began
	}
	return parts, err
}

// script asks for the benchmarks one after the other.
func script(r *page.Run, client *http.Client, jobs int) *drive.Driver {
	d := drive.New(drive.Options{Seed: r.Seed, Timeout: 10 * time.Minute})
	d.Add(drive.User{Scripts: []drive.Script{{Work: len(rows), Do: func(ctx context.Context, s *drive.Session) error {
		for _, row := range rows {
			err := s.Do(row.name, func(ctx context.Context) error {
				return post(ctx, client, fmt.Sprintf("%s/workspaces/%d/benchmarks/%s", r.URL, jobs, url.PathEscape(row.name)))
			})
			if err != nil {
				return err
			}
			s.Done()
		}
		return nil
	}}}})
	return d
}

func post(ctx context.Context, c *http.Client, target string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, nil)
	if err != nil {
		return err
	}
	resp, err := c.Do(req)
	if err != nil {
		return err
	}
	_, err = drive.Drain(resp)
	return err
}

// serve is the server's process: the loop and the probes on it.
func serve(o page.Options) error {
	s := new(page.Server)
	s.Begin = func(dir string) (http.Handler, probe.Probe, error) {
		b := newBench(dir, o.Variants[0] == reread, profileOf(o).children)
		s.End = b.close
		return handler(b), probe.NewSet(&b.core, b.files, b.mem, lag.New(lag.Options{Interval: slot}),
			lag.New(lag.Options{Interval: slot, Through: b.beat})), nil
	}
	return s.Serve(o)
}

// slot is the distance of two slots of lag.
const slot = 20 * time.Millisecond

// handler runs benchmarks, the first of them on a new workspace, and answers what
// anybody asks of a manager.
func handler(b *bench) http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern string, f func(r *http.Request) (answer any, err error)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			var answer any
			err := b.do(func() (err error) { answer, err = f(r); return err })
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			w.Write(page.Encode(answer))
		})
	}
	handle("GET /readyz", func(*http.Request) (any, error) { return "ready", nil })
	handle("POST /workspaces/{jobs}/benchmarks/{name}", func(r *http.Request) (any, error) {
		jobs, err := strconv.Atoi(r.PathValue("jobs"))
		i := slices.IndexFunc(rows, func(row row) bool { return row.name == r.PathValue("name") })
		switch {
		case err != nil || i < 0:
			return nil, fmt.Errorf("%s: no such benchmark", r.URL.Path)
		case i == 0:
			if err := b.begin(jobs); err != nil {
				return nil, err
			}
		case b.jobs != jobs:
			return nil, fmt.Errorf("%s: the workspace has %d jobs", r.URL.Path, b.jobs)
		}
		b.row, b.number = rows[i], i+1
		return "done", b.row.run(b)
	})
	handle("GET /status", func(*http.Request) (any, error) {
		if b.manager == nil {
			return map[State]int{}, nil
		}
		return b.manager.States(), nil
	})
	handle("POST /jobs", func(r *http.Request) (any, error) {
		if b.ws == nil {
			return nil, errors.New("there is no workspace yet")
		}
		var j Job
		if err := json.NewDecoder(r.Body).Decode(&j); err != nil {
			return nil, err
		}
		return j.ID, b.ws.Submit("asked", j)
	})
	return mux
}

// deviations are where a run departs from the page.
func deviations(page.Options) []string {
	return []string{
		"Go instead of Python: no interpreter is measured; memory is live heap after collections",
		"no fsync, a local file system, one process that writes",
	}
}
