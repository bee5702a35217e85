package cgroup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/tidestaff/tidestaff/internal/proc"
)

// A nest makes cells. It knows in which groups the kernel lets us start a
// command, which has to be tried out once.
type nest struct {
	mu    sync.Mutex
	tried map[string]error // by folder
	left  []string         // groups that could not be removed
}

// mostLeft bounds how many groups are remembered. A service that leaves more
// behind has a leak that the errors of Wait have told of.
const mostLeft = 1000

// leave remembers the groups of a command that was outlived.
func (n *nest) leave(dirs []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.left = append(n.left, dirs...)
	n.left = n.left[max(0, len(n.left)-mostLeft):]
}

// sweep removes those groups that have become empty since. The kernel refuses
// for those that have not.
func (n *nest) sweep() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.left = slices.DeleteFunc(n.left, func(dir string) bool {
		err := rmdir(dir)
		return err == nil || errors.Is(err, fs.ErrNotExist)
	})
}

// The reasons for which a command has no cell.
var (
	errChosen   = errors.New("the command's SysProcAttr names a group already")
	errNotBelow = errors.New("groups below do not count for this one")
)

// notSwitched is why a version 2 cell has no peak.
const notSwitched = "the memory controller is not switched on for the groups below %s"

// open makes the cell of a command. The error says why it has none.
func (n *nest) open(o Options, cmd *exec.Cmd) (*cell, error) {
	n.sweep()
	switch {
	case o.Root != "/":
		return nil, errFixture
	case cmd.SysProcAttr != nil && cmd.SysProcAttr.UseCgroupFD:
		return nil, errChosen
	case o.CommandGroup != "":
		return n.open2(o.CommandGroup, cmd)
	}
	groups, err := proc.Detect(o.Root)
	if err != nil {
		return nil, err
	}
	memory, err := groups.Lookup("memory")
	if err == nil && memory.Version == 1 {
		return open1(groups, memory)
	}
	own, err := groups.Lookup("")
	if err != nil {
		return nil, err
	}
	return n.open2(parent2(own), cmd)
}

// parent2 is where the cells of a process in a version 2 group are made: below
// its own group; or beside it, if only that has peaks and the group above has
// been delegated, so that it is not somebody else's to look after.
func parent2(own proc.Group) string {
	dirs := own.Dirs()
	if !countsMemory(own.Dir) && len(dirs) > 1 && delegated(dirs[1]) && countsMemory(dirs[1]) {
		return dirs[1]
	}
	return own.Dir
}

// countsMemory tells whether the groups below dir have the memory controller.
func countsMemory(dir string) bool {
	b, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
	return err == nil && slices.Contains(strings.Fields(string(b)), "memory")
}

