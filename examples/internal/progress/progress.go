// Package progress shows how far an example is: one line on a terminal that is
// rewritten in place, lines one below the other in a log.
//
// A Line is for the standard error of a command, so that its result alone is on
// the standard output. A terminal is told from a file or a pipe by its mode, on
// each operating system.
package progress

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// How often Follow tells the state: often where the line is rewritten, seldom
// where lines pile up.
const (
	everyTerminal = time.Second
	everyLog      = 2 * time.Second
)

// clear goes to the start of a terminal's line and erases it.
const clear = "\r\x1b[K"

// A Line is a place for progress. Its methods may be called from any goroutine.
type Line struct {
	name     string
	terminal bool

	mu    sync.Mutex
	w     io.Writer
	shown bool // a line is on the terminal
}

// New makes a line on w that begins with a name, such as the variant that runs.
func New(w io.Writer, name string) *Line {
	l := &Line{w: w, name: name}
	if f, ok := w.(*os.File); ok {
		info, err := f.Stat()
		l.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return l
}

// Say shows a state. Errors of w are ignored: progress is not the result.
func (l *Line) Say(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before, after := "", "\n"
	if l.terminal {
		before, after, l.shown = clear, "", true
	}
	fmt.Fprintf(l.w, "%s%-6s  %s%s", before, l.name, fmt.Sprintf(format, args...), after)
}

// Follow says what state returns every now and then, until stop is called;
// stop waits for the last word.
func (l *Line) Follow(state func() string) (stop func()) {
	every := everyLog
	if l.terminal {
		every = everyTerminal
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				l.Say("%s", state())
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(done)
		<-ended
	})
}

// End takes the line off a terminal, so that only the result stays there.
func (l *Line) End() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shown {
		fmt.Fprint(l.w, clear)
		l.shown = false
	}
}
