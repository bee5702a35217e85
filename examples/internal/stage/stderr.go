package stage

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

const (
	tailLines = 20  // lines of a child's standard error that are kept
	tailWidth = 400 // bytes of a line that are kept
)

// tail is an io.Writer that keeps the last lines of a child's standard error,
// and passes all of it on. It also keeps the line with which a panic began:
// the last line of a crashed Go program is a stack frame, which tells nobody
// what went wrong.
type tail struct {
	next io.Writer // may be nil

	mu      sync.Mutex
	partial []byte
	kept    []string
	crash   string
}

// Write implements io.Writer. It never fails: a broken next writer must not
// block or end the child.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.next != nil {
		_, _ = t.next.Write(p)
	}
	for rest := p; len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		t.partial = append(t.partial, line[:min(len(line), tailWidth-min(len(t.partial), tailWidth))]...)
		if ended {
			t.keep(string(t.partial))
			t.partial = t.partial[:0]
		}
		rest = after
	}
	return len(p), nil
}

// keep stores one whole line; the caller holds the lock.
func (t *tail) keep(line string) {
	line = strings.TrimRight(line, " \t\r")
	if line == "" {
		return
	}
	if t.crash == "" && (strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ")) {
		t.crash = line
	}
	if t.kept = append(t.kept, line); len(t.kept) > tailLines {
		t.kept = t.kept[1:]
	}
}

// last returns the line that says most about how the child ended: a panic's
// first line, else the last line, else "".
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.crash != "" {
		return t.crash
	}
	if line := strings.TrimSpace(string(t.partial)); line != "" {
		return line
	}
	if n := len(t.kept); n > 0 {
		return t.kept[n-1]
	}
	return ""
}

// text returns the kept lines.
func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(append(t.kept[:len(t.kept):len(t.kept)], string(t.partial)), "\n")
}
