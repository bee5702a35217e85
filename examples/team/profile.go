package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/tidestaff/tidestaff/examples/internal/page"
)

// userCount is how many engineers play; each has a token of its own.
const userCount = 6

// A profile is the size of a run. Data and rates are apart: quick has the
// whole history and shortens the time between two calls.
type profile struct {
	name      string
	sandboxes int // records of the history
	jobs      int // finished ones in the history
	tokens    int // decoded by each request to find its own

	sessions int           // per user
	turns    int           // of each session
	turn     time.Duration // how long an agent takes for one, at the page's speed
	userJobs int           // per user
	speed    int           // divides every period and every turn

	load time.Duration // how long periodic calls come due; then the run drains
	idle time.Duration // how long the loaded server is watched at rest
	cap  time.Duration // of load and drain together

	sweep sweep // what a soak moves to the archive; nothing in the others
}

var profiles = []profile{
	{name: "smoke", sandboxes: 200, jobs: 60, tokens: 20, sessions: 1, turns: 2, turn: turnLength, userJobs: 1, speed: 20,
		load: time.Second, idle: 100 * time.Millisecond, cap: 5 * time.Minute},
	{name: "quick", sandboxes: 20_000, jobs: 5_000, tokens: 200, sessions: 3, turns: 2, turn: turnLength, userJobs: 2, speed: 4,
		load: 15 * time.Second, idle: time.Second, cap: 25 * time.Second},
	{name: "full", sandboxes: 20_000, jobs: 5_000, tokens: 200, sessions: 10, turns: 2, turn: turnLength, userJobs: 2, speed: 1,
		load: 40 * time.Second, idle: 2 * time.Second, cap: 600 * time.Second},
	{name: "soak", sandboxes: 20_500, jobs: 2_000, tokens: 200, sessions: 10, turns: 4, turn: 20 * time.Second, userJobs: 4, speed: 5,
		load: 18 * time.Second, idle: time.Second, cap: 40 * time.Second,
		sweep: sweep{sandboxes: 20_000, jobs: 2_000, over: 60 * time.Second}},
}

// The servers of the page.
const (
	before = "before"
	after  = "after"
)

// A variant is one of the servers that a profile compares: a column.
type variant struct {
	name  string
	scans bool // listings, look-ups by name and creations parse every sandbox record
	batch int  // how many records retention moves in a transaction
}

var (
	pageVariants = []variant{{before, true, archiveBatch}, {after, false, archiveBatch}}
	soakVariants = []variant{{"500-rows", false, 500}, {"100-rows", false, 100}}
)

// variants are the columns of the profile's table.
func (p profile) variants() (names []string) {
	all := pageVariants
	if p.soaks() {
		all = soakVariants
	}
	for _, v := range all {
		names = append(names, v.name)
	}
	return names
}

func variantOf(name string) variant {
	all := slices.Concat(pageVariants, soakVariants)
	return all[slices.IndexFunc(all, func(v variant) bool { return v.name == name })]
}

func profileOf(o page.Options) profile {
	return profiles[slices.IndexFunc(profiles, func(p profile) bool { return p.name == o.Profile })]
}

// scaled is a period of the page, at this profile's speed.
func (p profile) scaled(d time.Duration) time.Duration { return d / time.Duration(p.speed) }

// The page's durations, before scaling.
const (
	turnLength     = 8 * time.Second
	eventEvery     = 500 * time.Millisecond // an agent prints one
	jobLength      = 4 * time.Second
	sessionEvery   = time.Second
	pollEvery      = 5 * time.Second
	listEvery      = 10 * time.Second
	execEvery      = 4 * time.Second
	refreshEvery   = 5 * time.Second
	createMin      = 20 * time.Second
	createMax      = 60 * time.Second
	retentionEvery = 10 * time.Second
	gaugesEvery    = 10 * time.Second

	jobSlots     = 8 // equal in all variants
	archiveBatch = 100
)

// deviations are where the run departs from the page.
func deviations(o page.Options) []string {
	p := profileOf(o)
	d := []string{
		"a reduced control plane: agents are clocks, there is no provider, a tool call is all of MCP",
		"the load generator shares the machine's cores",
	}
	if p.speed > 1 {
		d = append(d, fmt.Sprintf("%d× the page's rates: every period and turn is divided by it", p.speed))
	}
	if p.soaks() {
		d = append(d, soakDeviations(p)...)
	}
	return d
}
