package memory

import (
	"path/filepath"

	"github.com/opencontainers/cgroups"
	"github.com/opencontainers/cgroups/fs"
	"github.com/opencontainers/cgroups/fs2"
)

// opencontainers asks opencontainers/cgroups for the group of this process, as
// its own functions for that find it, and for these controllers of version 1
// only.
func opencontainers(controllers ...string) func() (ask, func(), error) {
	return func() (ask, func(), error) {
		m, err := openManager(controllers)
		if err != nil {
			return nil, nil, err
		}
		o := &cgroups.StatsOptions{}
		for _, c := range controllers {
			o.Controllers |= statistics[c]
		}
		return func(to *amounts) error {
			s, err := m.Stats(o)
			if err != nil {
				return err
			}
			fillOpencontainers(to, s)
			return nil
		}, func() {}, nil
	}
}

// statistics are what is asked for, by version 1's controllers.
var statistics = map[string]cgroups.Controller{
	"memory": cgroups.Memory, "cpuacct": cgroups.CPU, "cpu": cgroups.CPU, "pids": cgroups.Pids, "blkio": cgroups.IO,
}

// fillOpencontainers takes the split from the map of all keys of memory.stat,
// which is the only place that has it.
func fillOpencontainers(to *amounts, s *cgroups.Stats) {
	to[usage], to[peak] = s.MemoryStats.Usage.Usage, s.MemoryStats.Usage.MaxUsage
	keys := [...]string{"total_rss", "total_cache", "total_shmem"}
	if cgroups.IsCgroup2UnifiedMode() {
		keys = [...]string{"anon", "file", "shmem"}
	}
	for i, f := range splitFields {
		to[f] = s.MemoryStats.Stats[keys[i]]
	}
	to[cpuUser], to[cpuSystem] = s.CpuStats.CpuUsage.UsageInUsermode, s.CpuStats.CpuUsage.UsageInKernelmode
}

// A manager is what both versions' managers are asked for.
type manager interface {
	Stats(*cgroups.StatsOptions) (*cgroups.Stats, error)
}

func openManager(controllers []string) (manager, error) {
	config := &cgroups.Cgroup{Resources: &cgroups.Resources{}}
	if cgroups.IsCgroup2UnifiedMode() {
		own, err := cgroups.ParseCgroupFile("/proc/self/cgroup")
		if err != nil {
			return nil, err
		}
		return fs2.NewManager(config, filepath.Join(fs2.UnifiedMountpoint, own[""]))
	}
	paths := map[string]string{}
	for _, c := range controllers {
		p, err := cgroups.GetOwnCgroupPath(c)
		if err != nil {
			return nil, err
		}
		paths[c] = p
	}
	return fs.NewManager(config, paths)
}
