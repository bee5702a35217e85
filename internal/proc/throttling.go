package proc

import (
	"errors"
	"math"
	"path/filepath"
	"time"
)

// Throttling is what a group's own CPU quota took away since the group was
// made. A quota at a level above throttles the group too and has its own
// count there; see [Throttlings].
type Throttling struct {
	// Periods is nr_periods: those of the quota in which the group ran.
	Periods uint64
	// Throttled is nr_throttled: of these, those in which the quota ran out.
	Throttled uint64
	// Time is how long runnable tasks were held back, summed over CPUs, so that
	// it may exceed the time that passed. It is added when a throttled period
	// ends, up to a period late.
	Time time.Duration
}

// The reasons for which a group has no throttling.
var (
	// ErrNoQuota means that the kernel has not counted any period of a quota.
	// It counts only while the group itself has a quota, so zeros would look
	// like "not throttled" where a level above may throttle all the time.
	ErrNoQuota = errors.New("the group has had no CPU quota so far")

	errNoPeriods = errors.New("counts no periods")
)

// A ThrottlingFile keeps the cpu.stat of a group open. Like a [File], it has
// one user at a time.
type ThrottlingFile struct {
	file    *File
	version int
}

// OpenThrottling opens cpu.stat of a group of the cpu controller, which is not
// the root: the root's numbers, where it has any, are not a group's; see
// [Cgroups.LookupOwn].
func OpenThrottling(g Group) (*ThrottlingFile, error) {
	f, err := Open(filepath.Join(g.Dir, "cpu.stat"))
	if err != nil {
		return nil, err
	}
	return &ThrottlingFile{file: f, version: g.Version}, nil
}

// Read returns the throttling so far. It does not allocate. The error is
// [ErrNoQuota] while there was no quota.
func (t *ThrottlingFile) Read() (Throttling, error) {
	b, err := t.file.Read()
	if err != nil {
		return Throttling{}, err
	}
	v, err := ParseThrottling(b, t.version)
	if err != nil && err != ErrNoQuota { // which is not about the text
		err = t.file.About(err)
	}
	return v, err
}

// Reopen opens the file by its path anew; see [File.Reopen].
func (t *ThrottlingFile) Reopen() error { return t.file.Reopen() }

// Close closes the file. A nil ThrottlingFile may be closed, and a closed one
// again.
func (t *ThrottlingFile) Close() {
	if t != nil {
		_ = t.file.Close() // opened for reading
	}
}

// Version 2 counts microseconds, version 1 nanoseconds.
var (
	throttlingKeys1 = []string{"nr_periods", "nr_throttled", "throttled_time"}
	throttlingKeys2 = []string{"nr_periods", "nr_throttled", "throttled_usec"}
)

// ParseThrottling parses the cpu.stat of a group of a cgroup version. The
// error is [ErrNoQuota] if no period has been counted.
func ParseThrottling(b []byte, version int) (Throttling, error) {
	keys, unit := throttlingKeys2, time.Microsecond
	if version == 1 {
		keys, unit = throttlingKeys1, time.Nanosecond
	}
	var v [3]Value
	if err := ParseFlat(b, keys, v[:]); err != nil {
		return Throttling{}, err
	}
	switch {
	case !v[0].OK || !v[1].OK || !v[2].OK:
		return Throttling{}, errNoPeriods
	case v[0].V == 0:
		return Throttling{}, ErrNoQuota
	}
	t := Throttling{Periods: v[0].V, Throttled: v[1].V, Time: math.MaxInt64}
	if d, ok := duration(v[2].V, unit); ok {
		t.Time = d
	}
	return t, nil
}
