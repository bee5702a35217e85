package stage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// Handler is what a child does. Start is required, the rest may be nil. The
// callbacks are called one after the other, never two at once.
type Handler struct {
	// Start brings the child up and returns the address it listens on. ctx
	// ends when the child shall end: while Start is still at work too.
	Start func(ctx context.Context) (addr string, err error)

	Open  func(phase string) error // opens the child's windows
	Close func() ([]byte, error)   // closes them and returns the report, which must be valid JSON

	// Stop ends what Start began, and closes what Open opened if the phase is
	// still open. It is called once whenever Start succeeded, also when the
	// parent has gone.
	Stop func() error

	// Grace is how long the child may live on after it was told to stop or its
	// parent has gone; then it ends itself with exit status 3, whatever it is
	// at. If zero, 20 s.
	Grace time.Duration
}

// ErrParentGone is what Child returns when its control pipe closed without a
// command to stop: the parent crashed or was killed.
var ErrParentGone = errors.New("stage: the parent process has gone")

// Child serves the parent until it says stop or goes away, and returns nil in
// the first case. It takes over the process's standard input and output:
// os.Stdout is os.Stderr from now on. Call it from main and exit with status 1
// when it returns an error.
func Child(h Handler) error {
	os.Unsetenv(roleVar)
	in, out := os.Stdin, os.Stdout
	os.Stdout = os.Stderr
	// A terminal's interrupt is for the parent, which stops its children when
	// it has their reports. A write to a pipe that the dead parent had open
	// must be an error, not the end, or Stop could not clean up. Notify on a
	// channel that nobody reads, not Ignore, which processes started from here
	// would inherit.
	signal.Notify(make(chan os.Signal, 1), os.Interrupt, syscall.SIGPIPE)
	return serve(h, in, out)
}

// serve is Child on given pipes.
func serve(h Handler, in io.Reader, out io.Writer) (err error) {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	commands := make(chan command)
	go readCommands(in, commands, func(cause error) {
		cancel(cause)
		exitAfter(orElse(h.Grace, 20*time.Second))
	})

	enc := json.NewEncoder(out)
	addr, err := h.Start(ctx)
	if err != nil {
		_ = enc.Encode(reply{Error: err.Error()}) // the parent may have gone; the caller prints it
		return err
	}
	if h.Stop != nil {
		defer func() { err = errors.Join(err, h.Stop()) }()
	}
	if err := enc.Encode(reply{Addr: addr}); err != nil {
		return fmt.Errorf("%w: %w", ErrParentGone, err)
	}
	for c := range commands {
		if c.Do == doStop {
			return nil
		}
		if err := enc.Encode(h.answer(c)); err != nil {
			return fmt.Errorf("%w: %w", ErrParentGone, err)
		}
	}
	return context.Cause(ctx)
}

// readCommands passes the parent's commands on, also while a callback runs.
// It calls ending once: at the command to stop, or when the pipe is closed or
// broken. Nothing follows a stop.
func readCommands(in io.Reader, commands chan<- command, ending func(error)) {
	defer close(commands)
	stopped := false
	err := lines(in, func(c command) {
		if c.Do == doStop {
			stopped = true
			ending(nil)
		}
		commands <- c
	})
	if !stopped {
		ending(errors.Join(ErrParentGone, err))
	}
}

// exitAfter is the watchdog: however the callbacks hang, a child that should
// have ended does. A timer and no goroutine, and it is never taken back, so it
// covers what main does after Child too.
func exitAfter(grace time.Duration) {
	time.AfterFunc(grace, func() {
		fmt.Fprintf(os.Stderr, "stage: still running %v after the stop\n", grace)
		os.Exit(3)
	})
}

// answer carries out one command.
func (h *Handler) answer(c command) reply {
	r := reply{ID: c.ID}
	var err error
	switch {
	case c.Do == doOpen && h.Open != nil:
		err = h.Open(c.Phase)
	case c.Do == doClose && h.Close != nil:
		r.Report, err = h.Close()
		if err == nil && !json.Valid(r.Report) {
			err = fmt.Errorf("the report is not valid JSON: %.60q", r.Report)
		}
	case c.Do == doOpen || c.Do == doClose: // nothing to measure here
	default:
		err = fmt.Errorf("unknown command %q", c.Do)
	}
	if err != nil {
		r.Report, r.Error = nil, err.Error()
	}
	return r
}
