package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"
)

// errEnough ends a walk whose caller has seen enough.
var errEnough = errors.New("enough")

// Harvest are the results of the jobs that have ended, read one by one as they are
// asked for.
func (w *Workspace) Harvest() iter.Seq2[Result, error] {
	return func(yield func(Result, error) bool) {
		err := w.walk(nil, func(name string, entries []fs.DirEntry) error {
			if marks := markers(entries); len(marks) != 1 || !marks[0].state.ended() {
				return nil
			}
			if !yield(w.result(name)) {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(Result{}, err)
		}
	}
}

func (w *Workspace) result(name string) (r Result, err error) {
	data, err := w.files.ReadFile(filepath.Join(w.job(name), resultName))
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		return r, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

// A Damage is what is wrong with a job.
type Damage struct{ Job, Fault string }

// The faults that Fsck finds.
const (
	noMarker    = "no marker"
	manyMarkers = "several markers"
	noPayload   = "its payload is not of this job, or cannot be read"
	noOwner     = "claimed by a manager of which there is no heartbeat"
	noResult    = "ended, and its result cannot be read"
)

// Fsck looks at every file of every job, and says what is wrong with them.
func (w *Workspace) Fsck() (found []Damage, err error) {
	alive, err := w.files.ReadDir(w.path(managersName))
	if err != nil {
		return nil, err
	}
	err = w.walk(nil, func(name string, entries []fs.DirEntry) error {
		marks := markers(entries)
		damage := func(is bool, fault string) {
			if is {
				found = append(found, Damage{name, fault})
			}
		}
		damage(len(marks) == 0, noMarker)
		damage(len(marks) > 1, manyMarkers)
		job, err := w.payload(name)
		damage(err != nil || job.ID != path.Base(name), noPayload)
		for _, m := range marks {
			damage(m.state == Claimed && !slices.ContainsFunc(alive, func(e fs.DirEntry) bool { return e.Name() == m.owner }), noOwner)
			if m.state.ended() {
				_, err := w.result(name)
				damage(err != nil, noResult)
			}
		}
		return nil
	})
	return found, err
}

// GC forgets the days of the journal that are at least so many days old, and
// returns how many transitions they had. Zero days forgets today too.
func (w *Workspace) GC(days int) (transitions int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.closeJournal(); err != nil {
		return 0, err
	}
	entries, err := w.files.ReadDir(w.path(journalName))
	if err != nil {
		return 0, err
	}
	keep := time.Now().UTC().AddDate(0, 0, 1-days).Format(time.DateOnly) // from then on
	for _, e := range entries {
		if e.Name() >= keep {
			continue
		}
		n, err := w.lines(e.Name())
		if err != nil {
			return transitions, err
		}
		transitions += n
		if err := os.Remove(w.path(journalName, e.Name())); err != nil {
			return transitions, err
		}
	}
	return transitions, nil
}

// lines counts the transitions of one day.
func (w *Workspace) lines(day string) (n int, err error) {
	f, err := w.files.Open(w.path(journalName, day))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var t transition
		if err := json.Unmarshal(lines.Bytes(), &t); err != nil {
			return n, fmt.Errorf("%s, line %d: %w", day, n+1, err)
		}
		n++
	}
	return n, lines.Err()
}
