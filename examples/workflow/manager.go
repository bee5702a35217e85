package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"
)

// A Manager is one loop over a workspace: it looks for jobs, claims the ready ones
// in the order of their submission and launches them. It says from within the loop
// that it is alive: a goroutine of its own would go on doing so while the loop
// hangs. All of it belongs to that loop's goroutine.
type Manager struct {
	ws   *Workspace
	name string

	// Workers bounds how many jobs a tick launches, and Launch carries one out. If
	// Launch is nil, ready jobs are found and stay as they are.
	Workers int
	Launch  func(Job) Result
	// Reread has payloads read at every tick, not once.
	Reread bool
	// Beat is how often the manager says that it is alive: between two entries of a
	// folder, if so much has passed. Zero is each time; a negative one leaves out all
	// but the one at the beginning of a tick.
	Beat time.Duration
	// Claimed, if not nil, is told of each job that is claimed.
	Claimed func(name string)
	// Serve, if not nil, is called between two entries: the loop has more to do. An
	// error ends the tick.
	Serve func() error

	now   func() time.Time
	ticks int
	jobs  map[string]*entry

	beats int
	last  time.Time     // beat
	gap   time.Duration // the longest between two of them, and to the end of a tick
}

// An entry is what a manager keeps of a job.
type entry struct {
	marker marker
	job    Job
	seen   int // the last tick that saw it
}

// NewManager is a manager that knows of no job yet.
func NewManager(ws *Workspace, name string) *Manager {
	return &Manager{ws: ws, name: name, Beat: time.Second, now: time.Now, jobs: map[string]*entry{}}
}

// Tick looks at all jobs, lets those continue whose children have ended, and
// claims and launches ready ones. It returns how many are ready before that. What
// is wrong with one job is in the error and does not keep others from being done.
func (m *Manager) Tick() (ready int, err error) {
	m.ticks++
	if err := m.beat(); err != nil {
		return 0, err
	}
	var wrong []error
	err = m.ws.walk(m.turn, func(name string, entries []fs.DirEntry) error {
		if err := m.see(name, entries); err != nil {
			wrong = append(wrong, err)
		}
		return nil
	})
	m.gap = max(m.gap, m.now().Sub(m.last))
	if err != nil {
		return 0, err // what was not seen is still there, perhaps
	}
	maps.DeleteFunc(m.jobs, func(_ string, e *entry) bool { return e.seen != m.ticks })
	for _, name := range m.in(Waiting) {
		if _, err := m.Join(name); err != nil && !errors.Is(err, errLost) {
			wrong = append(wrong, err)
		}
	}
	all := m.in(Ready)
	return len(all), errors.Join(append(wrong, m.claim(all))...)
}

// see brings what is known of a job up to date.
func (m *Manager) see(name string, entries []fs.DirEntry) error {
	marks := markers(entries)
	if len(marks) != 1 {
		return nil // being written, or for Fsck
	}
	e := m.jobs[name]
	if e == nil || m.Reread {
		job, err := m.ws.payload(name)
		if err != nil {
			return err
		}
		e = &entry{job: job}
		m.jobs[name] = e
	}
	e.marker, e.seen = marks[0], m.ticks
	return nil
}

// in are the jobs in a state, in the order of their submission.
func (m *Manager) in(s State) (names []string) {
	for name, e := range m.jobs {
		if e.marker.state == s {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(m.jobs[a].job.Created, m.jobs[b].job.Created), cmp.Compare(a, b))
	})
	return names
}

// States is how many jobs are in each state, as far as the manager knows.
func (m *Manager) States() map[State]int {
	n := map[State]int{}
	for _, e := range m.jobs {
		n[e.marker.state]++
	}
	return n
}

// Join looks whether the children of a waiting job have ended, and makes it ready
// if all have. It says how many have.
func (m *Manager) Join(name string) (ended int, err error) {
	e := m.jobs[name]
	if e == nil || e.marker.state != Waiting {
		return 0, fmt.Errorf("%s: not known to wait", name)
	}
	for _, child := range e.job.Children {
		mark, err := m.ws.marker(child)
		if err != nil {
			return ended, err
		}
		if mark.state.ended() {
			ended++
		}
	}
	if ended < len(e.job.Children) {
		return ended, nil
	}
	return ended, m.move(name, e, marker{state: Ready})
}

// claim claims and launches as many jobs as there are workers. One that another
// manager was quicker to claim is no error.
func (m *Manager) claim(ready []string) error {
	if m.Launch == nil {
		return nil
	}
	var wrong []error
	for launched := 0; launched < m.Workers && len(ready) > 0; ready = ready[1:] {
		name := ready[0]
		e := m.jobs[name]
		err := m.move(name, e, marker{Claimed, m.name})
		if errors.Is(err, errLost) {
			continue
		}
		launched++
		if err == nil {
			if m.Claimed != nil {
				m.Claimed(name)
			}
			err = m.ws.finish(name, e.marker, m.Launch(e.job))
		}
		if err != nil {
			wrong = append(wrong, err)
		}
	}
	return errors.Join(wrong...)
}

// move makes a transition of a job that is known.
func (m *Manager) move(name string, e *entry, to marker) error {
	err := m.ws.move(name, e.marker, to)
	if err == nil {
		e.marker = to
	}
	return err
}

// turn is what the loop does between two entries.
func (m *Manager) turn() error {
	if m.Serve != nil {
		if err := m.Serve(); err != nil {
			return err
		}
	}
	if m.Beat < 0 || m.now().Sub(m.last) < m.Beat {
		return nil
	}
	return m.beat()
}

// beat says that the manager is alive.
func (m *Manager) beat() error {
	now := m.now()
	if m.beats++; m.beats > 1 {
		m.gap = max(m.gap, now.Sub(m.last))
	}
	m.last = now
	return m.ws.files.WriteFile(m.ws.path(managersName, m.name), []byte(now.UTC().Format(time.RFC3339Nano)), 0o600)
}
