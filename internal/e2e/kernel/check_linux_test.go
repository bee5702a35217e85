package kernel

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// envCheck names the check that a process is.
const envCheck = "TIDESTAFF_E2E_CHECK"

// checkTimeout ends a check that hangs, with the stacks of its goroutines. The
// longest takes some seconds, in a virtual machine, and ten times that on a host
// that is busy with other tests.
const checkTimeout = 2 * time.Minute

// A check is a test that runs in a process of its own in a cgroup of its own:
// what it allocates, burns and breaks is not mixed with anything else.
type check struct {
	name string
	// files are written before the process starts, by their path below the
	// check's own folder of groups. They set limits.
	files map[string]string
	// leaf is the group that the process joins, below the check's own folder.
	// If empty, it joins that one.
	leaf string
	// unshare and uid are those of a place.
	unshare, uid int
	run          func(t *testing.T)
}

// runSelf runs the check that this process was started for, and reports false
// if it was started for none.
func runSelf(t *testing.T, checks []check) bool {
	name, ok := os.LookupEnv(envCheck)
	if !ok {
		return false
	}
	i := slices.IndexFunc(checks, func(c check) bool { return c.name == name })
	if i < 0 {
		t.Fatalf("no check is called %q", name)
	}
	checks[i].run(t)
	return true
}

// A hierarchy is where groups can be made: the folder of a group that exists.
type hierarchy struct {
	// controller is the first part of the path of a check's files if there are
	// several hierarchies, and empty for version 2.
	controller, dir string
}

// start runs the check in new groups, one in each hierarchy, removes them, and
// returns what it printed. test is the name of the test that calls runSelf.
func (c check) start(test string, hierarchies []hierarchy) (output []byte, err error) {
	p := place{Unshare: c.unshare, UID: c.uid}
	for _, h := range hierarchies {
		top := filepath.Join(h.dir, c.name)
		group := filepath.Join(top, c.leaf)
		if err := os.Mkdir(top, 0o755); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, remove(top)) }()
		if c.leaf != "" && h.controller == "" {
			if err := delegate(top); err != nil {
				return nil, err
			}
		}
		if err := os.MkdirAll(group, 0o755); err != nil {
			return nil, err
		}
		if err := c.limit(h, top); err != nil {
			return nil, err
		}
		p.Groups = append(p.Groups, group)
	}
	return c.exec(test, p)
}

// limit writes the check's files of one hierarchy.
func (c check) limit(h hierarchy, top string) error {
	for _, name := range slices.Sorted(maps.Keys(c.files)) {
		file := name
		if h.controller != "" {
			controller, rest, _ := strings.Cut(name, "/")
			if controller != h.controller {
				continue
			}
			file = rest
		}
		if err := write(filepath.Join(top, file), c.files[name]); err != nil {
			return err
		}
	}
	return nil
}

func (c check) exec(test string, p place) ([]byte, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	env, err := p.env()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, "-test.v", "-test.run=^"+test+"$", "-test.timeout="+checkTimeout.String())
	cmd.Env = append(os.Environ(), envCheck+"="+c.name, env,
		"GORACE=atexit_sleep_ms=0") // else each process with the race detector ends a second late
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	return out.Bytes(), err
}

// subtree is the file that lets the groups below have controllers.
const subtree = "cgroup.subtree_control"

// delegate lets the groups below dir have those of the controllers that the
// checks want and the kernel has.
func delegate(dir string) error {
	b, err := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
	if err != nil {
		return err
	}
	var enable []string
	for name := range strings.FieldsSeq(string(b)) {
		if slices.Contains([]string{"memory", "cpu", "io", "pids"}, name) {
			enable = append(enable, "+"+name)
		}
	}
	return write(filepath.Join(dir, subtree), strings.Join(enable, " "))
}

// write writes a file of the kernel, which exists.
func write(name, text string) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// remove removes a group and those below it. A process that has ended leaves
// its group a moment later, and the kernel says when only to those who listen.
func remove(top string) error {
	entries, err := os.ReadDir(top)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() {
			if err := remove(filepath.Join(top, e.Name())); err != nil {
				return err
			}
		}
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if err = os.Remove(top); err == nil || time.Now().After(end) {
			if err != nil {
				procs, _ := os.ReadFile(filepath.Join(top, "cgroup.procs"))
				err = fmt.Errorf("%w, with processes %q", err, procs)
			}
			return err
		}
	}
}
