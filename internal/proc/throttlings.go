package proc

import (
	"errors"
	"math"
	"time"
)

// maxQuotas bounds the levels that a Throttlings reads. A container of Kubernetes
// has three above it, of which two may have a quota.
const maxQuotas = 8

// Taken is what the quotas that bind a group took away. At each reading it grows by
// what the level took that took most since the one before: a thread that two quotas
// hold back waits once.
type Taken struct {
	Throttling
	// Above is the part of Time that a level above the group took. It counts all
	// groups below that level, and all CPUs that any of them wanted.
	Above time.Duration
}

// Throttlings reads what the CPU quotas that bind a group take away: its own, and
// those of the groups above it that can be seen. The kernel counts each at its own
// level. It keeps the files open, and like a [File] has one user at a time.
type Throttlings struct {
	levels []quotaLevel
	taken  Taken
}

type quotaLevel struct {
	file  *ThrottlingFile
	above bool
	last  Throttling
}

// OpenThrottlings opens cpu.stat of a group, which is not the root, and of those
// groups above it that have a quota now. The group itself may get one later. In
// version 2 it need not have the cpu controller: a quota above binds it all the same.
func OpenThrottlings(g Group) (*Throttlings, error) {
	own, err := OpenThrottling(g)
	if err != nil {
		return nil, err
	}
	t := &Throttlings{levels: []quotaLevel{{file: own}}}
	for _, dir := range g.Dirs()[1:] {
		level := Group{Controller: g.Controller, Version: g.Version, Dir: dir, Mount: dir}
		if len(t.levels) == maxQuotas || !hasQuota(level) {
			continue
		}
		if f, err := OpenThrottling(level); err == nil { // or the level has gone
			t.levels = append(t.levels, quotaLevel{file: f, above: true})
		}
	}
	return t, nil
}

// OpenOwnThrottlings opens those of this process's own group, with the files of the
// machine whose proc and sys are under root. A container does not see the groups
// above its own.
func OpenOwnThrottlings(root string) (*Throttlings, error) {
	groups, err := Detect(root)
	if err != nil {
		return nil, err
	}
	g, err := groups.LookupOwn("cpu")
	if errors.Is(err, ErrNoController) { // as in a systemd slice that has the quota
		g, err = groups.LookupOwn("")
	}
	if err != nil {
		return nil, err
	}
	return OpenThrottlings(g)
}

// hasQuota tells whether a quota is set at a level itself.
func hasQuota(level Group) bool {
	l, err := OpenCPULimit(level)
	if err != nil {
		return false
	}
	defer l.Close()
	cpus, err := l.Read()
	return err == nil && !math.IsInf(cpus, 1)
}

// Read returns what was taken since the groups were made, which for the levels above
// may be long before this process was. It does not allocate. A level that cannot be
// read this time is left out; the error is that of the group's own level, and
// [ErrNoQuota] if no level has had a quota so far.
func (t *Throttlings) Read() (Taken, error) {
	var most Throttling
	var failure error
	known, above := false, false
	for i := range t.levels {
		l := &t.levels[i]
		now, err := l.file.Read()
		if err != nil {
			if !l.above {
				failure = err
			}
			continue
		}
		d := Throttling{now.Periods - l.last.Periods, now.Throttled - l.last.Throttled, now.Time - l.last.Time}
		if now.Periods < l.last.Periods || d.Time < 0 { // it is another group now
			d = Throttling{}
		}
		l.last = now
		if !known || d.Time > most.Time || d.Time == most.Time && d.Periods > most.Periods {
			most, above = d, l.above
		}
		known = true
	}
	if !known {
		return t.taken, failure
	}
	t.taken.Periods += most.Periods
	t.taken.Throttled += most.Throttled
	t.taken.Time += most.Time
	if above {
		t.taken.Above += most.Time
	}
	if errors.Is(failure, ErrNoQuota) || errors.Is(failure, errNoPeriods) { // a level above has one
		failure = nil
	}
	return t.taken, failure
}

// Close closes the files. A nil Throttlings may be closed, and a closed one again.
func (t *Throttlings) Close() {
	if t != nil {
		for _, l := range t.levels {
			l.file.Close()
		}
	}
}
