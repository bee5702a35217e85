package fsstattest

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/tidestaff/tidestaff/fsstat"
	"github.com/tidestaff/tidestaff/probe"
)

// flagName is the flag by which the go command asks a test binary for its log.
const flagName = "test.testlogfile"

// current is the log of this process: there is one, as there is one package os.
var current = testLog{reason: errors.New("fsstattest: the tests do not run under fsstattest.Run")}

// A testLog reads the lines of the log as they come.
type testLog struct {
	one sync.Mutex // held by an Around

	mu     sync.Mutex
	reason error            // why there is no log now; nil if there is one
	opened map[string]int64 // by name, while somebody records; else nil
	marks  int              // how many there have been
	passed chan int         // the mark that the reader has passed
}

// Run is m.Run with the log on; it is for TestMain, whose *testing.M m is. It
// returns the exit code.
func Run(m interface{ Run() int }) int {
	if !flag.Parsed() {
		flag.Parse() // the go command's own file is known from then on
	}
	return current.run(m, flag.Lookup(flagName))
}

func (l *testLog) run(m interface{ Run() int }, f *flag.Flag) int {
	end, err := l.start(f)
	if err != nil {
		l.set(err)
		return m.Run()
	}
	l.set(nil)
	code := m.Run()
	l.set(errors.New("fsstattest: the tests have ended"))
	end()
	return code
}

func (l *testLog) set(reason error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reason = reason
}

// start has the log written to a pipe of ours. What is returned ends that, when
// everything has been read, and sets the flag back.
func (l *testLog) start(f *flag.Flag) (end func(), err error) {
	switch {
	case runtime.GOOS != "linux":
		return nil, fmt.Errorf("fsstattest: no pipe can be opened by name on %s: %w", runtime.GOOS, probe.ErrUnsupported)
	case f == nil:
		return nil, fmt.Errorf("fsstattest: this binary has no flag -%s: %w", flagName, probe.ErrUnsupported)
	}
	asked := f.Value.String()
	var forGo io.Writer = io.Discard
	if asked != "" {
		// A second run adds to what the first one wrote.
		file, err := os.OpenFile(asked, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
		if err != nil {
			return nil, err
		}
		forGo = file
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	if err := f.Value.Set(fmt.Sprintf("/proc/self/fd/%d", w.Fd())); err != nil {
		return nil, err
	}
	(*fsstat.Probe)(nil).Opened(func() {}) // probes keep the opens under way from here on
	l.passed = make(chan int, 1)
	var reader sync.WaitGroup
	reader.Go(func() { l.read(r, forGo) })
	return func() {
		_ = f.Value.Set(asked)
		// Package testing closes its end after the first run only, so that the
		// end is said here, on a line of its own whatever came before.
		_, _ = fmt.Fprintf(w, "\nstat %s%d-\n", markPrefix, lastMark)
		reader.Wait()
		_ = w.Close()
		_ = r.Close()
		if file, ok := forGo.(*os.File); ok {
			_ = file.Close()
		}
	}, nil
}

// read reads the log to its end. It must not wait for anybody: whoever opens a
// file writes to the pipe.
func (l *testLog) read(r io.Reader, forGo io.Writer) {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		op, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		mark, marked := markOf(name)
		switch {
		case err != nil || mark == lastMark:
			return
		case marked:
			l.passMark(mark)
		case line != "\n":
			_, _ = io.WriteString(forGo, line)
			if op == "open" {
				l.note(name)
			}
		}
	}
}

// note counts an open, if somebody records.
func (l *testLog) note(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.opened != nil {
		l.opened[name]++
	}
}

func (l *testLog) passMark(mark int) {
	select {
	case <-l.passed: // an older one that nobody took
	default:
	}
	l.passed <- mark
}

// record runs do and returns what was opened meanwhile.
func (l *testLog) record(do func()) (map[string]int64, error) {
	l.mu.Lock()
	reason := l.reason
	l.mu.Unlock()
	if reason != nil {
		return nil, reason
	}
	if err := l.flush(); err != nil {
		return nil, err
	}
	l.mu.Lock()
	l.opened = map[string]int64{}
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.opened = nil
	}()
	do()
	err := l.flush()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.opened, err
}

// The log is written through a buffer, so that the last lines are not here yet. A
// mark is a look at a file that does not exist, with a name that is longer than
// the buffer; the next one pushes the end of its line through.
const (
	markPrefix = "fsstattest-mark-"
	markLength = 16 << 10
	lastMark   = -1 // after it nothing more is read
)

// patience is how long a mark may take to come through.
const patience = 20 * time.Second

// markOf is the number of a mark.
func markOf(name string) (n int, ok bool) {
	text, ok := strings.CutPrefix(name, markPrefix)
	if !ok {
		return 0, false
	}
	_, err := fmt.Sscanf(text, "%d-", &n)
	return n, err == nil
}

// flush waits until everything logged so far has been read.
func (l *testLog) flush() error {
	l.marks++
	mark := fmt.Sprintf("%s%d-", markPrefix, l.marks)
	mark += strings.Repeat("x", markLength-len(mark))
	_, _ = os.Stat(mark)
	_, _ = os.Stat(mark)
	late := time.After(patience)
	for {
		select {
		case mark := <-l.passed:
			if mark == l.marks {
				return nil
			}
		case <-late:
			return fmt.Errorf("fsstattest: package os has logged nothing for %v: %w", patience, probe.ErrUnsupported)
		}
	}
}
