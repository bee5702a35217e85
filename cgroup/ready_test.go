package cgroup

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// A served service says in a file that it is ready.
type served struct {
	file string
	pids []int // of the starts that were seen ready
}

func newServed(t *testing.T) *served {
	t.Helper()
	s := &served{file: filepath.Join(t.TempDir(), "ready")}
	t.Cleanup(func() {
		for _, pid := range s.pids {
			if p, err := os.FindProcess(pid); err == nil && p.Signal(syscall.Signal(0)) == nil {
				t.Errorf("process %d is left", pid)
			}
		}
	})
	return s
}

// check is a readiness check; a success takes the sign of it away. A failure
// leaves a sign too, that it has been asked.
func (s *served) check(context.Context) error {
	b, err := os.ReadFile(s.file)
	if err != nil {
		return errors.Join(err, os.WriteFile(s.file+".asked", nil, 0o600))
	}
	pid, err := strconv.Atoi(string(b))
	s.pids = append(s.pids, pid)
	return errors.Join(err, os.Remove(s.file))
}

func (s *served) command(words ...string) func() (*exec.Cmd, error) {
	return func() (*exec.Cmd, error) {
		return helper(context.Background(), append([]string{"serve", s.file}, words...)...), nil
	}
}

// TestStartToReady: each start is there with its value, which is not too short,
// and none of the processes is left.
func TestStartToReady(t *testing.T) {
	const delay = 120 * time.Millisecond
	s := newServed(t)
	times, err := StartToReady(t.Context(), 3, s.command(delay.String()), s.check)
	if err != nil || len(times) != 3 || len(s.pids) != 3 {
		t.Fatalf("got %v, %v of processes %v, want three starts", times, err, s.pids)
	}
	for _, one := range times {
		p := one.Prov
		if one.Took < delay || p.How != probe.AtMost || p.Method != "polled" || p.Samples < 2 || p.MaxGap <= 0 || p.MaxGap >= one.Took {
			t.Errorf("got %+v, want at least %v, at most so much too long", one, delay)
		}
	}
	if got := times.String(); strings.Count(got, ".") < 3 || !strings.Contains(got, "too long; from before fork and exec") {
		t.Errorf("got %q, want every value and what it includes", got)
	}
}

// TestUntilReady: checks are 50 ms apart, and the uncertainty goes back to when
// the last check that failed began.
func TestUntilReady(t *testing.T) {
	for _, tt := range []struct {
		name         string
		takes, ready time.Duration // of a check; of the service
		took, gap    time.Duration
		checks       uint64
	}{
		{"at once", 0, 0, 0, 0, 1},
		{"at the third check", 0, 60 * time.Millisecond, 100 * time.Millisecond, 50 * time.Millisecond, 3},
		{"slow checks", 30 * time.Millisecond, 60 * time.Millisecond, 130 * time.Millisecond, 80 * time.Millisecond, 3},
		{"checks slower than the interval", 70 * time.Millisecond, 60 * time.Millisecond, 140 * time.Millisecond, 140 * time.Millisecond, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				got, err := untilReady(t.Context(), begin, func(context.Context) error {
					asked := time.Since(begin)
					time.Sleep(tt.takes)
					if asked < tt.ready {
						return errors.New("not yet")
					}
					return nil
				})
				want := ReadyTime{tt.took, probe.Provenance{How: probe.AtMost, Method: "polled", Samples: tt.checks, MaxGap: tt.gap}}
				if got != want || err != nil {
					t.Errorf("got %+v, %v, want %+v", got, err, want)
				}
			})
		})
	}
}

// TestReadyFails: a start that fails says which one it was, why, and what the
// service printed last; the times before it are returned.
func TestReadyFails(t *testing.T) {
	s := newServed(t)
	second := func(then *exec.Cmd, err error) func() (*exec.Cmd, error) {
		first := s.command("1ms")
		return func() (*exec.Cmd, error) {
			defer func() { first = func() (*exec.Cmd, error) { return then, err } }()
			return first()
		}
	}
	boom := errors.New("no such image")
	for _, tt := range []struct {
		name    string
		command func() (*exec.Cmd, error)
		want    []string
	}{
		{"ends", second(helper(t.Context(), "fail"), nil), []string{"start 2 of 3", "ended before it was ready", "status 3", "it printed: this is why"}},
		{"ends well", second(helper(t.Context(), "nothing"), nil), []string{"start 2 of 3", "ended before it was ready, with status 0"}},
		{"no program", second(exec.Command("/no/such/program"), nil), []string{"start 2 of 3", "/no/such/program"}},
		{"no command", second(nil, boom), []string{"start 2 of 3: no such image"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			times, err := StartToReady(t.Context(), 3, tt.command, s.check)
			if len(times) != 1 || err == nil {
				t.Fatalf("got %v, %v, want one time and an error", times, err)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %q, want it with %q", err, want)
				}
			}
		})
	}
}

// TestReadyContext: a context that ends while the service is not ready ends the
// service, also one that does not want to.
func TestReadyContext(t *testing.T) {
	s := newServed(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	late := errors.New("took too long")
	times, err := StartToReady(ctx, 2, s.command("1ms", "deaf"), func(ctx context.Context) error {
		if err := s.check(ctx); err != nil {
			return err
		}
		cancel(late) // it has begun, and goes on for ever
		return errors.New("status 503")
	})
	if len(times) != 0 || !errors.Is(err, late) || !strings.Contains(err.Error(), "status 503") || !strings.Contains(err.Error(), "it printed: begun") {
		t.Errorf("got %v, %v, want why, the last check's error and the output", times, err)
	}
	if len(s.pids) != 1 {
		t.Errorf("got processes %v, want one", s.pids)
	}
	if _, err := StartToReady(ctx, 1, s.command("1ms"), s.check); !errors.Is(err, late) {
		t.Errorf("got %v after the context's end", err)
	}
}

// TestTail: only the last of much output is kept, and only what goes nowhere
// else.
func TestTail(t *testing.T) {
	var out strings.Builder
	cmd := &exec.Cmd{Stdout: &out}
	var last tail
	last.attach(cmd)
	if cmd.Stdout != &out || cmd.Stderr != &last {
		t.Errorf("got output to %v and %v", cmd.Stdout, cmd.Stderr)
	}
	for range 1000 {
		if n, err := last.Write([]byte("0123456789\n")); n != 11 || err != nil {
			t.Fatalf("got %d, %v", n, err)
		}
	}
	err := last.quoted(errors.New("failed"))
	if n := len(err.Error()); n > tailLen+100 || !strings.HasSuffix(err.Error(), "0123456789\n0123456789") {
		t.Errorf("got %d bytes, want the last %d of the output", n, tailLen)
	}
}

// TestReadyStale: what answers in the place of a service that has failed is not
// taken for it, whether it answers all the time or from when the service fails.
func TestReadyStale(t *testing.T) {
	fails := func() (*exec.Cmd, error) { return helper(context.Background(), "fail"), nil }
	for name, tt := range map[string]struct {
		check func(context.Context) error
		want  string
	}{
		"before": {func(context.Context) error { return nil }, "before the service is started"},
		"after": {func(ctx context.Context) error {
			if ctx.Done() == t.Context().Done() {
				return errors.New("nobody there")
			}
			<-ctx.Done() // the service has failed
			return nil
		}, "something else answers it; it printed: this is why"},
	} {
		times, err := StartToReady(t.Context(), 1, fails, tt.check)
		if len(times) != 0 || err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, %v, want an error with %q", name, times, err, tt.want)
		}
	}
}
