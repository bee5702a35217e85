package proc

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The reasons for which a cgroup cannot be found. Each is a refusal: the
// alternative would be to report some other group's numbers.
var (
	// ErrNoCgroup means that the kernel has no cgroups, or lists no hierarchy
	// for the controller.
	ErrNoCgroup = errors.New("no cgroup")

	// ErrNoController means that the process is in a version 2 cgroup for
	// which the parent has not enabled the controller.
	ErrNoController = errors.New("controller is not enabled for this cgroup")

	// ErrForeignNamespace means that the only mounts of the hierarchy belong
	// to another cgroup namespace, or that the process was moved out of the
	// tree of its own one. What is mounted there is not this process's.
	ErrForeignNamespace = errors.New("cgroup mount belongs to another cgroup namespace")

	// ErrHostRoot means that the process is in the true root, so that the
	// numbers of its group are not of a part of the machine.
	ErrHostRoot = errors.New("the process is in the root cgroup, whose numbers are the whole machine's")

	// ErrHidden means that the process's cgroup exists but that no mount shows
	// it.
	ErrHidden = errors.New("no mount shows this cgroup")
)

// Scope says how much of a machine a cgroup may stand for.
type Scope uint8

const (
	// ScopeLeaf is an ordinary cgroup.
	ScopeLeaf Scope = iota + 1

	// ScopeNamespaceRoot is the root as seen from a cgroup namespace, usually
	// a container's own cgroup. Limits above it apply but cannot be seen.
	ScopeNamespaceRoot

	// ScopeHostRoot is the true root: its numbers are the machine's, and it
	// has neither limit nor peak.
	ScopeHostRoot
)

// String returns "leaf", "namespace root" or "host root".
func (s Scope) String() string {
	switch s {
	case ScopeLeaf:
		return "leaf"
	case ScopeNamespaceRoot:
		return "namespace root"
	case ScopeHostRoot:
		return "host root"
	}
	return fmt.Sprintf("Scope(%d)", uint8(s))
}

// Group is this process's cgroup for one controller.
type Group struct {
	Controller string
	Version    int    // 1 or 2
	Path       string // as /proc/self/cgroup has it
	Dir        string // the folder with its files
	Mount      string // the mount point at or above Dir
	Scope      Scope
}

// Dirs returns the group's folder and those above it that can be seen, up to
// the mount point. A limit in any of them binds the group.
func (g Group) Dirs() []string {
	dirs := []string{g.Dir}
	for d := g.Dir; d != g.Mount && len(d) > len(g.Mount); {
		d = filepath.Dir(d)
		dirs = append(dirs, d)
	}
	return dirs
}

// Cut reports whether the group has levels above the highest one that can be
// seen, as in most containers. A limit there binds as well.
func (g Group) Cut() bool {
	root, err := isHostRoot(g.Mount, g.Version)
	return err == nil && !root
}

// Cgroups is where this process stands in each cgroup hierarchy of the
// machine, and which of them can be seen.
type Cgroups struct {
	root    string
	members []membership
	mounts  []mount
}

// membership is one line of /proc/self/cgroup.
type membership struct {
	unified     bool     // the version 2 hierarchy
	controllers []string // version 1
	path        string
}

// Detect reads proc/self/cgroup and proc/self/mountinfo under root, which is
// "/" but for tests. The error matches [ErrNoCgroup] where the kernel has no
// cgroups.
func Detect(root string) (*Cgroups, error) { return detect(root, "self") }

// DetectOf is [Detect] for another process: its groups, as far as this process's
// mounts show them.
func DetectOf(root string, pid int) (*Cgroups, error) { return detect(root, strconv.Itoa(pid)) }

func detect(root, pid string) (*Cgroups, error) {
	name := filepath.Join(root, "proc", pid, "cgroup")
	b, err := ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", ErrNoCgroup, err)
	} else if err != nil {
		return nil, err
	}
	c := &Cgroups{root: root}
	if c.members, err = parseMembership(b); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	name = filepath.Join(root, "proc/self/mountinfo")
	if b, err = ReadFile(name); err != nil {
		return nil, err
	}
	mounts, err := parseMountinfo(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	c.mounts = visible(mounts)
	return c, nil
}

// At returns the same hierarchies with another group in place of the process's,
// by a path as /proc/self/cgroup would have it: absolute, clean, and relative to
// this process's cgroup namespace.
func (c *Cgroups) At(name string) (*Cgroups, error) {
	if !path.IsAbs(name) || path.Clean(name) != name {
		return nil, fmt.Errorf("cgroup path %q is not absolute and clean", name)
	}
	at := &Cgroups{root: c.root, members: slices.Clone(c.members), mounts: c.mounts}
	for i := range at.members {
		at.members[i].path = name
	}
	return at, nil
}

// parseMembership parses lines of "id:controllers:path". The path is the rest
// of the line, colons included: container runtimes use them. The kernel does
// not escape it, and does not let a name contain a newline.
func parseMembership(b []byte) ([]membership, error) {
	var members []membership
	for len(b) > 0 {
		var line []byte
		line, b = nextLine(b)
		if len(line) == 0 {
			continue
		}
		id, rest, ok1 := bytes.Cut(line, []byte(":"))
		list, path, ok2 := bytes.Cut(rest, []byte(":"))
		n, ok3 := digits(id)
		if !ok1 || !ok2 || !ok3 || len(path) == 0 || path[0] != '/' {
			return nil, fmt.Errorf("not a cgroup: %q", clip(line))
		}
		m := membership{path: string(path), unified: n == 0 && len(list) == 0}
		if len(list) > 0 {
			m.controllers = strings.Split(string(list), ",")
		}
		members = append(members, m)
	}
	return members, nil
}

