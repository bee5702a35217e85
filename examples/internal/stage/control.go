package stage

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"sync"
)

// The commands that a parent sends.
const (
	doOpen  = "open"
	doClose = "close"
	doStop  = "stop"
)

// roleVar is the environment variable that tells a re-executed binary which
// part it plays. Child unsets it, so that what the child itself starts (git, a
// helper of its own) is not taken for a child of the stage.
const roleVar = "TIDESTAFF_STAGE_ROLE"

// Role returns the part that this process plays, or "" for the process that
// the user started. A main function asks first of all.
func Role() string { return os.Getenv(roleVar) }

// command is one line from the parent to the child.
type command struct {
	ID    uint64 `json:"id"`
	Do    string `json:"do"`
	Phase string `json:"phase,omitempty"`
}

// reply is one line from the child to the parent. ID 0 is the hello, which
// carries the address or says why there is none. The report travels as base64,
// so that it arrives byte for byte: as nested JSON it would be compacted.
type reply struct {
	ID     uint64 `json:"id"`
	Addr   string `json:"addr,omitempty"`
	Report []byte `json:"report,omitempty"`
	Error  string `json:"error,omitempty"`
}

// lines decodes one T after the other until r ends, and returns nil at its end.
func lines[T any](r io.Reader, each func(T)) error {
	dec := json.NewDecoder(bufio.NewReader(r))
	for {
		var v T
		switch err := dec.Decode(&v); err {
		case nil:
			each(v)
		case io.EOF:
			return nil
		default:
			return err
		}
	}
}

// mailbox matches replies with the calls that wait for them.
type mailbox struct {
	mu      sync.Mutex
	last    uint64
	waiting map[uint64]chan reply
}

// expect reserves the next ID and the channel on which its reply will arrive.
// The channel has room for it, so that a delivery never blocks the reader.
func (m *mailbox) expect() (uint64, chan reply) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.waiting == nil {
		m.waiting = make(map[uint64]chan reply)
	}
	m.last++
	answer := make(chan reply, 1)
	m.waiting[m.last] = answer
	return m.last, answer
}

// forget gives up on an ID: its reply, should it come late, is dropped.
func (m *mailbox) forget(id uint64) {
	m.mu.Lock()
	delete(m.waiting, id)
	m.mu.Unlock()
}

// deliver hands r to whoever waits for it.
func (m *mailbox) deliver(r reply) {
	m.mu.Lock()
	answer := m.waiting[r.ID]
	delete(m.waiting, r.ID)
	m.mu.Unlock()
	if answer != nil {
		answer <- r
	}
}
