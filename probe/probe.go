package probe

import (
	"errors"
	"time"
)

// A Probe measures one aspect of the process.
//
// Implementations come from a [Core]; a type that holds one forwards these two
// methods to it.
type Probe interface {
	// Watch opens a window: an independent view of everything from now on.
	// The first window starts what the probe needs. An error that wraps
	// ErrUnsupported says that the probe cannot work here at all.
	Watch() (*Window, error)

	// Describe lists what the probe's windows can yield, before there is
	// data. The descriptions are shared and must not be changed.
	Describe() []*Desc
}

// ErrUnsupported is the conclusive answer "this cannot be measured here": the
// wrong operating system, a kernel without the file, no cgroup. Any other error
// from a Watch is a failure to measure what could be measured.
var ErrUnsupported = errors.New("not supported here")

// epoch is the origin of Now. time.Since reads only the monotonic clock for it,
// which is half the cost of time.Now. It lies 50 years back so that Now is
// positive under the fake clock of testing/synctest too, which begins in 2000.
var epoch = time.Now().Add(-50 * 365 * 24 * time.Hour)

// Now is the monotonic clock of the probes in nanoseconds, from an origin of
// the process's own. It is positive, never goes back, and stands still while
// the machine is suspended (CLOCK_MONOTONIC on Linux).
func Now() int64 { return int64(time.Since(epoch)) }

// timeAt turns a value of Now into a time.Time, by the wall clock of today: it
// may have been set since the process started.
func timeAt(ns int64) time.Time { return time.Now().Add(time.Duration(ns - Now())) }
