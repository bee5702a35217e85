package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
)

// parsed are the jobs of one file, or why there are none. That is kept like a
// result: a malformed file is parsed once, told of each time, and read again
// when it has changed.
type parsed struct {
	jobs []Job // shared: not to be written to
	err  error
}

func decodeJobs(data []byte) (parsed, int64) {
	var f jobsFile
	if err := json.Unmarshal(data, &f); err != nil {
		return parsed{err: fmt.Errorf("parse %s: %w", jobsName, err)}, int64(len(data))
	}
	return parsed{jobs: f.Jobs}, int64(len(data))
}

func decodeArchive(name string, data []byte) (parsed, int64) {
	var j Job
	err := json.Unmarshal(data, &j)
	if err == nil && j.ID == "" {
		err = errors.New("a job without an id")
	}
	if err != nil {
		return parsed{err: fmt.Errorf("parse %s/%s: %w", archiveName, name, err)}, int64(len(data))
	}
	return parsed{jobs: []Job{j}}, int64(len(data))
}

// Registry is what all job files together know.
type Registry struct {
	// Malformed says what is wrong with those files that could not be read or
	// parsed. The jobs of the others are all there.
	Malformed []string

	jobs   map[string]*Job
	groups map[string][]string // their IDs by group
	files  int                 // that it was made of
}

// merge makes a registry of parsed files, of which the first one that has a job
// wins.
func merge(files []parsed) *Registry {
	r := &Registry{jobs: map[string]*Job{}, groups: map[string][]string{}, files: len(files)}
	for _, f := range files {
		if f.err != nil {
			r.Malformed = append(r.Malformed, f.err.Error())
		}
		for i := range f.jobs {
			j := &f.jobs[i]
			if r.jobs[j.ID] == nil {
				r.jobs[j.ID] = j
				r.groups[j.Group] = append(r.groups[j.Group], j.ID)
			}
		}
	}
	return r
}

// Job is a copy of a job: what is done with it reaches no one else.
func (r *Registry) Job(id string) (Job, bool) {
	j := r.jobs[id]
	if j == nil {
		return Job{}, false
	}
	return j.clone(), true
}

// Siblings are the IDs of the other jobs of a job's group, archived ones
// included.
func (r *Registry) Siblings(id string) []string {
	j := r.jobs[id]
	if j == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(r.groups[j.Group]), func(other string) bool { return other == id })
}

// Registry reads jobs.json and all archives, or of a store with caches those
// that have changed.
func (s *Store) Registry(ctx context.Context) (*Registry, error) {
	files := s.files.In(ctx)
	jobs, changed, err := load(files, s.parsed, s.path(jobsName), decodeJobs)
	if err != nil {
		return nil, err
	}
	all := []parsed{jobs}
	err = s.walk(files, s.path(archiveName), func(path string) error {
		p, fresh, err := load(files, s.parsed, path, func(data []byte) (parsed, int64) {
			return decodeArchive(filepath.Base(path), data)
		})
		if errors.Is(err, fs.ErrNotExist) {
			return err // it was there when the folder was listed
		}
		changed = changed || fresh || err != nil
		p.err = errors.Join(p.err, err) // one that cannot be read is not kept
		all = append(all, p)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if s.merged != nil && !changed && len(all) == s.merged.files {
		return s.merged, nil
	}
	r := merge(all)
	if s.parsed != nil {
		s.merged = r
	}
	return r, nil
}
