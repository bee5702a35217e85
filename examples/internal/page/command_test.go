package page

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/examples/internal/progress"
	"github.com/tidestaff/tidestaff/examples/internal/stage"
	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/probe/report"
)

// asCommand makes the test binary be a command whose server has a file.
const asCommand = "TIDESTAFF_PAGE_TEST"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) == "" {
		// Under -race a process sleeps for a second before it exits.
		os.Setenv("GORACE", "atexit_sleep_ms=0")
		os.Exit(m.Run())
	}
	p := example(nil)
	p.Serve = func(o Options) error {
		s := &Server{End: func() error { return nil }}
		s.Begin = func(dir string) (http.Handler, probe.Probe, error) {
			ready := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
			return ready, new(probe.Ops), os.WriteFile(filepath.Join(dir, "x"), nil, 0o600)
		}
		return s.Serve(o)
	}
	p.Play = func(ctx context.Context, o Options, variant, dir string, show *progress.Line) (*report.Report, error) {
		var s stage.Stage
		if _, err := o.Start(ctx, &s, variant, dir); err != nil {
			return nil, err
		}
		show.Say("playing")
		if o.Profile == "usual" { // until it is ended from outside
			<-ctx.Done()
		}
		return column(variant), s.Stop()
	}
	p.Main()
}

// start starts the command in a temporary folder of its own and returns when it
// plays its first variant.
func start(t *testing.T, tmp string, stdout io.Writer, args ...string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Env = append(os.Environ(), asCommand+"=1", "TMPDIR="+tmp)
	cmd.Stdout = stdout
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewReader(stderr)
	if line, err := said.ReadString('\n'); err != nil || line != "slow    playing\n" {
		t.Fatalf("got %q, %v, want that it plays", line, err)
	}
	return cmd, said
}

// files are those that are left of a run.
func files(t *testing.T, tmp string) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"*/*/*", "*/*", "*"} {
		found, err := filepath.Glob(filepath.Join(tmp, pattern))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
	}
	return all
}

// end waits for the end of the command, with status 1 and a last line.
func end(t *testing.T, cmd *exec.Cmd, said io.Reader, want string) {
	t.Helper()
	rest, _ := io.ReadAll(said)
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("got %v, want exit status 1", err)
	}
	lines := strings.Split(strings.TrimSpace(string(rest)), "\n")
	if last := lines[len(lines)-1]; !strings.HasPrefix(last, "example: ") || !strings.Contains(last, want) {
		t.Errorf("got %q, want a last line with %q", rest, want)
	}
}

// TestInterrupted wants what there is to be printed, and nothing to be left.
func TestInterrupted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be interrupted from here on Windows")
	}
	tmp := t.TempDir()
	var stdout strings.Builder
	cmd, said := start(t, tmp, &stdout)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	end(t, cmd, said, "interrupted")
	if stdout.String() != "slow " {
		t.Errorf("printed %q, want slow", stdout.String())
	}
	if left := files(t, tmp); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestKilled kills the command, which then can do nothing: the server notices
// that its pipe has closed, and removes its folder.
func TestKilled(t *testing.T) {
	tmp := t.TempDir()
	cmd, _ := start(t, tmp, nil)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it says that it was killed
	// Its own folder stays, which the server does not know of.
	for deadline := time.Now().Add(30 * time.Second); len(files(t, tmp)) > 1; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) { // nothing tells of it
			t.Fatalf("left behind: %v", files(t, tmp))
		}
	}
}

// TestClosedPipe runs the command into a pipe that nobody reads.
func TestClosedPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	tmp := t.TempDir()
	cmd, said := start(t, tmp, w, "-profile", "small")
	end(t, cmd, said, "pipe")
	if left := files(t, tmp); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
