package kernel

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
)

// envHog makes a process one that allocates so many bytes, and ends.
const envHog = "TIDESTAFF_E2E_HOG"

// envStay has it say so and stay until its standard input is closed.
const envStay = "TIDESTAFF_E2E_STAY"

// hog is a child of a check, in the check's group. If memory is short the kernel
// kills it before the check.
func hog(text string) {
	n, err := strconv.Atoi(text)
	if err == nil {
		err = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	}
	var m []byte
	if err == nil {
		m, err = syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	}
	if err != nil {
		fmt.Println("hog:", err)
		os.Exit(1)
	}
	for i := 0; i < n; i += os.Getpagesize() {
		m[i] = 1
	}
	if os.Getenv(envStay) != "" {
		fmt.Println("full")
		_, _ = io.Copy(io.Discard, os.Stdin) // the end is what matters
	}
	os.Exit(0)
}

// newHog is a command that allocates n bytes and ends, in this process's groups or
// in those of other folders.
func newHog(t *testing.T, n int, groups ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), envHog+"="+strconv.Itoa(n))
	if len(groups) > 0 {
		env, err := place{Groups: groups}.env()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Env = append(cmd.Env, env)
	}
	return cmd
}

// startHog starts a child that allocates n bytes and ends.
func startHog(t *testing.T, n int) *exec.Cmd {
	t.Helper()
	cmd := newHog(t, n)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// spareMe takes this process off the kernel's list of those to kill. When it has
// killed a hog, the kernel does not see that one any more some milliseconds before
// its memory is free: who needs a page then is the next one.
func spareMe(t *testing.T) {
	t.Helper()
	if err := os.WriteFile("/proc/self/oom_score_adj", []byte("-1000"), 0); err != nil {
		t.Fatal(err)
	}
}

// starve runs a hog and wants it killed.
func starve(t *testing.T, hog *exec.Cmd) {
	t.Helper()
	err := hog.Run()
	exit := new(exec.ExitError)
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("got %v of a child that allocated more than its group may have, want it killed", err)
	}
}
