package cgroup

import (
	"path/filepath"

	"github.com/tidestaff/tidestaff/internal/proc"
)

// openTasks measures how many tasks, which are threads, the group has: a process
// that starts threads without end meets this limit with EAGAIN.
func (p *Probe) openTasks(g proc.Group) {
	tasks := new(charge)
	p.add(p.openLevel(descTasks, descTasksCourse, descTasksPeak, filepath.Join(g.Dir, "pids.current"), tasks))
	p.add(p.openTasksPeak(g, tasks))
	p.add(p.openLimit(descTasksLimit, g, proc.OpenPidsLimit))
}

// openTasksPeak opens pids.peak (Linux 6.1; in version 1 from 6.11 on), which
// has the maximum of the group's life and refuses to be set back.
func (p *Probe) openTasksPeak(g proc.Group, tasks *charge) (*source, error) {
	mark, err := proc.Open(filepath.Join(g.Dir, "pids.peak"))
	if err != nil {
		mark = nil
	}
	return p.groupPeak(levelMark{desc: descTasksPeak, last: tasks, mark: mark, rose: "pids.peak rose"})
}
