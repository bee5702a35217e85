package main

import "errors"

// The records are kept as JSON in one column each, as small control planes do.
// Times are Unix milliseconds.

// Sandbox is a place where an agent works: about 1.1 KB with its eight events.
type Sandbox struct {
	ID      int64             `json:"id"`
	Name    string            `json:"name"`
	Owner   string            `json:"owner"`
	State   string            `json:"state"`
	Image   string            `json:"image"`
	CPUs    float64           `json:"cpus"`
	Memory  int64             `json:"memory_bytes"`
	Created int64             `json:"created"`
	Settled int64             `json:"settled,omitempty"` // 0 while it lives
	Labels  map[string]string `json:"labels"`
	Events  []Entry           `json:"events"`
}

// Session is a conversation with an agent in a sandbox: about 2 KB with the
// tail of its transcript.
type Session struct {
	ID        int64   `json:"id"`
	Owner     string  `json:"owner"`
	SandboxID int64   `json:"sandbox_id"`
	Sandbox   string  `json:"sandbox"`
	State     string  `json:"state"`
	Turns     int     `json:"turns"` // finished ones
	Created   int64   `json:"created"`
	Tail      []Entry `json:"tail"`
}

// Job is a piece of work that runs without a person: about 30 KB with the
// timeline that a finished one has.
type Job struct {
	ID       int64   `json:"id"`
	Owner    string  `json:"owner"`
	Title    string  `json:"title"`
	State    string  `json:"state"`
	Created  int64   `json:"created"`
	Finished int64   `json:"finished,omitempty"`
	Timeline []Entry `json:"timeline,omitempty"`
}

// Token is what authenticates an engineer.
type Token struct {
	ID      int64    `json:"id"`
	User    string   `json:"user"`
	SHA256  string   `json:"sha256"`
	Scopes  []string `json:"scopes"`
	Created int64    `json:"created"`
}

// Entry is one line of a sandbox's events, a transcript or a timeline. At is
// in milliseconds from the record's creation.
type Entry struct {
	At   int64  `json:"at"`
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// The states of records.
const (
	stateLive    = "live"
	stateSettled = "settled"
	stateIdle    = "idle"
	stateQueued  = "queued"
	stateRunning = "running"
	stateTesting = "testing"
	stateDone    = "done"
)

// pageSize is how many items a listing shows at once.
const pageSize = 50

// Page is one page of a listing, newest first. Next is the cursor of the page
// after it, 0 on the last one.
type Page[T any] struct {
	Items []T   `json:"items"`
	Next  int64 `json:"next,omitempty"`
}

// newPage makes a page of items in which the last one's ID is the cursor.
func newPage[T any](items []T, id func(T) int64) Page[T] {
	p := Page[T]{Items: items}
	if len(items) == pageSize {
		p.Next = id(items[pageSize-1])
	}
	return p
}

// What a store method refuses.
var (
	ErrNotFound = errors.New("not found")
	ErrTaken    = errors.New("the name is taken")
	ErrQuota    = errors.New("too many live sandboxes")
)
