// Package stagetest plays a command of the examples as its user does, and tells
// what it has left behind.
//
// # What is measured
//
// What the command says, files in the temporary folder that it was given, and
// processes that have that folder in their environment.
//
// # Accuracy and limits
//
// Processes are looked for where the system tells their environment, which is
// Linux; a process of another user is not seen.
package stagetest

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// asCommand is the environment variable that makes a test binary be the command
// that it tests.
const asCommand = "TIDESTAFF_STAGE_TEST"

// IsCommand reports whether this process is to be the command, not its tests.
// A TestMain asks first of all.
func IsCommand() bool { return os.Getenv(asCommand) != "" }

// A Command is the command that a test binary also is, as a process with a
// temporary folder of its own.
type Command struct {
	*exec.Cmd
	Tmp    string // its TMPDIR
	Stdout strings.Builder
	said   strings.Builder // on the standard error
	stderr io.ReadCloser
}

// New makes one that is not started yet.
func New(t *testing.T, args ...string) *Command {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &Command{Cmd: exec.Command(exe, args...), Tmp: t.TempDir()}
	c.Env = append(os.Environ(), asCommand+"=1", "TMPDIR="+c.Tmp)
	c.Cmd.Stdout = &c.Stdout
	if c.stderr, err = c.StderrPipe(); err != nil {
		t.Fatal(err)
	}
	return c
}

// Start starts it.
func (c *Command) Start(t *testing.T) {
	t.Helper()
	if err := c.Cmd.Start(); err != nil {
		t.Fatal(err)
	}
}

// Await waits until it has said on its standard error what matches.
func (c *Command) Await(t *testing.T, pattern string) {
	t.Helper()
	want := regexp.MustCompile(pattern)
	for buf := make([]byte, 256); !want.MatchString(c.said.String()); {
		n, err := c.stderr.Read(buf)
		if c.said.Write(buf[:n]); err != nil {
			t.Fatalf("ended before it said %s: %s", pattern, c.said.String())
		}
	}
}

// Fails waits for its end and wants that to be one with status 1, a last line
// that begins with the command's name and has the wanted text, and nothing left
// behind. It returns what was said.
func (c *Command) Fails(t *testing.T, name, want string) (said string) {
	t.Helper()
	rest, _ := io.ReadAll(c.stderr)
	c.said.Write(rest)
	var exit *exec.ExitError
	if err := c.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("got %v, want exit status 1", err)
	}
	said = c.said.String()
	lines := strings.Split(strings.TrimSpace(said), "\n")
	if last := lines[len(lines)-1]; !strings.HasPrefix(last, name+": ") || !strings.Contains(last, want) {
		t.Errorf("got %q, want a last line of %s with %q", said, name, want)
	}
	NothingLeft(t, c.Tmp)
	return said
}

// Interrupt plays it until a load of ten or more pieces of work is under way,
// interrupts it and wants it to say so and to print what was measured until
// then: a table with these texts in it, which it returns.
func Interrupt(t *testing.T, name string, args, want []string) (table string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be interrupted from here on Windows")
	}
	c := underWay(t, args)
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	c.Fails(t, name, "interrupted")
	for _, text := range want {
		if !strings.Contains(c.Stdout.String(), text) {
			t.Errorf("the table does not have %q:\n%s", text, c.Stdout.String())
		}
	}
	return c.Stdout.String()
}

// Kill plays it until a load is under way as for Interrupt and kills it. It can then
// do nothing: Kill wants its server to remove its folder and to end by itself
// within a time.
func Kill(t *testing.T, args []string, within time.Duration) {
	t.Helper()
	c := underWay(t, args)
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it says that it was killed
	for deadline := time.Now().Add(within); ; time.Sleep(10 * time.Millisecond) {
		var files []string
		for _, pattern := range []string{"*", "*/*"} {
			found, err := filepath.Glob(filepath.Join(c.Tmp, pattern))
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, found...)
		}
		// The command's own folder stays, which the server does not know of.
		pids := ProcessesIn(t, c.Tmp)
		if len(files) <= 1 && len(pids) == 0 {
			return
		}
		if time.Now().After(deadline) { // nothing tells of it
			t.Fatalf("left behind: %v, processes %v", files, pids)
		}
	}
}

// underWay starts the command and returns when a load of ten or more pieces of
// work is under way.
func underWay(t *testing.T, args []string) *Command {
	t.Helper()
	c := New(t, args...)
	c.Start(t)
	c.Await(t, ` [1-9][0-9]* of [0-9]{2,} done`)
	return c
}

// NothingLeft wants the temporary folder of a run, its TMPDIR, to be empty and no
// process of it to be there.
func NothingLeft(t *testing.T, tmp string) {
	t.Helper()
	entries, err := os.ReadDir(tmp)
	if err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v, want no file", entries, err)
	}
	if pids := ProcessesIn(t, tmp); len(pids) > 0 {
		t.Errorf("left behind: processes %v", pids)
	}
}

// ProcessesIn lists the processes that have a temporary folder in their
// environment, this one excepted; none where the system does not tell.
func ProcessesIn(t *testing.T, tmp string) (pids []string) {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		pid := filepath.Base(filepath.Dir(path))
		env, _ := os.ReadFile(path) // it has ended, or is somebody else's
		if strings.Contains(string(env), "TMPDIR="+tmp+"\x00") && pid != strconv.Itoa(os.Getpid()) {
			pids = append(pids, pid)
		}
	}
	return pids
}
