package memory

import (
	"errors"
	"os"
	"slices"

	"github.com/containerd/cgroups/v3"
	"github.com/containerd/cgroups/v3/cgroup1"
	"github.com/containerd/cgroups/v3/cgroup2"
)

// containerd asks containerd/cgroups for the group of this process, as its own
// functions for that find it, and for these controllers of version 1 only.
func containerd(controllers ...string) func() (ask, func(), error) {
	return func() (ask, func(), error) {
		if cgroups.Mode() == cgroups.Unified {
			return containerd2(controllers)
		}
		load, err := cgroup1.Load(cgroup1.PidPath(os.Getpid()), cgroup1.WithHierarchy(only(controllers)))
		if err != nil {
			return nil, nil, err
		}
		return func(to *amounts) error {
			m, err := load.Stat()
			if err != nil {
				return err
			}
			if slices.Contains(controllers, "memory") {
				if m.Memory == nil {
					return errNoMemory
				}
				to[usage], to[peak] = m.Memory.Usage.Usage, m.Memory.Usage.Max
				to[groupAnon], to[groupCache] = m.Memory.TotalRSS, m.Memory.TotalCache
			}
			to[cpuUser], to[cpuSystem] = m.CPU.Usage.User, m.CPU.Usage.Kernel
			return nil
		}, func() {}, nil
	}
}

var errNoMemory = errors.New("no error and no memory numbers")

// only is containerd's hierarchy without the controllers that nobody asks for.
func only(controllers []string) cgroup1.Hierarchy {
	return func() ([]cgroup1.Subsystem, error) {
		all, err := cgroup1.Default()
		return slices.DeleteFunc(all, func(s cgroup1.Subsystem) bool {
			return !slices.Contains(controllers, string(s.Name()))
		}), err
	}
}

// masks2 are version 2's statistics for version 1's controllers.
var masks2 = map[string]cgroup2.StatMask{
	"memory": cgroup2.StatMemory, "cpuacct": cgroup2.StatCPU, "pids": cgroup2.StatPids, "blkio": cgroup2.StatIO,
}

func containerd2(controllers []string) (ask, func(), error) {
	path, err := cgroup2.PidGroupPath(os.Getpid())
	if err != nil {
		return nil, nil, err
	}
	m, err := cgroup2.Load(path)
	if err != nil {
		return nil, nil, err
	}
	var mask cgroup2.StatMask
	for _, c := range controllers {
		mask |= masks2[c]
	}
	return func(to *amounts) error {
		s, err := m.StatFiltered(mask)
		if err != nil {
			return err
		}
		if s.Memory != nil {
			to[usage], to[peak] = s.Memory.Usage, s.Memory.MaxUsage
			to[groupAnon], to[groupCache], to[groupShmem] = s.Memory.Anon, s.Memory.File, s.Memory.Shmem
		}
		if s.CPU != nil {
			to[cpuUser], to[cpuSystem] = s.CPU.UserUsec*1000, s.CPU.SystemUsec*1000
		}
		return nil
	}, func() {}, nil
}
