package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/tidestaff/tidestaff/examples/internal/page"
)

// epoch is when the records end. It is fixed, so that a seed gives the same
// bytes on any day.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Jobs and runs have names by their number. The first runnerCount jobs are the
// runners', as many next ones run elsewhere.
func jobID(i int) string   { return fmt.Sprintf("job-%04d", i+1) }
func groupOf(i int) string { return fmt.Sprintf("manager-%d", i%managerCount+1) }

// runName is the path of a log in the store: ten batches for each manager.
func runName(i int) string {
	return fmt.Sprintf("%s/%s/batch-%02d/run-%04d.jsonl", runsName, groupOf(i), i/managerCount%10+1, i+1)
}

// archived is the path of an archived job's file.
func archived(i int) string { return archiveName + "/" + jobID(i) + ".json" }

// Seed fills a folder with job files. The same seed makes the same ones.
func Seed(dir string, seed uint64, p profile) error {
	s := newSeeder(dir, seed, p)
	s.jobs()
	s.runs()
	if s.err != nil {
		return fmt.Errorf("seed: %w", s.err)
	}
	return nil
}

// seeder writes what it can and keeps the first error.
type seeder struct {
	dir     string
	rng     *rand.Rand
	profile profile
	err     error
}

func newSeeder(dir string, seed uint64, p profile) *seeder {
	return &seeder{dir: dir, rng: rand.New(rand.NewPCG(seed, 1)), profile: p}
}

func (s *seeder) write(name string, data []byte) {
	path := filepath.Join(s.dir, name)
	s.err = cmp.Or(s.err, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, data, 0o600))
}

// jobs writes jobs.json and the archives.
func (s *seeder) jobs() {
	var jobs []Job
	for i := range jobCount {
		jobs = append(jobs, s.job(i))
	}
	s.write(jobsName, page.Encode(jobs))
	for i := jobCount; i < jobCount+archiveCount; i++ {
		j := s.job(i)
		j.State, j.Done = stateDone, j.Total
		s.write(archived(i), page.Encode([]Job{j}))
	}
}

func (s *seeder) runs() {
	for i := range runCount {
		s.write(runName(i), s.log(i))
	}
}

func (s *seeder) job(i int) Job {
	created := epoch.Add(-time.Hour).UnixMilli() + int64(i)*1000
	j := Job{ID: jobID(i), Group: groupOf(i), State: stateRunning,
		Created: created, Updated: created, Total: s.profile.lines, Prompt: page.Text(s.rng, 220)}
	for n := range s.profile.steps {
		j.Steps = append(j.Steps, Line{At: created + int64(n)*500, Text: page.Text(s.rng, 108)})
	}
	return j
}

// log is a run of about 250 bytes a line. The runs of the first jobs go on.
func (s *seeder) log(i int) (log []byte) {
	at := epoch.Add(-time.Hour).UnixMilli() + int64(i)*1000
	for n := range s.profile.lines {
		l := Line{At: at + int64(n)*500, Done: n + 1, Total: s.profile.lines, Text: page.Text(s.rng, 175)}
		switch {
		case n == 0:
			l.State = stateRunning
		case n == s.profile.lines-1 && i >= 2*runnerCount:
			l.State = stateDone
		}
		log = append(append(log, page.Encode(l)...), '\n')
	}
	return log
}

// Times in the records are Unix milliseconds.

// The states of a job and of its runs.
const (
	stateRunning = "running"
	stateDone    = "done"
)

// Job is a piece of work of an agent: about 2 KB with its steps.
type Job struct {
	ID      string `json:"id"`
	Group   string `json:"group"` // the manager that runs it; jobs of one are siblings
	State   string `json:"state"`
	Created int64  `json:"created"`
	Updated int64  `json:"updated"`
	Done    int    `json:"done"` // of Total
	Total   int    `json:"total"`
	Prompt  string `json:"prompt"`
	Steps   []Line `json:"steps"`
}

// Progress is how far a job is, as its manager tells.
type Progress struct {
	Job   string `json:"job"`
	Done  int    `json:"done"`
	Total int    `json:"total"`
}

// Line is one line of a run's log, or one step of a job.
type Line struct {
	At    int64  `json:"at"`
	State string `json:"state,omitempty"` // if it changes
	Done  int    `json:"done,omitempty"`
	Total int    `json:"total,omitempty"`
	Text  string `json:"text"`
}

// Summary is what a dashboard shows of a run. It follows from the log alone: what
// depends on the clock must not be kept with what was read.
type Summary struct {
	Run     string `json:"run"` // the log's path in the store
	State   string `json:"state"`
	Lines   int    `json:"lines"`
	Broken  int    `json:"broken,omitempty"` // lines that are no JSON, such as a half-written last one
	Started int64  `json:"started"`
	Updated int64  `json:"updated"`
	Done    int    `json:"done"`
	Total   int    `json:"total"`
}

// summarize parses each line of a log.
func summarize(run string, log []byte) Summary {
	s := Summary{Run: run}
	for text := range bytes.Lines(log) {
		var l Line
		if json.Unmarshal(text, &l) != nil {
			s.Broken++
			continue
		}
		if s.Lines == 0 {
			s.Started = l.At
		}
		s.Lines++
		s.Updated, s.Done, s.Total = l.At, l.Done, l.Total
		if l.State != "" {
			s.State = l.State
		}
	}
	return s
}
