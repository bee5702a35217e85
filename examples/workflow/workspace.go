package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidestaff/tidestaff/fsstat"
	"github.com/tidestaff/tidestaff/probe"
)

// The folders of a workspace.
const (
	jobsName     = "jobs"     // <placement>/<id>, a folder for each job
	journalName  = "journal"  // <day>.jsonl, a line for each transition
	managersName = "managers" // <name>, when that manager was last seen alive
)

// The files of a job. Beside them is its marker: an empty file whose name is the
// state of the job, and after an @ the manager that has claimed it. Renaming it is
// the transition, which only one can make.
const (
	payloadName = "payload.json"
	resultName  = "result.json"
)

// A State is where a job is in its life.
type State string

// The states. A waiting job becomes ready when its children have ended.
const (
	New     State = "new" // being written
	Waiting State = "waiting"
	Ready   State = "ready"
	Claimed State = "claimed"
	Done    State = "done"
	Failed  State = "failed"
)

var states = []State{New, Waiting, Ready, Claimed, Done, Failed}

// ended says whether nothing more becomes of a job.
func (s State) ended() bool { return s == Done || s == Failed }

// A marker is what the name of a marker file says.
type marker struct {
	state State
	owner string
}

func (m marker) String() string {
	if m.owner == "" {
		return string(m.state)
	}
	return string(m.state) + "@" + m.owner
}

// markers are those among the files of a job's folder: one, if all is well.
func markers(entries []fs.DirEntry) (all []marker) {
	for _, e := range entries {
		state, owner, _ := strings.Cut(e.Name(), "@")
		if slices.Contains(states, State(state)) && !e.IsDir() {
			all = append(all, marker{State(state), owner})
		}
	}
	return all
}

// A Job is the payload.
type Job struct {
	ID       string   `json:"id"`
	Created  int64    `json:"created"` // its place in the order of submission
	Command  []string `json:"command"`
	Children []string `json:"children,omitempty"` // what it waits for, as <placement>/<id>
}

// A Result is what became of a job that has ended.
type Result struct {
	ID   string `json:"id"`
	Exit int    `json:"exit"`
}

// A Workspace is a folder of jobs, which any number of managers share. Its methods
// may be called from any goroutine.
type Workspace struct {
	dir     string
	files   *fsstat.Probe
	renames *probe.Counter

	mu      sync.Mutex // guards the journal
	journal *fsstat.File
	day     string
}

// OpenWorkspace opens the workspace in a folder, and makes it if there is none.
// Each marker that is renamed is counted.
func OpenWorkspace(dir string, files *fsstat.Probe, renames *probe.Counter) (*Workspace, error) {
	w := &Workspace{dir: dir, files: files, renames: renames}
	for _, name := range []string{jobsName, journalName, managersName} {
		if err := os.MkdirAll(w.path(name), 0o700); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// Close closes the journal.
func (w *Workspace) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closeJournal()
}

func (w *Workspace) closeJournal() error {
	f := w.journal
	if w.journal = nil; f == nil {
		return nil
	}
	return f.Close()
}

func (w *Workspace) path(parts ...string) string {
	return filepath.Join(append([]string{w.dir}, parts...)...)
}

// job is the folder of a job.
func (w *Workspace) job(name string) string { return w.path(jobsName, filepath.FromSlash(name)) }

// Submit adds a job to a placement, a path of folders. It is there, with all that
// belongs to it, when its marker gets the name of its state.
func (w *Workspace) Submit(placement string, j Job) error {
	if !filepath.IsLocal(j.ID) || j.ID != filepath.Base(j.ID) {
		return fmt.Errorf("id %q: not the name of a folder", j.ID)
	}
	payload, err := json.Marshal(j)
	if err != nil {
		return err
	}
	name, state := placement+"/"+j.ID, Ready
	if len(j.Children) > 0 {
		state = Waiting
	}
	dir := w.job(name)
	err = os.MkdirAll(dir, 0o700)
	err = cmp.Or(err, w.files.WriteFile(filepath.Join(dir, payloadName), payload, 0o600))
	err = cmp.Or(err, w.files.WriteFile(filepath.Join(dir, string(New)), nil, 0o600))
	return cmp.Or(err, w.move(name, marker{state: New}, marker{state: state}))
}

// errLost is of a transition that somebody else has made.
var errLost = errors.New("the job is in another state")

// move makes a transition and writes it into the journal.
func (w *Workspace) move(name string, from, to marker) error {
	dir := w.job(name)
	err := os.Rename(filepath.Join(dir, from.String()), filepath.Join(dir, to.String()))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s from %s to %s: %w", name, from, to, errLost)
	case err != nil:
		return err
	}
	w.renames.Add(1)
	return w.log(transition{time.Now().UTC(), name, from.String(), to.String()})
}

// A transition is a line of the journal.
type transition struct {
	At   time.Time `json:"at"`
	Job  string    `json:"job"`
	From string    `json:"from"`
	To   string    `json:"to"`
}

func (w *Workspace) log(t transition) error {
	line, err := json.Marshal(t)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if day := t.At.Format(time.DateOnly); w.journal == nil || w.day != day {
		if err := w.closeJournal(); err != nil {
			return err
		}
		f, err := w.files.OpenFile(w.path(journalName, day+".jsonl"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		w.journal, w.day = f, day
	}
	_, err = w.journal.Write(append(line, '\n'))
	return err
}

// payload reads what is to be done.
func (w *Workspace) payload(name string) (j Job, err error) {
	data, err := w.files.ReadFile(filepath.Join(w.job(name), payloadName))
	if err != nil {
		return j, err
	}
	if err := json.Unmarshal(data, &j); err != nil {
		return j, fmt.Errorf("%s of %s: %w", payloadName, name, err)
	}
	return j, nil
}

// marker is that of a job. Without one, or with several, it is none.
func (w *Workspace) marker(name string) (marker, error) {
	entries, err := w.files.ReadDir(w.job(name))
	if err != nil {
		return marker{}, err
	}
	if all := markers(entries); len(all) == 1 {
		return all[0], nil
	}
	return marker{}, nil
}

// finish writes what came of a job and ends it.
func (w *Workspace) finish(name string, from marker, r Result) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := w.files.WriteFile(filepath.Join(w.job(name), resultName), data, 0o600); err != nil {
		return err
	}
	to := marker{state: Done}
	if r.Exit != 0 {
		to.state = Failed
	}
	return w.move(name, from, to)
}

// walk calls visit for each job, with the files of its folder, and turn, if there
// is one, before each entry of a folder. What vanishes meanwhile is left out.
func (w *Workspace) walk(turn func() error, visit func(name string, entries []fs.DirEntry) error) error {
	var below func(name string) error
	below = func(name string) error {
		entries, err := w.files.ReadDir(w.job(name))
		if errors.Is(err, fs.ErrNotExist) && name != "" {
			return nil
		}
		if err != nil {
			return err
		}
		if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !e.IsDir() }) {
			return visit(name, entries)
		}
		for _, e := range entries {
			if turn != nil {
				if err := turn(); err != nil {
					return err
				}
			}
			if err := below(strings.TrimPrefix(name+"/"+e.Name(), "/")); err != nil {
				return err
			}
		}
		return nil
	}
	return below("")
}
