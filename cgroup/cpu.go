package cgroup

import (
	"errors"
	"path/filepath"
	"time"

	"github.com/tidestaff/tidestaff/internal/proc"
)

// openGroupCPU measures the group's CPU time. Every version 2 group has it in
// cpu.stat, with or without the cpu controller, in microseconds. Version 1 has
// it in cpuacct.stat, in steps of 10 ms.
//
// Note: version 1's cpuacct.usage is finer and does not tell the modes apart,
// and the files that do are not there before Linux 4.7. A window in which 10 ms
// matter is a benchmark's, which has the process's own time.
func (p *Probe) openGroupCPU(g proc.Group) (*source, error) {
	if g.Version == 2 {
		return p.openModes(filepath.Join(g.Dir, "cpu.stat"), []string{"user_usec", "system_usec"}, time.Microsecond)
	}
	return p.openModes(filepath.Join(g.Dir, "cpuacct.stat"), []string{"user", "system"}, 10*time.Millisecond)
}

// openModes opens a file of time in user and in system mode. The counters are
// made when the first numbers are there: one that is never fed reads zero.
func (p *Probe) openModes(name string, keys []string, unit time.Duration) (*source, error) {
	var user, system *tally
	s, err := flat(name, keys, func(v []proc.Value) error {
		if !v[0].OK || !v[1].OK {
			return errors.New("no time in user and system mode")
		}
		if user == nil {
			user, system = p.modes(descGroupCPU, unit)
		}
		user.set(v[0].V)
		system.set(v[1].V)
		return nil
	})
	s.metrics = cpuDescs
	return s, err
}
