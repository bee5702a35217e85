package drive

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// User is one simulated user: all of its activities and scripts run at the
// same time, from the start of the run.
type User struct {
	Activities []Activity
	Scripts    []Script
}

// Activity is an operation that comes due again and again, whatever becomes of
// the runs before. Exactly one of Every, Max and Rate is set.
type Activity struct {
	Name string                          // the operation
	Do   func(ctx context.Context) error // carries it out; see Rand, Wrong, Body

	Every  time.Duration // a period: due on a grid that does not drift
	Jitter float64       // moves each due time by up to ± this share of Every, 0 to 0.5

	Min, Max time.Duration // a range: each gap is drawn from it

	Rate    float64 // arrivals per second, evenly spaced, the first at once
	Poisson bool    // makes the arrivals at Rate independent of each other

	// First is when it is due first. If zero, after a random share of the
	// first period or gap, so that users are not in step.
	First time.Duration

	// Count is how often it comes due; the run ends only when all have ended.
	// If zero, it goes on until Options.For has passed, or without that until
	// the fixed work is done: what was due by then is still carried out.
	Count int

	// InFlight is how many of its runs may be under way at once. If zero, one;
	// for arrivals at a Rate, as many as Options.MaxInFlight.
	InFlight int
	// Policy says what becomes of a due time at which InFlight runs are under
	// way. The zero value is Queue.
	Policy  Policy
	Timeout time.Duration // of one run; if zero, Options.Timeout
}

// Policy says what happens when an activity is due while earlier runs of it
// are still under way.
type Policy uint8

const (
	// Queue keeps the due time: the run starts when it can, and its response
	// time counts the wait.
	Queue Policy = iota
	// Skip leaves the run out and counts it as skipped.
	Skip
)

// Script is a sequence of operations with think time between them.
type Script struct {
	// Work is how many units of the run's fixed work it stands for; its
	// Session.Done marks one. If zero, one. A script that returns nil has done
	// all of them.
	Work int
	// Do is the sequence. An error ends it and is returned by Run, except
	// after the run was cut off.
	Do func(ctx context.Context, s *Session) error
}

func (s *Script) work() int64 { return int64(max(s.Work, 1)) }

// check finds what is wrong with an activity before anything runs.
func (a *Activity) check() error {
	kinds := 0
	for _, set := range []bool{a.Every != 0, a.Min != 0 || a.Max != 0, a.Rate != 0} {
		if set {
			kinds++
		}
	}
	switch {
	case a.Name == "":
		return errors.New("an activity has no Name")
	case a.Do == nil:
		return fmt.Errorf("activity %q: Do is nil", a.Name)
	case kinds != 1:
		return fmt.Errorf("activity %q: exactly one of Every, Max and Rate must be set", a.Name)
	case a.Every < 0 || a.Min < 0 || a.Max < a.Min || !(a.Rate >= 0) || a.First < 0 || a.Count < 0 || a.InFlight < 0 || a.Timeout < 0:
		return fmt.Errorf("activity %q: a negative number, or Max below Min", a.Name)
	case !(a.Jitter >= 0 && a.Jitter <= 0.5):
		return fmt.Errorf("activity %q: Jitter is %v, want 0 to 0.5", a.Name, a.Jitter)
	case a.Poisson && a.Rate == 0:
		return fmt.Errorf("activity %q: Poisson needs a Rate", a.Name)
	}
	return nil
}
