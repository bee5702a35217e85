package memory

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tidestaff/tidestaff/internal/proc"
)

const prefix = "tidestaff-peers-"

// groupName is that of the groups that this package makes for a process.
func groupName(pid int) string { return prefix + strconv.Itoa(pid) }

// sweep removes groups that processes left which were killed. The kernel refuses
// to remove one that has processes.
func sweep(dir string) {
	left, _ := filepath.Glob(filepath.Join(dir, prefix+"*"))
	for _, name := range left {
		pid := strings.TrimPrefix(filepath.Base(name), prefix)
		if _, err := os.Stat(filepath.Join("/proc", pid)); errors.Is(err, os.ErrNotExist) {
			_ = os.Remove(name) // somebody else may have been faster
		}
	}
}

// enter moves this process into groups of its own, below those that it is in, so
// that nobody else moves the numbers that are compared, and there are numbers
// where the process is in a root group. The function moves it back and removes
// them.
//
// Version 1 only: a version 2 group that has processes cannot have a child with
// controllers, so the group that the process is in has to do.
func enter() (leave func() error, err error) {
	var moved []string // the folders that were left
	leave = func() error {
		var all []error
		for _, dir := range moved {
			all = append(all, join(dir), os.Remove(filepath.Join(dir, groupName(os.Getpid()))))
		}
		moved = nil
		return errors.Join(all...)
	}
	groups, err := proc.Detect("/")
	if err != nil {
		return leave, err
	}
	for _, c := range everything {
		g, err := groups.Lookup(c)
		if err != nil || g.Version == 2 || filepath.Base(g.Dir) == groupName(os.Getpid()) {
			continue // not there, or mounted together with one that we have entered
		}
		sweep(g.Dir)
		own := filepath.Join(g.Dir, groupName(os.Getpid()))
		if err := os.Mkdir(own, 0o755); errors.Is(err, os.ErrExist) {
			continue
		} else if err != nil {
			return leave, fmt.Errorf("a group of our own: %w", err)
		}
		moved = append(moved, g.Dir)
		if err := join(own); err != nil {
			return leave, fmt.Errorf("a group of our own: %w", err)
		}
	}
	return leave, nil
}

// join moves this process into a group.
func join(dir string) error {
	return os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(os.Getpid())), 0)
}
