package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/tidestaff/tidestaff/examples/internal/page"
	"github.com/tidestaff/tidestaff/fsstat"
)

// The names in the store's folder.
const (
	jobsName    = "jobs.json"
	lockName    = "jobs.lock"
	archiveName = "archive" // a file like jobs.json for each job that has ended
	runsName    = "runs"    // logs, two levels down
)

// Store is the broker's job files. It belongs to the dispatcher.
type Store struct {
	dir   string
	files *fsstat.Probe

	// The caches are nil in a store that reads everything anew.
	parsed    *cache[parsed]
	summaries *cache[Summary]
}

// parsed are the jobs of one file, or why there are none. That is kept like a
// result: a malformed file is parsed once, told of each time, and read again
// when it has changed.
type parsed struct {
	jobs []Job // shared: not to be written to
	err  error
}

// OpenStore makes a store on the job files in a folder.
func OpenStore(dir string, files *fsstat.Probe, cached bool) *Store {
	s := &Store{dir: dir, files: files}
	if cached {
		s.parsed = newCache[parsed](maxBytes)
		s.summaries = newCache[Summary](math.MaxInt64) // small, however long the log is
	}
	return s
}

// Forget empties the caches, if there are any: what follows is cold.
func (s *Store) Forget() { *s = *OpenStore(s.dir, s.files, s.parsed != nil) }

func (s *Store) path(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

// walk visits the regular files in a folder of the store and below, in the
// order of their names, which begin with the folder's. One that has gone when it
// is visited is none.
func (s *Store) walk(files fsstat.View, folder string, visit func(name string) error) error {
	return fs.WalkDir(files.DirFS(s.path(folder)), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			err = visit(folder + "/" + name)
		}
		if errors.Is(err, fs.ErrNotExist) && name != "." {
			return nil
		}
		return err
	})
}

// read is what a file has of jobs.
func (s *Store) read(files fsstat.View, name string) ([]Job, error) {
	p, err := load(files, s.parsed, s.path(name), func(data []byte) (p parsed) {
		if err := json.Unmarshal(data, &p.jobs); err != nil {
			return parsed{err: fmt.Errorf("parse %s: %w", name, err)}
		}
		return p
	})
	return p.jobs, cmp.Or(err, p.err)
}

// Jobs are those of jobs.json and of all archives by ID, which a store with
// caches reads only if they have changed; the first file that has a job wins.
// Malformed says what is wrong with the files that could not be read or parsed:
// the jobs of the others are all there. The jobs are the caller's, except for their
// Steps, which are shared with the cache and not to be written to.
func (s *Store) Jobs(ctx context.Context) (jobs map[string]Job, malformed []string, err error) {
	files := s.files.In(ctx)
	jobs = map[string]Job{}
	add := func(name string) error {
		these, err := s.read(files, name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			malformed = append(malformed, err.Error())
			return nil
		}
		for _, j := range these {
			if _, known := jobs[j.ID]; !known {
				jobs[j.ID] = j
			}
		}
		return err
	}
	if err = add(jobsName); err == nil {
		err = s.walk(files, archiveName, add)
	}
	return jobs, malformed, err
}

// Summaries are those of all runs.
func (s *Store) Summaries(ctx context.Context) ([]Summary, error) {
	files := s.files.In(ctx)
	all := make([]Summary, 0, runCount)
	err := s.walk(files, runsName, func(name string) error {
		sum, err := load(files, s.summaries, s.path(name), func(log []byte) Summary { return summarize(name, log) })
		if err == nil {
			all = append(all, sum)
		}
		return err
	})
	return all, err
}

var errUnknownJob = errors.New("no such job")

// SaveProgress writes the progress of some jobs to jobs.json: read, merge,
// write, under the lock that everyone takes who does.
func (s *Store) SaveProgress(ctx context.Context, updates []Progress) (err error) {
	files := s.files.In(ctx)
	unlock, err := s.lock(files)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	shared, err := s.read(files, jobsName)
	if err != nil {
		return err
	}
	jobs := slices.Clone(shared)
	for _, u := range updates {
		i := slices.IndexFunc(jobs, func(j Job) bool { return j.ID == u.Job })
		if i < 0 {
			return fmt.Errorf("progress of job %q: %w", u.Job, errUnknownJob)
		}
		jobs[i].Done, jobs[i].Total, jobs[i].Updated = u.Done, u.Total, time.Now().UnixMilli()
	}
	return s.write(files, jobs)
}

// write puts a new jobs.json in the place of the old one and, since this is
// what is in it, keeps it as parsed.
func (s *Store) write(files fsstat.View, jobs []Job) error {
	path := s.path(jobsName)
	if err := files.WriteFile(path+".new", page.Encode(jobs), 0o600); err != nil {
		return err
	}
	if err := os.Rename(path+".new", path); err != nil || s.parsed == nil {
		return err
	}
	info, err := files.Lstat(path)
	if err == nil {
		s.parsed.put(path, info, parsed{jobs: jobs})
	}
	return err
}

// How long the lock is waited for, and how often it is tried.
const (
	lockWait = 2 * time.Second
	lockPoll = 10 * time.Millisecond
)

// lock makes the lock file, which works on every system, and returns what
// removes it.
func (s *Store) lock(files fsstat.View) (unlock func() error, err error) {
	path := s.path(lockName)
	for end := time.Now().Add(lockWait); ; time.Sleep(lockPoll) {
		f, err := files.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil {
			f.Close() // nothing was written
			return func() error { return os.Remove(path) }, nil
		}
		if !errors.Is(err, fs.ErrExist) || time.Now().After(end) {
			return nil, fmt.Errorf("lock the jobs: %w", err)
		}
	}
}
