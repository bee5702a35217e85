package stage_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidestaff/tidestaff/examples/internal/stage"
)

// report is what the test's server answers at the end of a phase: white space
// and all, to see that it arrives byte for byte.
const report = "{\n\t\"html\": \"<&>\",  \"phase\": %q}\n"

// TestMain plays the child's part when the test binary was re-executed.
func TestMain(m *testing.M) {
	switch role := stage.Role(); role {
	case "":
		// Under -race a process sleeps for a second before it exits.
		os.Setenv("GORACE", "atexit_sleep_ms=0")
		os.Exit(m.Run())
	case "crash":
		fmt.Fprintln(os.Stderr, "first words")
		var none []int
		fmt.Fprintln(os.Stderr, none[len(os.Args)])
	case "exit":
		fmt.Fprintln(os.Stderr, "opening the store: disk is full")
		os.Exit(7)
	case "garbage":
		fmt.Println("hello, I am not JSON")
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "silent":
		_, _ = io.Copy(io.Discard, os.Stdin)
	default:
		if err := stage.Child(handler(role)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// handler returns the callbacks of the child in each role.
func handler(role string) stage.Handler {
	srv := &server{role: role, release: make(chan struct{})}
	h := stage.Handler{Start: srv.start, Open: srv.open, Close: srv.close, Stop: srv.stop, Grace: 2 * time.Second}
	switch role {
	case "refuse":
		h.Start = func(context.Context) (string, error) {
			_, err := net.Listen("tcp", os.Args[1])
			return "", fmt.Errorf("start:\n%w", err)
		}
	case "hang":
		h.Grace, h.Stop = time.Hour, func() error { select {} }
	case "orphan": // hangs when its parent has gone: the watchdog's case
		h.Stop = func() error { select {} }
	case "parent":
		h.Start = func(ctx context.Context) (string, error) {
			p, err := new(stage.Stage).Start(ctx, stage.Spec{Role: os.Args[1]})
			if err != nil {
				return "", err
			}
			return p.Addr(), nil
		}
	}
	return h
}

// server is the child's server; it also remembers the phase it is in.
type server struct {
	role    string
	http    http.Server
	looks   atomic.Int64
	closing atomic.Bool   // a slow close waits: what GET /closing tells
	release chan struct{} // each GET /release lets one slow close go on
	phase   string
}

func (s *server) start(context.Context) (string, error) {
	l, err := stage.Listen()
	if err != nil {
		return "", err
	}
	s.http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/release":
			s.release <- struct{}{}
			return
		case "/closing":
			if !s.closing.Load() {
				http.NotFound(w, r)
			}
			return
		}
		fmt.Fprintln(os.Stderr, "looked at")
		if s.role == "never" || s.looks.Add(1) < 3 {
			http.Error(w, "seeding", http.StatusServiceUnavailable)
		}
	})
	go s.http.Serve(l)
	fmt.Println("a stray print") // must not reach the control pipe
	return l.Addr().String(), nil
}

func (s *server) open(phase string) error {
	if phase == "bad" {
		return errors.New("no such phase")
	}
	s.phase = phase
	if phase == "die" {
		fmt.Fprintln(os.Stderr, "out of luck")
		os.Exit(9)
	}
	return nil
}

func (s *server) close() ([]byte, error) {
	switch s.phase {
	case "slow":
		s.closing.Store(true)
		<-s.release
	case "broken":
		return []byte("{"), nil
	case "big":
		return append(append([]byte{'"'}, bytes.Repeat([]byte("x"), 3<<20)...), '"'), nil
	}
	return fmt.Appendf(nil, report, s.phase), nil
}

func (s *server) stop() error {
	if s.phase == "untidy" {
		return errors.New("could not remove the folder")
	}
	return s.http.Close()
}

// noLeak fails the test if it leaves a goroutine of this package or of os/exec.
func noLeak(t *testing.T) {
	t.Helper()
	t.Cleanup(func() {
		var stacks string
		for range 200 { // a goroutine that closed its channel may need a moment to end
			buf := make([]byte, 1<<20)
			stacks = string(buf[:runtime.Stack(buf, true)])
			if !strings.Contains(stacks, "internal/stage.(*Process)") && !strings.Contains(stacks, "os/exec") {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Errorf("goroutines left:\n%s", stacks)
	})
}

// begin starts one child and stops it at the end of the test.
func begin(t *testing.T, spec stage.Spec) (*stage.Stage, *stage.Process) {
	t.Helper()
	noLeak(t)
	s := new(stage.Stage)
	p, err := s.Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop() })
	return s, p
}

