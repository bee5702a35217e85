// Command broker is a load test of a message broker for agents: one dispatcher
// owns its state and answers sends and dashboards from job files, once while it
// reads and parses all of them each time ("before") and once with what it made
// of a file kept until the file changes ("after"). It prints what each of them
// read and how late the dispatcher was, side by side.
//
//	go run ./examples/broker                   both variants, under a minute
//	go run ./examples/broker -profile full     as long as the page's run
//	go run ./examples/broker -md               a table for a pull request
//	go run ./examples/broker -variant after -out r.json
//	go run ./examples/broker -runs 5 -hogs 2   five of each, and five on a busy host
//	go run ./examples/broker -cpu-profile      and the functions that computed
//
// The server runs in a process of its own, so that the lag, the memory and the
// CPU time in the table are the server's. This is the part of the broker that
// works on files; its database, its link to a second broker and its hooks come
// later.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidestaff/tidestaff/cgroup"
	"github.com/tidestaff/tidestaff/examples/internal/drive"
	"github.com/tidestaff/tidestaff/examples/internal/page"
	"github.com/tidestaff/tidestaff/fsstat"
	"github.com/tidestaff/tidestaff/lag"
	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/probe/report"
)

// The variants of the page.
const before, after = "before", "after"

func main() { command().Main() }

func command() *page.Page {
	p := &page.Page{Name: "broker", Sizes: "smoke, quick (the page's data, time shortened) or full (the page)",
		Deviations: deviations, Serve: serve, Play: play, Print: printTables}
	for _, size := range profiles {
		p.Profiles = append(p.Profiles, page.Profile{Name: size.name, Variants: []string{before, after}})
	}
	return p
}

// The parts of a variant's report beside those under load: the server and its
// users during five reads of all run summaries.
const partReads, partReaders = "reads", "readers"

// play reads the run summaries and plays the load.
func play(ctx context.Context, r *page.Run) ([]*report.Report, error) {
	d := &desk{Run: r, profile: profileOf(r.Options), http: drive.Client(4)}
	defer d.close()
	if err := d.connect(ctx); err != nil {
		return nil, err
	}
	r.Show.Say("reading all run summaries")
	reads, readers, err := r.Phase(ctx, partReads, partReaders, d.fiveReads())
	if err != nil {
		return nil, err
	}
	return r.Load(ctx, d.load(), reads, readers)
}

// serve is the server's process: the broker and the probes on it.
func serve(o page.Options) error {
	s := new(page.Server)
	s.Begin = func(dir string) (http.Handler, probe.Probe, error) {
		store, ops := OpenStore(dir, newFiles(dir), o.Variants[0] == after), new(probe.Ops)
		s.AtRest.Add("jobs", jobCount, "{job}")
		err := errors.Join(Seed(dir, o.Seed, profileOf(o)), s.AtRest.File(store.path(jobsName)),
			s.AtRest.Tree(store.path(archiveName)), s.AtRest.Tree(store.path(runsName)))
		if err != nil {
			return nil, nil, err
		}
		b, err := newBroker(store, ops)
		if err != nil {
			return nil, nil, err
		}
		s.End = b.Close
		return handler(b), probe.NewSet(ops, store.files, cgroup.New(cgroup.Options{}), lag.New(lag.Options{Interval: heartbeat}),
			lag.New(lag.Options{Interval: heartbeat, Through: func(beat func()) { b.post(func(context.Context) { beat() }) }})), nil
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
	mux.HandleFunc(opDashboard, func(w http.ResponseWriter, r *http.Request) {
		all, err := b.Dashboard(r.FormValue("cold") == "true")
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Write(page.Encode(all))
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		w.Write(page.Encode([]string{b.listen.Addr().Network(), b.listen.Addr().String()}))
	})
	return mux
}

// How many files there are, in every profile: the counts of reads depend on
// nothing else.
const (
	jobCount     = 400 // in jobs.json
	archiveCount = 164 // jobs with a file of their own
	runCount     = 680 // logs, in nested folders
)

// Who is there. A manager's runners are each other's siblings; it also has as
// many jobs that run elsewhere, whose progress it saves.
const (
	managerCount = 6
	runnersEach  = 5
	runnerCount  = managerCount * runnersEach
	sessionCount = 6
)

// A profile is the size of a run. Counts of files are not part of it.
type profile struct {
	name  string
	steps int // of each job
	lines int // of each log
	speed int // divides every period

	load time.Duration // how long periodic calls come due; then the run drains
	cap  time.Duration // of load and drain together
}

var profiles = []profile{
	{name: "smoke", steps: 1, lines: 4, speed: 4, load: 500 * time.Millisecond, cap: 5 * time.Minute},
	{name: "quick", steps: 13, lines: 225, speed: 1, load: 8 * time.Second, cap: 20 * time.Second},
	{name: "full", steps: 13, lines: 225, speed: 1, load: 20 * time.Second, cap: 2 * time.Minute},
}

func profileOf(o page.Options) profile {
	return profiles[slices.IndexFunc(profiles, func(p profile) bool { return p.name == o.Profile })]
}

// scaled is a period of the page, at this profile's speed.
func (p profile) scaled(d time.Duration) time.Duration { return d / time.Duration(p.speed) }

// The page's periods, before scaling.
const (
	sendEvery      = 2 * time.Second
	peersEvery     = time.Second
	progressEvery  = time.Second
	dashboardEvery = 2 * time.Second

	heartbeat = 20 * time.Millisecond // the distance of two slots of lag
)

// deviations are where the run departs from the page.
func deviations(o page.Options) []string {
	d := []string{
		"the part of the broker that works on files: no database, no second broker, no hooks",
		"the load generator shares the machine's cores, and writes the runs' logs",
	}
	if p := profileOf(o); p.speed > 1 {
		d = append(d, fmt.Sprintf("%d× the page's rates: every period is divided by it", p.speed), "as many files as on the page, but small ones")
	}
	return d
}
