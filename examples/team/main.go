// Command team is a load test of a control plane: six engineers play against
// a Go server whose records are JSON in an embedded SQLite database, once
// while it parses every sandbox record for each listing and look-up by name
// ("before") and once with indexes and pages ("after"). It prints what each
// of them cost, side by side.
//
//	go run ./examples/team                     both variants, about a minute
//	go run ./examples/team -profile full       the rates of a real day
//	go run ./examples/team -profile soak       all turns at once, beside 500 and 100 rows a transaction
//	go run ./examples/team -md                 a table for a pull request
//	go run ./examples/team -variant after -out r.json
//	go run ./examples/team -runs 5 -hogs 2     five of each, and five on a busy host
//	go run ./examples/team -cpu-profile        and the functions that computed
//
// The server runs in a process of its own, so that the lag, the memory and the
// CPU time in the table are the server's.
package main

import (
	"context"

	"github.com/tidestaff/tidestaff/examples/internal/drive"
	"github.com/tidestaff/tidestaff/examples/internal/page"
	"github.com/tidestaff/tidestaff/probe/report"
)

func main() { command().Main() }

func command() *page.Page {
	p := &page.Page{Name: "team", Deviations: deviations, Serve: serve, Play: play, Print: printTables,
		Sizes: "smoke, quick (the page's data, time shortened), full (the page) or soak (all turns at once while retention works; its servers are 500-rows and 100-rows)"}
	for _, size := range profiles {
		p.Profiles = append(p.Profiles, page.Profile{Name: size.name, Variants: size.variants()})
	}
	return p
}

// The parts of a variant's report beside those under load: the server at rest,
// and its users, who do nothing then.
const (
	partIdle    = "idle"
	partNothing = "nothing"
)

// play watches the server at rest and plays the load.
func play(ctx context.Context, r *page.Run) ([]*report.Report, error) {
	prof := profileOf(r.Options)
	r.Show.Say("at rest")
	rest := drive.New(drive.Options{})
	rest.Add(drive.User{Scripts: []drive.Script{{Do: func(_ context.Context, s *drive.Session) error { return s.Sleep(prof.idle) }}}})
	idle, _, err := r.Phase(ctx, partIdle, partNothing, rest)
	if err != nil {
		return nil, err
	}
	client := drive.Client(64)
	defer client.CloseIdleConnections()
	return r.Load(ctx, newLoad(prof, r.Seed, r.URL, client), idle)
}