// Lookup returns the process's cgroup for a controller: "memory", "cpu", "io"
// and so on, by the name it has in the version that it is found in. An empty
// name asks for the version 2 cgroup whatever its controllers, and so does
// "cpuacct" where version 1 does not have it, because every version 2 cgroup
// accounts CPU time.
//
// Each controller is attached to one hierarchy, so a version 1 line that names
// it wins, on a hybrid machine as on an old one, and version 2 is asked only
// if there is none.
//
// The error matches one of [ErrNoCgroup], [ErrNoController],
// [ErrForeignNamespace], [ErrHidden], [ErrDetached] or fs.ErrPermission, and
// says which path it is about.
func (c *Cgroups) Lookup(controller string) (Group, error) {
	member, ok := c.member(controller)
	if !ok {
		return Group{}, fmt.Errorf("%s: %w: not in /proc/self/cgroup", label(controller), ErrNoCgroup)
	}
	g, err := c.locate(controller, member)
	if err != nil {
		return Group{}, fmt.Errorf("%s: %w", label(controller), err)
	}
	if g.Version == 2 && controller != "" && controller != "cpuacct" {
		if err := enabled(g.Dir, controller); err != nil {
			return Group{}, fmt.Errorf("%s: %w", label(controller), err)
		}
	}
	return g, nil
}

// LookupOwn is [Cgroups.Lookup] for those who measure a group. The true root is
// none, and the error then matches [ErrHostRoot].
func (c *Cgroups) LookupOwn(controller string) (Group, error) {
	g, err := c.Lookup(controller)
	if err == nil && g.Scope == ScopeHostRoot {
		return Group{}, fmt.Errorf("%s: %w", label(controller), ErrHostRoot)
	}
	return g, err
}

// InVersion1 tells whether a version 1 hierarchy has the controller, for those
// that go by another name in version 2 (blkio is io there).
func (c *Cgroups) InVersion1(controller string) bool {
	m, ok := c.member(controller)
	return ok && !m.unified
}

// label is how a controller's hierarchy is called in an error.
func label(controller string) string {
	if controller == "" {
		return "unified cgroup"
	}
	return controller + " cgroup"
}

func (c *Cgroups) member(controller string) (membership, bool) {
	var unified *membership
	for i, m := range c.members {
		if controller != "" && slices.Contains(m.controllers, controller) {
			return m, true
		}
		if m.unified {
			unified = &c.members[i]
		}
	}
	if unified == nil {
		return membership{}, false
	}
	return *unified, true
}

// locate finds the mount that shows the group. There may be several, of which
// some show another part of the hierarchy; the first that leads to a folder
// of the group's name is taken, since all of those are the same folder.
func (c *Cgroups) locate(controller string, m membership) (Group, error) {
	if outside(m.path) {
		return Group{}, fmt.Errorf("%w: path %q", ErrForeignNamespace, m.path)
	}
	g := Group{Controller: controller, Version: 1, Path: m.path}
	if m.unified {
		g.Version = 2
	}
	failure := fmt.Errorf("%w: path %q", ErrHidden, m.path)
	for i := range c.mounts {
		mt := &c.mounts[i]
		if mt.version != g.Version || g.Version == 1 && !mt.has(controller) {
			continue
		}
		if outside(mt.root) {
			failure = fmt.Errorf("%w: root %q at %s", ErrForeignNamespace, mt.root, mt.point)
			continue
		}
		rest, ok := under(m.path, mt.root)
		if !ok {
			continue
		}
		g.Mount = filepath.Join(c.root, mt.point)
		g.Dir = filepath.Join(g.Mount, rest)
		err := g.inspect()
		if err == nil {
			return g, nil
		}
		failure = err
	}
	return Group{}, failure
}

// outside reports whether a path leads out of the cgroup namespace. The kernel
// writes such paths relative to the namespace's root, with leading "/..".
func outside(path string) bool {
	return path == "/.." || strings.HasPrefix(path, "/../")
}

// inspect checks that Dir is a folder of a cgroup file system, and sets Scope.
// The files tell, not the path: inside a namespace the root's path is "/" as
// well, but it has the files that the true root lacks.
func (g *Group) inspect() error {
	switch ok, err := exists(g.Dir, "cgroup.procs"); {
	case err != nil:
		return err
	case !ok && strings.HasSuffix(g.Path, " (deleted)"):
		return fmt.Errorf("%w: path %q", ErrDetached, g.Path)
	case !ok:
		return fmt.Errorf("%w: %s has no cgroup.procs", ErrHidden, g.Dir)
	}
	g.Scope = ScopeLeaf
	if g.Path != "/" {
		return nil
	}
	root, err := isHostRoot(g.Dir, g.Version)
	if err != nil {
		return err
	}
	g.Scope = ScopeNamespaceRoot
	if root {
		g.Scope = ScopeHostRoot
	}
	return nil
}

// isHostRoot tells the true root from other groups: only it has release_agent
// in version 1, and only the others have cgroup.events in version 2.
func isHostRoot(dir string, version int) (bool, error) {
	marker, atRoot := "release_agent", true
	if version == 2 {
		marker, atRoot = "cgroup.events", false
	}
	ok, err := exists(dir, marker)
	return ok == atRoot, err
}

func exists(dir, name string) (bool, error) {
	_, err := os.Stat(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// enabled tells whether a version 2 group has the controller's files.
func enabled(dir, controller string) error {
	b, err := ReadFile(filepath.Join(dir, "cgroup.controllers"))
	if err != nil {
		return err
	}
	if !slices.Contains(strings.Fields(string(b)), controller) {
		return fmt.Errorf("%w: %s", ErrNoController, dir)
	}
	return nil
}
