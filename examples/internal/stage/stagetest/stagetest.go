// Package stagetest tells what a command of the examples has left behind.
//
// # What is measured
//
// Files in the temporary folder that the command was given, and processes that
// have that folder in their environment.
//
// # Accuracy and limits
//
// Processes are looked for where the system tells their environment, which is
// Linux; a process of another user is not seen.
package stagetest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

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
