package stage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// Spec says which process to start. Role is required.
type Spec struct {
	Role string   // the part the child plays: what Role returns there
	Name string   // its name in errors and reports; if empty, Role
	Args []string // its command-line arguments, without the program's name
	Env  []string // "key=value" pairs on top of the parent's environment

	// Ready is what answers 200 when the child can serve: a path on its
	// address ("/readyz") or a whole URL. If empty, a child that listens is
	// ready.
	Ready string

	StartTimeout time.Duration // from start to ready; if zero, 60 s
	StopTimeout  time.Duration // from asking it to stop to killing it; if zero, 30 s
	Stderr       io.Writer     // gets a copy of its standard error; nil for none
}

// Process is one running child.
type Process struct {
	spec    Spec
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	stderr  tail
	replies mailbox
	hello   chan reply
	startup time.Duration
	addr    string

	exited  chan struct{} // closed when the child has ended and all it said was read
	waitErr error         // how it ended; read after exited
	badLine error         // what broke the protocol, if anything; read after exited

	calls sync.Mutex // held, by TryLock only, by the one call under way
	open  string     // the open phase; guarded by calls
	isOn  bool       // a phase is open; guarded by calls
	stop  func() error
}

// start runs the binary again in the role of spec and waits until it is ready.
// Every error is one line that names the child, and leaves no process behind.
func start(ctx context.Context, spec Spec) (*Process, error) {
	if spec.Role == "" {
		return nil, errors.New("stage: start: Spec.Role is empty")
	}
	if spec.Name == "" {
		spec.Name = spec.Role
	}
	p := &Process{spec: spec, hello: make(chan reply, 1), exited: make(chan struct{})}
	p.stderr.next = spec.Stderr
	p.stop = sync.OnceValue(p.end)
	began := time.Now()
	if err := p.launch(); err != nil {
		return nil, fmt.Errorf("stage: start %s: %w", spec.Name, err)
	}
	limit := orElse(spec.StartTimeout, time.Minute)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no answer within %v", limit))
	defer cancel()
	if err := p.awaitStart(ctx); err != nil {
		p.kill()
		return nil, fmt.Errorf("stage: start %s: %w", spec.Name, err)
	}
	p.startup = time.Since(began)
	return p, nil
}

// launch starts the process and the two goroutines that live as long as it.
func (p *Process) launch() error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	p.cmd = exec.Command(exe, p.spec.Args...)
	p.cmd.Env = append(append(os.Environ(), p.spec.Env...), roleVar+"="+p.spec.Role)
	p.cmd.Stderr = &p.stderr
	// An io.Pipe rather than StdoutPipe: Wait may then be called at once, and
	// a grandchild that inherited the output delays it by WaitDelay at most.
	out, in := io.Pipe()
	p.cmd.Stdout, p.cmd.WaitDelay = in, 2*time.Second
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return err
	}
	if err := p.cmd.Start(); err != nil {
		return err
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		if p.badLine = lines(out, p.receive); p.badLine != nil {
			_ = p.cmd.Process.Kill() // nothing it says can be understood any more
		}
		out.CloseWithError(p.badLine)
	}()
	go func() {
		p.waitErr = p.cmd.Wait()
		in.Close()
		<-read
		close(p.exited)
	}()
	return nil
}

// receive takes one line from the child.
func (p *Process) receive(r reply) {
	if r.ID != 0 {
		p.replies.deliver(r)
		return
	}
	select {
	case p.hello <- r:
	default: // a second hello: nobody waits for it
	}
}

// awaitStart waits for the child's address, then for its readiness.
func (p *Process) awaitStart(ctx context.Context) error {
	select {
	case r := <-p.hello:
		if r.Error != "" {
			return errors.New(oneLine(r.Error))
		}
		p.addr = r.Addr
	case <-p.exited:
		select {
		case r := <-p.hello: // it said why before it ended
			if r.Error != "" {
				return errors.New(oneLine(r.Error))
			}
		default:
		}
		return p.ended("before it was listening")
	case <-ctx.Done():
		return fmt.Errorf("not listening: %w%s", context.Cause(ctx), p.lastLine())
	}
	if p.spec.Ready == "" {
		return nil
	}
	return p.awaitReady(ctx)
}

// Name returns the child's name.
func (p *Process) Name() string { return p.spec.Name }

// Pid returns the child's process number.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Addr returns the address that the child said it listens on, "host:port".
func (p *Process) Addr() string { return p.addr }

// URL returns the http URL of path on the child's address.
func (p *Process) URL(path string) string { return "http://" + p.addr + path }

// Startup returns the time from starting the process to its first ready
// answer. It is read by polling, so it is up to 50 ms more than the truth.
func (p *Process) Startup() time.Duration { return p.startup }

// Stderr returns the last lines of the child's standard error, at most 20.
func (p *Process) Stderr() string { return p.stderr.text() }

