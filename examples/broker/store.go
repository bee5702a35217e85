package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/tidestaff/tidestaff/fsstat"
)

// The names in the store's folder.
const (
	jobsName    = "jobs.json"
	lockName    = "jobs.lock"
	archiveName = "archive" // a file for each archived job
	runsName    = "runs"    // logs, two levels down
)

// Store is the broker's job files. It belongs to the dispatcher.
type Store struct {
	dir   string
	files *fsstat.Probe

	// The caches are nil in a store that reads everything anew.
	parsed    *cache[parsed]
	summaries *cache[Summary]
	folders   *cache[[]fs.DirEntry]
	merged    *Registry // of the parsed files, for as long as none of them changes
}

// OpenStore makes a store on the job files in a folder.
func OpenStore(dir string, files *fsstat.Probe, cached bool) *Store {
	s := &Store{dir: dir, files: files}
	if cached {
		s.parsed, s.summaries, s.folders = newCache[parsed](), newCache[Summary](), newCache[[]fs.DirEntry]()
	}
	return s
}

// Forget empties the caches, if there are any: what follows is cold.
func (s *Store) Forget() { *s = *OpenStore(s.dir, s.files, s.parsed != nil) }

func (s *Store) path(name string) string { return filepath.Join(s.dir, name) }

// settled is how old a folder's last change must be for its listing to be kept:
// the coarsest clock of a file system still in use has steps of two seconds,
// and what is made in the same step does not change the folder's time again.
const settled = 2 * time.Second

// list lists a folder. Its time changes when a file in it is made or removed.
func (s *Store) list(files fsstat.View, dir string) ([]fs.DirEntry, error) {
	if s.folders == nil {
		return files.ReadDir(dir)
	}
	info, err := files.Lstat(dir)
	if err != nil {
		return nil, err
	}
	if entries, ok := s.folders.get(dir, identityOf(info)); ok {
		return entries, nil
	}
	entries, err := files.ReadDir(dir)
	if err == nil && time.Since(info.ModTime()) > settled {
		bytes := 0
		for _, e := range entries {
			bytes += len(e.Name())
		}
		s.folders.put(dir, identityOf(info), int64(bytes), entries)
	}
	return entries, err
}

// walk visits the regular files in dir and below by name. One that is gone when
// it is visited is none.
func (s *Store) walk(files fsstat.View, dir string, visit func(path string) error) error {
	entries, err := s.list(files, dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case e.IsDir():
			err = s.walk(files, path, visit)
		case e.Type().IsRegular():
			err = visit(path)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Summaries are those of all runs, as of now.
func (s *Store) Summaries(ctx context.Context) ([]Summary, error) {
	files, root, now := s.files.In(ctx), s.path(runsName), time.Now()
	all := make([]Summary, 0, runCount)
	err := s.walk(files, root, func(path string) error {
		sum, _, err := load(files, s.summaries, path, func(log []byte) (Summary, int64) {
			run, _ := filepath.Rel(root, path) // it is below
			sum := summarize(filepath.ToSlash(run), log)
			return sum, int64(len(sum.Run) + len(sum.State))
		})
		if err == nil {
			all = append(all, sum.at(now))
		}
		return err
	})
	return all, err
}

// SaveProgress writes the progress of some jobs to jobs.json: read, merge,
// write, under the lock that everyone takes who does.
func (s *Store) SaveProgress(ctx context.Context, updates []Progress) (err error) {
	files := s.files.In(ctx)
	unlock, err := s.lock(files)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	current, _, err := load(files, s.parsed, s.path(jobsName), decodeJobs)
	if err = errors.Join(err, current.err); err != nil {
		return err
	}
	jobs := slices.Clone(current.jobs) // what was parsed may be shared
	for _, u := range updates {
		i := slices.IndexFunc(jobs, func(j Job) bool { return j.ID == u.Job })
		if i < 0 {
			return fmt.Errorf("progress of job %q: %w", u.Job, errUnknownJob)
		}
		jobs[i].Done, jobs[i].Total, jobs[i].Updated = u.Done, u.Total, time.Now().UnixMilli()
	}
	return s.writeJobs(files, jobs)
}

var errUnknownJob = errors.New("no such job")

// writeJobs puts a new jobs.json in the place of the old one and, since this is
// what is in it, keeps it as parsed.
func (s *Store) writeJobs(files fsstat.View, jobs []Job) error {
	path := s.path(jobsName)
	data, err := json.Marshal(jobsFile{Version: 1, Jobs: jobs})
	if err != nil {
		return err
	}
	if err := files.WriteFile(path+".new", data, 0o600); err != nil {
		return err
	}
	if err := os.Rename(path+".new", path); err != nil {
		return err
	}
	s.merged = nil
	if s.parsed == nil {
		return nil
	}
	info, err := files.Lstat(path)
	if err == nil {
		s.parsed.put(path, identityOf(info), int64(len(data)), parsed{jobs: jobs})
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
