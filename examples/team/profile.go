package main

import (
	"fmt"
	"time"
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

	sessions int // per user, each of two turns
	userJobs int // per user
	speed    int // divides every period and every turn

	load time.Duration // how long periodic calls come due; then the run drains
	idle time.Duration // how long the loaded server is watched at rest
	cap  time.Duration // of load and drain together
}

var profiles = []profile{
	{name: "smoke", sandboxes: 200, jobs: 60, tokens: 20, sessions: 1, userJobs: 1, speed: 20,
		load: time.Second, idle: 100 * time.Millisecond, cap: time.Minute},
	{name: "quick", sandboxes: 20_000, jobs: 5_000, tokens: 200, sessions: 3, userJobs: 2, speed: 4,
		load: 15 * time.Second, idle: time.Second, cap: 25 * time.Second},
	{name: "full", sandboxes: 20_000, jobs: 5_000, tokens: 200, sessions: 10, userJobs: 2, speed: 1,
		load: 40 * time.Second, idle: 2 * time.Second, cap: 600 * time.Second},
}

func profileOf(name string) (profile, error) {
	for _, p := range profiles {
		if p.name == name {
			return p, nil
		}
	}
	return profile{}, fmt.Errorf("-profile %q: want smoke, quick or full", name)
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

	turnsPerSession = 2
	jobSlots        = 8 // equal in both variants
	archiveBatch    = 100
)
