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
//
// The server runs in a process of its own, so that the lag, the memory and the
// CPU time in the table are the server's. This is the part of the broker that
// works on files; its database, its link to a second broker and its hooks come
// later.
package main

import (
	"context"

	"github.com/tidestaff/tidestaff/examples/internal/drive"
	"github.com/tidestaff/tidestaff/examples/internal/page"
	"github.com/tidestaff/tidestaff/probe/report"
)

// The variants of the page.
const (
	before = "before"
	after  = "after"
)

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
const (
	partReads   = "reads"
	partReaders = "readers"
)

// play reads the run summaries and plays the load.
func play(ctx context.Context, r *page.Run) ([]*report.Report, error) {
	d := &desk{profile: profileOf(r.Options), dir: r.Dir, base: r.URL, http: drive.Client(4)}
	defer d.close()
	if err := d.connect(ctx); err != nil {
		return nil, err
	}
	r.Show.Say("reading all run summaries")
	reads, readers, err := r.Phase(ctx, partReads, partReaders, d.fiveReads(r.Seed))
	if err != nil {
		return nil, err
	}
	return r.Load(ctx, d.load(r.Seed), reads, readers)
}
