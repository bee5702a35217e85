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
	"errors"

	"github.com/tidestaff/tidestaff/examples/internal/drive"
	"github.com/tidestaff/tidestaff/examples/internal/page"
	"github.com/tidestaff/tidestaff/examples/internal/progress"
	"github.com/tidestaff/tidestaff/examples/internal/stage"
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
		Variants: []string{before, after}, Serve: serve, Play: play, Print: printTables}
	for _, size := range profiles {
		p.Profiles = append(p.Profiles, size.name)
	}
	return p
}

// The parts of a variant's report beside those under load: the server and its
// users during five reads of all run summaries.
const (
	partReads   = "reads"
	partReaders = "readers"
)

// play starts the server, reads the run summaries, plays the load and stops it.
func play(ctx context.Context, o page.Options, variant, dir string, show *progress.Line) (*report.Report, error) {
	show.Say("writing %d jobs, %d archives and %d logs", jobCount, archiveCount, runCount)
	var s stage.Stage
	p, err := o.Start(ctx, &s, variant, dir)
	if err != nil {
		return nil, err
	}
	d := &desk{profile: profileOf(o), dir: dir, base: p.URL(""), http: drive.Client(4)}
	parts, err := d.play(ctx, o.Seed, &s, show)
	return o.Join(variant, d.profile.deviations(), parts...), errors.Join(err, s.Stop())
}

// play plays both phases. It returns no parts if there was no load.
func (d *desk) play(ctx context.Context, seed uint64, s *stage.Stage, show *progress.Line) ([]*report.Report, error) {
	defer d.close()
	if err := d.connect(ctx); err != nil {
		return nil, err
	}
	show.Say("reading all run summaries")
	reads, readers, err := page.Phase(ctx, s, partReads, partReaders, d.fiveReads(seed), show)
	if err != nil {
		return nil, err
	}
	server, load, err := page.Phase(ctx, s, page.PartServer, page.PartLoad, d.load(seed), show)
	if server == nil || load == nil {
		return nil, err
	}
	return []*report.Report{server, load, reads, readers}, err
}
