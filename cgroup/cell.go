package cgroup

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// A cell is the control group that one command has to itself: one folder on
// version 2, one for each hierarchy on version 1. The methods of a nil cell do
// what is to be done for a command that has none.
type cell struct {
	dirs  []string // the folders that were made for it; on version 1, memory first
	peak  totalFile
	cpu   totalFile
	kills totalFile

	// enter starts the command in the cell, or outside for a reason.
	enter func(start func() error) (outside, err error)
	close func() // the descriptors that enter needs
}

// errFixture is why the commands of a probe with another root have no cell.
var errFixture = errors.New("the probe's files are a copy of a machine's")

// A totalFile is a file of the group from which one number is read at the end.
type totalFile struct {
	name string // "" if there is none
	read func([]byte) (float64, error)
	why  string // there is none
}

// start starts a command in the cell, or outside for a reason.
func (c *cell) start(start func() error) (outside, err error) {
	defer c.close()
	return c.enter(start)
}

// dyingFor is how long a process that is about to end is waited for: one that a
// closed pipe or a signal of the command has killed is in the group until it
// has given its memory back.
const dyingFor = 100 * time.Millisecond

// settle waits until no process is in the cell, for a short time, and gives
// those that stay.
func (c *cell) settle() []int {
	if c == nil {
		return nil
	}
	for limit := time.Now().Add(dyingFor); ; time.Sleep(time.Millisecond) {
		pids := c.processes(nil)
		if len(pids) == 0 || time.Now().After(limit) {
			return pids
		}
	}
}

// processes appends those that are in the cell: the command, and descendants
// that have not been moved elsewhere.
func (c *cell) processes(dst []int) []int {
	b, err := os.ReadFile(filepath.Join(c.dirs[0], "cgroup.procs"))
	if err != nil {
		return dst
	}
	for line := range bytes.Lines(b) {
		if pid, err := strconv.Atoi(string(bytes.TrimSpace(line))); err == nil {
			dst = append(dst, pid)
		}
	}
	return dst
}

// measure puts what the cell has counted into u, where it has counted it.
func (c *cell) measure(u *Usage) {
	if c == nil {
		return
	}
	if v := c.peak.value(); v.OK {
		u.Peak = v
	} else if c.peak.name != "" {
		u.Peak.Reason = v.Reason
	}
	if v := c.cpu.value(); v.OK {
		u.CPU = v
	}
	u.OOMKills = c.kills.value()
}

func (f totalFile) value() Value {
	if f.name == "" {
		return Value{Reason: f.why}
	}
	b, err := os.ReadFile(f.name)
	if err != nil {
		return Value{Reason: reason(err)}
	}
	v, err := f.read(b)
	if err != nil {
		return Value{Reason: fmt.Sprintf("%s: %v", f.name, err)}
	}
	return Value{V: v, OK: true, Prov: probe.Provenance{Method: filepath.Base(f.name)}}
}

// remove removes the cell's folders, unless processes are in it.
func (c *cell) remove(pids []int) error {
	if c == nil {
		return nil
	}
	if len(pids) > 0 {
		return &LeftError{Dirs: c.dirs, PIDs: pids}
	}
	left := new(LeftError)
	for _, dir := range c.dirs {
		if err := removeGroup(dir); err != nil {
			left.Dirs, left.Err = append(left.Dirs, dir), err
		}
	}
	if left.Err != nil {
		return left
	}
	return nil
}

// removeGroup removes a group's folder, whose files vanish with it. The kernel
// may call a group busy for a moment after its last process has ended.
func removeGroup(dir string) error {
	for limit := time.Now().Add(dyingFor); ; time.Sleep(time.Millisecond) {
		err := rmdir(dir)
		if err == nil || time.Now().After(limit) {
			return err
		}
	}
}
