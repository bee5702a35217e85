package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
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

// seeder writes until the first error.
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
	if s.err == nil {
		s.err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if s.err == nil {
		s.err = os.WriteFile(path, data, 0o600)
	}
}

// jobs writes jobs.json and the archives.
func (s *seeder) jobs() {
	var jobs []Job
	for i := range jobCount {
		jobs = append(jobs, s.job(i))
	}
	s.write(jobsName, encode(jobs))
	for i := jobCount; i < jobCount+archiveCount; i++ {
		j := s.job(i)
		j.State, j.Done = stateDone, j.Total
		s.write(archived(i), encode([]Job{j}))
	}
}

func (s *seeder) runs() {
	for i := range runCount {
		s.write(runName(i), s.log(i))
	}
}

func (s *seeder) job(i int) Job {
	created := epoch.Add(-time.Hour).UnixMilli() + int64(i)*1000
	j := Job{ID: jobID(i), Group: groupOf(i), Agent: agents[i%len(agents)], State: stateRunning,
		Created: created, Updated: created, Total: s.profile.lines, Prompt: s.text(200)}
	for n := range s.profile.steps {
		j.Steps = append(j.Steps, Step{At: created + int64(n)*500, Kind: kinds[n%len(kinds)], Text: s.text(90)})
	}
	return j
}

// log is a run of about 250 bytes a line. The runs of the first jobs go on.
func (s *seeder) log(i int) (log []byte) {
	at := epoch.Add(-time.Hour).UnixMilli() + int64(i)*1000
	for n := range s.profile.lines {
		l := Line{At: at + int64(n)*500, Kind: kinds[n%len(kinds)], Done: n + 1, Total: s.profile.lines, Text: s.text(160)}
		switch {
		case n == 0:
			l.State = stateRunning
		case n == s.profile.lines-1 && i >= 2*runnerCount:
			l.State = stateDone
		}
		log = append(append(log, encode(l)...), '\n')
	}
	return log
}

var (
	agents = [...]string{"writer", "reviewer", "tester"}
	kinds  = [...]string{"tool", "output", "edit", "progress"}
)

const words = "the agent read the failing test, changed two files, ran the package's tests again and found that the cache was stale; "

func (s *seeder) text(n int) string {
	from := s.rng.IntN(len(words))
	return (words[from:] + words + words)[:n]
}

// encode is json.Marshal of a record, which cannot fail.
func encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}