// Exited is closed when the child has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Open begins a phase: the child opens its windows before Open returns. While
// a phase is open, or another call is under way, it is refused.
func (p *Process) Open(ctx context.Context, phase string) error {
	if !p.calls.TryLock() {
		return fmt.Errorf("stage: %s: open phase %q: another call is under way", p.spec.Name, phase)
	}
	defer p.calls.Unlock()
	if p.isOn {
		return fmt.Errorf("stage: %s: open phase %q: phase %q is open", p.spec.Name, phase, p.open)
	}
	r, err := p.call(ctx, command{Do: doOpen, Phase: phase})
	if err != nil {
		// The child may carry it out late; then the phase is open there.
		p.open, p.isOn = phase, true
		return fmt.Errorf("stage: %s: open phase %q: %w", p.spec.Name, phase, err)
	}
	if r.Error != "" {
		return fmt.Errorf("stage: %s: open phase %q: %s", p.spec.Name, phase, oneLine(r.Error))
	}
	p.open, p.isOn = phase, true
	return nil
}

// Close ends the phase and returns the child's report of it, byte for byte as
// the child's Close callback returned it. The phase is over also when it fails.
func (p *Process) Close(ctx context.Context) (json.RawMessage, error) {
	if !p.calls.TryLock() {
		return nil, fmt.Errorf("stage: %s: close phase: another call is under way", p.spec.Name)
	}
	defer p.calls.Unlock()
	if !p.isOn {
		return nil, fmt.Errorf("stage: %s: close phase: none is open", p.spec.Name)
	}
	p.isOn = false
	r, err := p.call(ctx, command{Do: doClose})
	if err == nil && r.Error != "" {
		err = errors.New(oneLine(r.Error))
	}
	if err != nil {
		return nil, fmt.Errorf("stage: %s: close phase %q: %w", p.spec.Name, p.open, err)
	}
	return r.Report, nil
}

// call sends c and waits for its reply, for the child's end or for ctx's.
func (p *Process) call(ctx context.Context, c command) (reply, error) {
	id, answer := p.replies.expect()
	defer p.replies.forget(id)
	c.ID = id
	if err := json.NewEncoder(p.stdin).Encode(c); err != nil {
		select { // it has ended, or is about to; its own words say more
		case <-p.exited:
			return reply{}, p.ended("during the run")
		case <-time.After(time.Second):
			return reply{}, err
		}
	}
	select {
	case r := <-answer:
		return r, nil
	case <-p.exited:
		select {
		case r := <-answer: // it answered, then ended
			return r, nil
		default:
			return reply{}, p.ended("during the run")
		}
	case <-ctx.Done():
		return reply{}, context.Cause(ctx)
	}
}

// Stop ends the child: it asks, waits for Spec.StopTimeout, then kills it. It
// returns when the process is gone, and an error if it had to be killed, had
// ended before, or failed; the error names the child, its exit status and its
// last line. Every later call returns the same.
func (p *Process) Stop() error { return p.stop() }

func (p *Process) end() error {
	select {
	case <-p.exited:
		return fmt.Errorf("stage: %s: %w", p.spec.Name, p.ended("before it was stopped"))
	default:
	}
	// The write fails when the child has just ended; its end tells the rest.
	_ = json.NewEncoder(p.stdin).Encode(command{Do: doStop})
	_ = p.stdin.Close()
	limit := orElse(p.spec.StopTimeout, 30*time.Second)
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-p.exited:
		if p.waitErr != nil || p.badLine != nil {
			return fmt.Errorf("stage: %s: %w", p.spec.Name, p.ended("when stopped"))
		}
		return nil
	case <-timer.C:
		p.kill()
		return fmt.Errorf("stage: %s: killed: it did not stop within %v%s", p.spec.Name, limit, p.lastLine())
	}
}

// kill ends the process at once and waits until it is gone.
func (p *Process) kill() {
	_ = p.cmd.Process.Kill() // fails only if it has ended, which is what is wanted
	_ = p.stdin.Close()
	<-p.exited
}

// ended describes how the child ended; call it after exited was closed.
func (p *Process) ended(when string) error {
	how := "exit status 0"
	if p.waitErr != nil {
		how = p.waitErr.Error()
	}
	if p.badLine != nil {
		how += fmt.Sprintf(", after a broken line on its control pipe (%v)", p.badLine)
	}
	return fmt.Errorf("ended %s: %s%s", when, how, p.lastLine())
}

// lastLine returns ": " and the child's most telling line, or "".
func (p *Process) lastLine() string {
	if line := p.stderr.last(); line != "" {
		return ": " + line
	}
	return ""
}

// oneLine keeps an error that came over the pipe to one line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// orElse returns d, or the default when d is zero.
func orElse(d, def time.Duration) time.Duration {
	if d == 0 {
		return def
	}
	return d
}
