package main

import (
	"bytes"
	"encoding/json"
	"time"
)

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
	Agent   string `json:"agent"`
	State   string `json:"state"`
	Created int64  `json:"created"`
	Updated int64  `json:"updated"`
	Done    int    `json:"done"` // of Total
	Total   int    `json:"total"`
	Prompt  string `json:"prompt"`
	Steps   []Step `json:"steps"`
}

// Step is one thing that an agent did.
type Step struct {
	At   int64  `json:"at"`
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// Progress is how far a job is, as its manager tells.
type Progress struct {
	Job   string `json:"job"`
	Done  int    `json:"done"`
	Total int    `json:"total"`
}

// Line is one line of a run's log.
type Line struct {
	At    int64  `json:"at"`
	Kind  string `json:"kind"`
	State string `json:"state,omitempty"` // if it changes
	Done  int    `json:"done"`
	Total int    `json:"total"`
	Text  string `json:"text"`
}

// Summary is what a dashboard shows of a run. All of it but Stale follows from
// the log alone.
type Summary struct {
	Run     string `json:"run"` // the log's path in the store
	State   string `json:"state"`
	Lines   int    `json:"lines"`
	Broken  int    `json:"broken,omitempty"` // lines that are no JSON, such as a half-written last one
	Started int64  `json:"started"`
	Updated int64  `json:"updated"`
	Done    int    `json:"done"`
	Total   int    `json:"total"`
	Stale   bool   `json:"stale,omitempty"` // it runs and has said nothing for a minute
}

// staleAfter is how long a run may say nothing.
const staleAfter = time.Minute

// at is the summary as of a time. What depends on the clock must not be kept
// with what was read: an unchanged log is what makes a run stale.
func (s Summary) at(now time.Time) Summary {
	s.Stale = s.State == stateRunning && now.Sub(time.UnixMilli(s.Updated)) > staleAfter
	return s
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
