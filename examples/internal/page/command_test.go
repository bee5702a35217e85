package page

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/examples/internal/stage"
	"github.com/tidestaff/tidestaff/examples/internal/stage/stagetest"
	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/probe/report"
)

// TestMain makes the test binary be a command too, whose server has a file and
// which plays one of its sizes until it is ended from outside.
func TestMain(m *testing.M) {
	if !stagetest.IsCommand() && stage.Role() == "" {
		// Under -race a process sleeps for a second before it exits.
		os.Setenv("GORACE", "atexit_sleep_ms=0")
		os.Exit(m.Run())
	}
	p := example(func(ctx context.Context, r *Run) ([]*report.Report, error) {
		r.Show.Say("1 of 10 done")
		if r.Profile == "usual" {
			<-ctx.Done()
		}
		return parts(), nil
	})
	p.Serve = func(o Options) error {
		return (&Server{Begin: begin}).Serve(o)
	}
	p.Main()
}

// begin is the Begin of a server that has a file and nothing to end.
func begin(dir string) (http.Handler, probe.Probe, error) {
	ready := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	return ready, new(probe.Ops), os.WriteFile(filepath.Join(dir, "x"), nil, 0o600)
}

// TestInterrupted wants what there is to be printed, and nothing to be left.
func TestInterrupted(t *testing.T) {
	if got := stagetest.Interrupt(t, "example", nil, nil); got != "slow " {
		t.Errorf("printed %q, want slow", got)
	}
}

// TestKilled kills the command, which then can do nothing: the server notices
// that its pipe has closed, removes its folder and ends.
func TestKilled(t *testing.T) {
	stagetest.Kill(t, nil, time.Minute)
}

// TestClosedPipe runs the command into a pipe that nobody reads.
func TestClosedPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	c := stagetest.New(t, "-profile", "small")
	c.Cmd.Stdout = w
	c.Start(t)
	c.Fails(t, "example", "pipe")
}

// TestOneLineErrors wants what a user gets wrong to be said in one line,
// whichever process finds it.
func TestOneLineErrors(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	wrong := map[string]*stagetest.Command{
		"-frobnicate":         stagetest.New(t, "-frobnicate"),
		taken.Addr().String(): stagetest.New(t, "-addr", taken.Addr().String()),
	}
	nowhere := filepath.Join(t.TempDir(), "nowhere")
	wrong[nowhere] = stagetest.New(t)
	wrong[nowhere].Env = append(wrong[nowhere].Env, "TMPDIR="+nowhere)
	for want, c := range wrong {
		c.Start(t)
		said := strings.Split(strings.TrimSpace(c.Fails(t, "example", want)), "\n")
		said = slices.DeleteFunc(said, func(line string) bool { return strings.HasPrefix(line, "slow") }) // progress
		if len(said) != 1 {
			t.Errorf("got %q, want one line", said)
		}
	}
}
