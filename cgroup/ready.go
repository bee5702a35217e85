package cgroup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// readyEvery is the time between two readiness checks.
const readyEvery = 50 * time.Millisecond

// How a service is ended.
const (
	// askFor is how long it has to end by itself after it was asked to.
	askFor = 5 * time.Second
	// outputFor is how long its output is waited for after its end: a process
	// that it started may hold the pipe for longer.
	outputFor = time.Second
)

// A ReadyTime is how long one start of a service took.
type ReadyTime struct {
	// Took is the time from just before the process was started to the return
	// of the first check that succeeded.
	Took time.Duration
	// Prov says by how much Took may be too long: MaxGap, since the service
	// became ready at some time after the last check that failed had begun.
	// Samples are the checks.
	Prov probe.Provenance
}

// ReadyTimes are those of several starts, in their order.
type ReadyTimes []ReadyTime

// String has every value in seconds, the largest uncertainty, and what the times
// include.
func (r ReadyTimes) String() string {
	if len(r) == 0 {
		return "no start"
	}
	times := make([]string, len(r))
	var gap time.Duration
	for i, one := range r {
		times[i] = fmt.Sprintf("%.3f", one.Took.Seconds())
		gap = max(gap, one.Prov.MaxGap)
	}
	return fmt.Sprintf("%s s, each at most %v too long; from before fork and exec, through the runtime's and the service's own start, "+
		"to the return of the first check that succeeded", strings.Join(times, ", "), gap.Round(time.Millisecond))
}

// StartToReady starts a service n times, one after the other, and measures how
// long each start took until check succeeded. command makes the command anew for
// each start. check asks the service whether it is ready, such as by a GET of its
// /readyz. It is called at once and then every 50 ms; its context ends with ctx
// and with the process. One that takes longer makes the next one late, which the
// result says. It is called before each start as well and must fail then, or
// something else answers it, such as a server that was left running on the port.
//
// Each time includes fork and exec, the runtime's initialisation, the service's
// own start, the check that succeeded, and the time from readiness to that check:
// up to the 50 ms, which are the resolution, and more if checks are slow. It begins
// at a reading of the clock just before the fork. The kernel has a start time of
// its own, but in steps of 10 ms, and taken after the fork.
//
// After each start the process is asked to end (SIGTERM), and killed if it has
// not ended after 5 s or when ctx ends. Processes that it has started in its turn
// are its own to end. A start that fails is an error with the last of the
// command's output, unless command has sent that elsewhere, and the times of the
// starts before it are returned with it. A service that ends before it is ready,
// with whatever status, has failed; so a command that only tells somebody else to
// start something ("docker start") is not for this function.
//
// Note: a distribution would hide what a person looks for in five values: the
// first, which finds cold caches, and the one that stands out.
func StartToReady(ctx context.Context, n int, command func() (*exec.Cmd, error), check func(context.Context) error) (ReadyTimes, error) {
	var times ReadyTimes
	for i := range n {
		t, err := startOnce(ctx, command, check)
		if err != nil {
			return times, fmt.Errorf("cgroup: start %d of %d: %w", i+1, n, err)
		}
		times = append(times, t)
	}
	return times, nil
}

// startOnce is one start. The process has ended when it returns.
func startOnce(ctx context.Context, command func() (*exec.Cmd, error), check func(context.Context) error) (ReadyTime, error) {
	if err := context.Cause(ctx); err != nil {
		return ReadyTime{}, err
	}
	if check(ctx) == nil {
		return ReadyTime{}, errAnswered
	}
	cmd, err := command()
	if err != nil {
		return ReadyTime{}, err
	}
	out := new(tail)
	out.attach(cmd)
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return ReadyTime{}, err
	}
	alive, cancel := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		cancel(&endedError{cmd.Wait()})
	}()
	t, err := untilReady(alive, begin, check)
	end(ctx, cmd.Process, ended)
	if err != nil {
		err = out.quoted(err)
	}
	return t, err
}

var errAnswered = errors.New("the check succeeds before the service is started: something else answers it")

// An endedError says that a service has ended by itself.
type endedError struct{ err error } // of the wait; nil for status 0

func (e *endedError) Error() string {
	if e.err == nil {
		return "the service ended before it was ready, with status 0"
	}
	return "the service ended before it was ready: " + e.err.Error()
}

func (e *endedError) Unwrap() error { return e.err }

// untilReady calls check until it succeeds or ctx ends.
func untilReady(ctx context.Context, begin time.Time, check func(context.Context) error) (ReadyTime, error) {
	tick := time.NewTicker(readyEvery)
	defer tick.Stop()
	notReady := begin // it was not ready then
	for checks := uint64(1); ; checks++ {
		asked := time.Now()
		err := check(ctx)
		now := time.Now()
		if ended, ok := errors.AsType[*endedError](context.Cause(ctx)); ok && err == nil {
			return ReadyTime{}, fmt.Errorf("%w, and yet check %d succeeded: something else answers it", ended, checks)
		}
		if err == nil {
			return ReadyTime{Took: now.Sub(begin), Prov: probe.Provenance{
				How: probe.AtMost, Method: "polled", Samples: checks, MaxGap: now.Sub(notReady)}}, nil
		}
		notReady = asked
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			return ReadyTime{}, fmt.Errorf("%w; check %d: %w", context.Cause(ctx), checks, err)
		}
	}
}

// end ends a process, in peace if there is time, and waits for it.
func end(ctx context.Context, p *os.Process, ended <-chan struct{}) {
	if p.Signal(syscall.SIGTERM) == nil { // which Windows does not have
		patience := time.NewTimer(askFor)
		defer patience.Stop()
		select {
		case <-ended:
			return
		case <-patience.C:
		case <-ctx.Done():
		}
	}
	_ = p.Kill() // it may have ended
	<-ended
}

// A tail keeps the last of what a process prints.
type tail struct {
	mu sync.Mutex
	b  []byte
}

// tailLen is how much an error quotes.
const tailLen = 4 << 10

// attach takes the output that the command's maker has left unset. Where it is
// taken, processes that outlive the command do not keep Wait waiting.
func (t *tail) attach(cmd *exec.Cmd) {
	if cmd.Stdout == nil {
		cmd.Stdout = t
	}
	if cmd.Stderr == nil {
		cmd.Stderr = t
	}
	if cmd.WaitDelay == 0 {
		cmd.WaitDelay = outputFor
	}
}

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	if n := len(t.b) - tailLen; n > 0 {
		t.b = append(t.b[:0], t.b[n:]...)
	}
	return len(p), nil
}

// quoted adds what was printed to an error.
func (t *tail) quoted(err error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if text := bytes.TrimSpace(t.b); len(text) > 0 {
		return fmt.Errorf("%w; it printed: %s", err, text)
	}
	return err
}