// delegated tells whether a group has been handed to us: its folder belongs to
// us and not to root, or the service manager has marked it as delegated.
func delegated(dir string) bool {
	fi, err := os.Stat(dir)
	if err != nil {
		return false
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	if uid := os.Geteuid(); ok && uid != 0 && int(st.Uid) == uid {
		return true
	}
	var v [8]byte
	for _, name := range [...]string{"user.delegate", "trusted.delegate"} {
		if n, err := syscall.Getxattr(dir, name, v[:]); err == nil && string(v[:n]) == "1" {
			return true
		}
	}
	return false
}

// open2 makes a version 2 cell below dir.
func (n *nest) open2(dir string, cmd *exec.Cmd) (*cell, error) {
	if err := n.try(dir); err != nil {
		return nil, err
	}
	name, fd, err := makeGroup(dir)
	if err != nil {
		return nil, err
	}
	c := &cell{dirs: []string{name}}
	c.cpu = totalFile{name: filepath.Join(name, cpuFile2), read: readUsage}
	c.peak = totalFile{name: filepath.Join(name, peakFile2), read: readBytes}
	c.kills = totalFile{name: filepath.Join(name, killsFile2), read: readKills}
	if !countsMemory(dir) {
		c.peak = totalFile{why: fmt.Sprintf(notSwitched, dir)}
		c.kills = c.peak
	} else if _, err := os.Stat(c.peak.name); err != nil {
		c.peak = totalFile{why: reason(err)} // before Linux 5.19
	}
	c.enter = func(start func() error) (outside, err error) {
		was := cmd.SysProcAttr
		defer func() { cmd.SysProcAttr = was }()
		cmd.SysProcAttr = inGroup(was, fd)
		return nil, start()
	}
	c.close = func() { _ = fd.Close() }
	return c, nil
}

// makeGroup makes a group and opens its folder, which clone wants.
func makeGroup(dir string) (string, *os.File, error) {
	name, err := os.MkdirTemp(dir, "tidestaff-")
	if err != nil {
		return "", nil, err
	}
	fd, err := os.Open(name)
	if err != nil {
		_ = rmdir(name)
		return "", nil, err
	}
	return name, fd, nil
}

// inGroup is a copy of attr with which a process begins in the group of fd.
func inGroup(attr *syscall.SysProcAttr, fd *os.File) *syscall.SysProcAttr {
	in := new(syscall.SysProcAttr)
	if attr != nil {
		*in = *attr
	}
	in.UseCgroupFD, in.CgroupFD = true, int(fd.Fd())
	return in
}

// try finds out, once for each folder, whether a process can be started in a
// group below dir: by a program that does not exist, for which the kernel clones
// into the group before it finds out. A failed attempt with the real command
// could not be repeated without a group, since its pipes are closed by then.
func (n *nest) try(dir string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err, ok := n.tried[dir]; ok {
		return err
	}
	name, fd, err := makeGroup(dir)
	if err != nil {
		return err // a mount may become writable: not remembered
	}
	defer removeGroup(name)
	defer fd.Close()
	none := filepath.Join(name, "no-such-program")
	_, err = os.StartProcess(none, []string{none}, &os.ProcAttr{Sys: inGroup(nil, fd)})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	} else {
		err = fmt.Errorf("start a process in a group below %s: %w", dir, err)
	}
	if n.tried == nil {
		n.tried = make(map[string]error)
	}
	n.tried[dir] = err
	return err
}

// open1 makes a version 1 cell.
func open1(groups *proc.Cgroups, memory proc.Group) (*cell, error) {
	if b, err := os.ReadFile(filepath.Join(memory.Dir, "memory.use_hierarchy")); err == nil && !bytes.HasPrefix(b, []byte("1")) {
		return nil, fmt.Errorf("%w: %s", errNotBelow, memory.Dir)
	}
	h := new(hop)
	c := &cell{enter: h.start, close: h.close}
	dir, err := h.below(memory.Dir)
	if err != nil {
		h.close()
		return nil, err
	}
	c.dirs = []string{dir}
	c.peak = totalFile{name: filepath.Join(dir, peakFile1), read: readBytes}
	c.kills = totalFile{name: filepath.Join(dir, killsFile1), read: readKills}
	acct, err := groups.Lookup("cpuacct")
	if err != nil || acct.Version != 1 || sharesCPU(acct.Dir) {
		return c, nil // wait4's CPU time will do
	}
	if dir, err := h.below(acct.Dir); err == nil {
		c.dirs = append(c.dirs, dir)
		c.cpu = totalFile{name: filepath.Join(dir, cpuFile1), read: readNanoseconds}
	}
	return c, nil
}

// sharesCPU tells whether groups in this hierarchy compete for the CPUs.
func sharesCPU(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "cpu.shares"))
	return err == nil
}

// rmdir is os.Remove without its attempt to unlink the folder as a file.
func rmdir(dir string) error {
	if err := syscall.Rmdir(dir); err != nil {
		return &fs.PathError{Op: "rmdir", Path: dir, Err: err}
	}
	return nil
}
