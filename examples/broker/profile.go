package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/tidestaff/tidestaff/examples/internal/page"
)

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
	{name: "smoke", steps: 1, lines: 4, speed: 4, load: 500 * time.Millisecond, cap: time.Minute},
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
