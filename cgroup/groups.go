package cgroup

import (
	"github.com/tidestaff/tidestaff/internal/proc"
)

// A Group is the control group of one controller, as it was found, or the reason
// why it is not measured. A refusal is on purpose: the group that a mount happens
// to show is often the whole machine's, and its numbers would look plausible.
type Group struct {
	// Controller is the kernel's name: "memory", "cpu", "cpuacct", "io" ("blkio"
	// in version 1) or "pids", or "pressure" for the files of the version 2 group
	// itself.
	Controller string
	// Version is 1 or 2, 0 if the group was not found.
	Version int
	// Path is as /proc/PID/cgroup has it, and Dir the folder with the files.
	Path, Dir string
	// Scope is "leaf" for an ordinary group and "namespace root" for the root of
	// a cgroup namespace, usually a container's own group: limits above it bind
	// as well, and cannot be seen.
	Scope string
	// Reason is why the group is not measured, empty if it is.
	Reason string
}

// Groups looks for the groups that the probe would measure, one of each
// controller. On a hybrid host they are of both versions. It allocates, and it
// may be called at any time, watched or not.
func (p *Probe) Groups() []Group {
	p.mu.Lock()
	defer p.mu.Unlock()
	return listGroups(p.detect())
}

func listGroups(groups *proc.Cgroups, err error) []Group {
	var all []Group
	for _, controller := range []string{"memory", "cpu", "cpuacct", "io", "pids", ""} {
		name := controller
		switch {
		case controller == "":
			name = "pressure"
		case controller == "io" && err == nil && groups.InVersion1("blkio"):
			controller, name = "blkio", "blkio"
		}
		var g proc.Group
		failure := err
		if err == nil {
			g, failure = groups.LookupOwn(controller)
		}
		found := Group{Controller: name}
		if failure != nil {
			found.Reason = reason(failure)
		} else {
			found.Version, found.Path, found.Dir, found.Scope = g.Version, g.Path, g.Dir, g.Scope.String()
		}
		all = append(all, found)
	}
	return all
}
