package cgroup

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// helperVar makes the test binary a command that does what it says.
const helperVar = "TIDESTAFF_TEST_COMMAND"

// TestHelperCommand is no test: it is what the tests of commands run.
func TestHelperCommand(*testing.T) {
	words := strings.Fields(os.Getenv(helperVar))
	if len(words) == 0 {
		return
	}
	if err := helpers[words[0]](words[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	os.Exit(0)
}

var helpers = map[string]func(args []string) error{
	"fail":    func([]string) error { return errors.New("this is why") },
	"nothing": func([]string) error { return nil },
	// burn uses so much CPU time.
	"burn": func(args []string) error {
		want, err := time.ParseDuration(args[0])
		for begin := time.Now(); err == nil && time.Since(begin) < time.Minute; {
			var user, system time.Duration
			if user, system, err = cpuTime(); user+system >= want {
				return err
			}
		}
		return err
	},
	// hold makes so many MiB resident, says so, and waits for its input to end.
	"hold": func(args []string) error {
		if err := spikeMiB(args[0]); err != nil {
			return err
		}
		fmt.Println("holding")
		_, err := io.Copy(io.Discard, os.Stdin)
		return err
	},
	// grow says that it holds, waits for its input to end, and only then makes
	// so many MiB resident.
	"grow": func(args []string) error {
		fmt.Println("holding")
		_, err := io.Copy(io.Discard, os.Stdin)
		return errors.Join(err, spikeMiB(args[0]))
	},
	// serve is ready after a while and when somebody has asked in vain, which is
	// when it makes a file of its PID; it ends when it is told to. A third word
	// makes it deaf to that.
	"serve": func(args []string) error {
		told := make(chan os.Signal, 1)
		signal.Notify(told, syscall.SIGTERM)
		fmt.Println("begun")
		d, err := time.ParseDuration(args[1])
		os.Remove(args[0] + ".asked") // before this start
		time.Sleep(d)
		for asked := false; !asked; time.Sleep(time.Millisecond) {
			_, err := os.Stat(args[0] + ".asked")
			asked = err == nil
		}
		pid := strconv.AppendInt(nil, int64(os.Getpid()), 10)
		err = errors.Join(err, os.WriteFile(args[0]+".new", pid, 0o600), os.Rename(args[0]+".new", args[0]))
		<-told
		if len(args) > 2 {
			select {}
		}
		return err
	},
	// parent runs another helper and waits for it.
	"parent": func(args []string) error {
		cmd := helper(context.Background(), args...)
		cmd.Stdin, cmd.Stdout = os.Stdin, os.Stdout
		return cmd.Run()
	},
	// leave starts a helper and leaves it behind.
	"leave": func(args []string) error {
		cmd := helper(context.Background(), args...)
		cmd.Stdin = os.Stdin
		if err := cmd.Start(); err != nil {
			return err
		}
		fmt.Println(cmd.Process.Pid)
		return nil
	},
}

// resident keeps the memory of the helpers.
var resident []byte

func spikeMiB(s string) error {
	n, err := strconv.Atoi(s)
	resident = make([]byte, n*mib)
	for i := 0; i < len(resident); i += 4096 {
		resident[i] = 1
	}
	return err
}

// helper makes the command that runs a helper.
func helper(ctx context.Context, words ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestHelperCommand$")
	// The race detector's runtime sleeps a second at the end of a program.
	cmd.Env = append(os.Environ(), helperVar+"="+strings.Join(words, " "), "GORACE=atexit_sleep_ms=0")
	return cmd
}

// A held command has begun and waits.
type held struct {
	*Command
	in   io.Closer
	said string // its first line
}

// start starts a helper that holds, and waits until it does.
func start(t *testing.T, p *Probe, name string, words ...string) *held {
	t.Helper()
	cmd := helper(t.Context(), words...)
	stdin, in, err := os.Pipe() // Wait closes a StdinPipe
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	cmd.Stdin = stdin
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c, err := p.StartCommand(name, cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Wait() })
	t.Cleanup(func() { in.Close() })
	said, err := bufio.NewReader(out).ReadString('\n')
	h := &held{c, in, strings.TrimSpace(said)}
	if err != nil || words[0] != "leave" && h.said != "holding" {
		t.Fatalf("got %q, %v from the command, want that it holds", said, err)
	}
	return h
}

// end lets the command end.
func (h *held) end(t *testing.T) (Usage, error) {
	t.Helper()
	if h.looks != nil {
		h.looks.look()
	}
	h.in.Close()
	return h.Wait()
}