func TestPhases(t *testing.T) {
	s, p := begin(t, stage.Spec{Role: "server", Ready: "/readyz"})
	if p.Startup() < 100*time.Millisecond { // two refused looks, 50 ms apart each
		t.Errorf("startup = %v, want at least two polls", p.Startup())
	}
	for _, phase := range []string{"warm", "load"} {
		if err := s.Open(t.Context(), phase); err != nil {
			t.Fatal(err)
		}
		got, err := s.Close(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want := []stage.Report{{Name: "server", Phase: phase, JSON: fmt.Appendf(nil, report, phase)}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("phase %q (-want +got):\n%s", phase, diff)
		}
	}
	if err := s.Stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	if err := s.Stop(); err != nil {
		t.Errorf("second stop: %v", err)
	}
	select {
	case <-p.Exited():
	default:
		t.Error("the child runs on after Stop")
	}
	if !strings.Contains(p.Stderr(), "a stray print") {
		t.Errorf("stderr = %q, want the stray print", p.Stderr())
	}
}

func TestLargeReport(t *testing.T) {
	s, _ := begin(t, stage.Spec{Role: "server"})
	if err := s.Open(t.Context(), "big"); err != nil {
		t.Fatal(err)
	}
	got, err := s.Close(t.Context())
	if err != nil || len(got) != 1 || len(got[0].JSON) != 3<<20+2 {
		t.Fatalf("got %d reports, %v, want one of 3 MiB", len(got), err)
	}
}

func TestSeveral(t *testing.T) {
	noLeak(t)
	var s stage.Stage
	for _, name := range []string{"a", "b", "c"} {
		if _, err := s.Start(t.Context(), stage.Spec{Role: "server", Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Open(t.Context(), "load"); err != nil {
		t.Fatal(err)
	}
	reports, err := s.Close(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range reports {
		names = append(names, r.Name)
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, names); diff != "" {
		t.Errorf("reports (-want +got):\n%s", diff)
	}
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
}

func TestPhasesDoNotOverlap(t *testing.T) {
	s, p := begin(t, stage.Spec{Role: "server"})
	wantError(t, errOf(s.Close(t.Context())), "none is open")
	wantError(t, errOf(p.Close(t.Context())), "none is open")
	if err := s.Open(t.Context(), "slow"); err != nil {
		t.Fatal(err)
	}
	wantError(t, s.Open(t.Context(), "b"), `open phase "b": phase "slow" is open`)
	wantError(t, p.Open(t.Context(), "b"), `server: open phase "b": phase "slow" is open`)

	// While the slow close is under way, everything else is refused at once.
	closed := make(chan error)
	go func() { closed <- errOf(s.Close(t.Context())) }()
	for get(t, p, "/closing") != http.StatusOK { // a look by Open could make the Close the one that is refused
		runtime.Gosched()
	}
	wantError(t, p.Open(t.Context(), "c"), "another call is under way")
	wantError(t, s.Open(t.Context(), "d"), "another phase is being")
	release(t, p)
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

func TestCallbackErrors(t *testing.T) {
	s, _ := begin(t, stage.Spec{Role: "server"})
	wantError(t, s.Open(t.Context(), "bad"), `stage: server: open phase "bad": no such phase`)
	if err := s.Open(t.Context(), "broken"); err != nil {
		t.Fatal(err)
	}
	wantError(t, errOf(s.Close(t.Context())), `close phase "broken": the report is not valid JSON: "{"`)
	if err := s.Open(t.Context(), "untidy"); err != nil { // the child still serves
		t.Fatal(err)
	}
	wantError(t, s.Stop(), "stage: server: ended when stopped: exit status 1: could not remove the folder")
}

// TestPartlyOpened has one of two children refuse: the other is closed again.
func TestPartlyOpened(t *testing.T) {
	s, _ := begin(t, stage.Spec{Role: "server", Name: "a"})
	b, err := s.Start(t.Context(), stage.Spec{Role: "server", Name: "b"})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Open(t.Context(), "own"); err != nil {
		t.Fatal(err)
	}
	wantError(t, s.Open(t.Context(), "load"), `b: open phase "load": phase "own" is open`)
	if _, err := b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Open(t.Context(), "load"); err != nil {
		t.Errorf("a was left open: %v", err)
	}
}

func TestStartErrors(t *testing.T) {
	noLeak(t)
	busy, err := stage.Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	tests := []struct {
		name string
		spec stage.Spec
		want string
	}{
		{"no role", stage.Spec{}, "stage: start: Spec.Role is empty"},
		{"panic", stage.Spec{Role: "crash"}, "stage: start crash: ended before it was listening: exit status 2: panic: runtime error: index out of range"},
		{"exit", stage.Spec{Role: "exit", Name: "store"}, "stage: start store: ended before it was listening: exit status 7: opening the store: disk is full"},
		{"port in use", stage.Spec{Role: "refuse", Args: []string{busy.Addr().String()}}, "stage: start refuse: start: listen tcp " + busy.Addr().String()},
		{"garbage", stage.Spec{Role: "garbage"}, "after a broken line on its control pipe (invalid character 'h'"},
		{"silent", stage.Spec{Role: "silent", StartTimeout: 300 * time.Millisecond}, "stage: start silent: not listening: no answer within 300ms"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var s stage.Stage
			_, err := s.Start(t.Context(), tt.spec)
			wantError(t, err, tt.want)
			if err := s.Stop(); err != nil {
				t.Errorf("stop after a failed start: %v", err)
			}
		})
	}
}

// writerFunc is an io.Writer.
type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestNeverReady gives up when the child has been asked three times.
func TestNeverReady(t *testing.T) {
	noLeak(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	var said bytes.Buffer
	_, err := new(stage.Stage).Start(ctx, stage.Spec{Role: "never", Ready: "/readyz", Stderr: writerFunc(func(p []byte) (int, error) {
		if said.Write(p); strings.Count(said.String(), "looked at") == 3 {
			cancel(errors.New("enough"))
		}
		return len(p), nil
	})})
	wantError(t, err, "stage: start never: not ready: enough (last answer: http://127.0.0.1:")
	wantError(t, err, "503 Service Unavailable)")
}

func TestStartCanceled(t *testing.T) {
	noLeak(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("interrupted"))
	_, err := new(stage.Stage).Start(ctx, stage.Spec{Role: "silent"})
	wantError(t, err, "interrupted")
}

func TestCrashInPhase(t *testing.T) {
	s, p := begin(t, stage.Spec{Role: "server"})
	wantError(t, s.Open(t.Context(), "die"), `stage: server: open phase "die": ended during the run: exit status 9: out of luck`)
	wantError(t, errOf(p.Close(t.Context())), "out of luck")
	wantError(t, s.Stop(), "stage: server: ended before it was stopped: exit status 9: out of luck")
}

func TestHungChildIsKilled(t *testing.T) {
	s, p := begin(t, stage.Spec{Role: "hang", StopTimeout: 200 * time.Millisecond})
	err := s.Stop()
	wantError(t, err, "stage: hang: killed: it did not stop within 200ms")
	select {
	case <-p.Exited():
	default:
		t.Error("Stop returned while the process runs")
	}
	if again := p.Stop(); again == nil || !strings.Contains(err.Error(), again.Error()) {
		t.Errorf("second stop = %v, want the same as the first", again)
	}
}

// TestCallTimeout gives up on a close; the child serves the next phase, and
// the late reply is not taken for that one's.
func TestCallTimeout(t *testing.T) {
	_, p := begin(t, stage.Spec{Role: "server"})
	if err := p.Open(t.Context(), "slow"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	wantError(t, errOf(p.Close(ctx)), "context deadline exceeded")
	release(t, p)
	if err := p.Open(t.Context(), "next"); err != nil {
		t.Fatal(err)
	}
	got, err := p.Close(t.Context())
	if want := fmt.Sprintf(report, "next"); err != nil || string(got) != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

// TestKilledParent kills a parent that cannot tell its child: a connection to
// that child breaks when it has ended. The orphan's Stop hangs, so that only
// the watchdog ends it.
func TestKilledParent(t *testing.T) {
	for _, role := range []string{"server", "orphan"} {
		t.Run(role, func(t *testing.T) {
			_, parent := begin(t, stage.Spec{Role: "parent", Args: []string{role}})
			conn, err := net.Dial("tcp", parent.Addr())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			proc, err := os.FindProcess(parent.Pid())
			if err != nil {
				t.Fatal(err)
			}
			if err := proc.Kill(); err != nil {
				t.Fatal(err)
			}
			<-parent.Exited()
			if err := conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
				t.Fatal(err)
			}
			_, err = conn.Read(make([]byte, 1))
			if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("the grandchild still serves: %v", err)
			}
		})
	}
}

// release lets the child's slow close go on.
func release(t *testing.T, p *stage.Process) {
	t.Helper()
	get(t, p, "/release")
}

// get asks the child's server and returns the status.
func get(t *testing.T, p *stage.Process, path string) int {
	t.Helper()
	resp, err := http.Get(p.URL(path))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

// wantError checks that err is one line which contains want.
func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error = %v, want %q in it", err, want)
	} else if strings.Contains(err.Error(), "\n") {
		t.Errorf("error = %q, want one line", err)
	}
}

func errOf[T any](_ T, err error) error { return err }
