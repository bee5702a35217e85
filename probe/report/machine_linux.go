package report

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/tidestaff/tidestaff/internal/proc"
)

// machine reads the parts of a provenance that only the kernel knows. What it
// cannot read stays empty.
func machine(root string) (cpu, kernel string, group *Cgroup) {
	root = rootOr(root)
	cpu, _ = proc.CPUModel(root)
	kernel, _ = proc.KernelRelease(root)
	groups, err := proc.Detect(root)
	if err != nil {
		return cpu, kernel, nil
	}
	// The two controllers may be in different hierarchies, and one of them out
	// of sight.
	if g, err := groups.Lookup("memory"); err == nil {
		group = &Cgroup{Version: g.Version, Memory: memoryLimit(g)}
	}
	if g, err := groups.Lookup("cpu"); err == nil {
		if group == nil {
			group = &Cgroup{Version: g.Version}
		}
		group.CPUs = cpuLimit(g)
	}
	return cpu, kernel, group
}

// memoryLimit is the tightest limit of the group and of those above it that
// can be seen, 0 if there is none.
func memoryLimit(g proc.Group) int64 {
	name := "memory.max"
	if g.Version == 1 {
		name = "memory.limit_in_bytes"
	}
	limit := uint64(math.MaxInt64)
	for _, dir := range g.Dirs() {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			continue // the root has no such file
		}
		if v, err := proc.ParseLimit(b); err == nil && v.OK {
			limit = min(limit, v.V)
		}
	}
	if limit == math.MaxInt64 {
		return 0
	}
	return int64(limit)
}

// cpuLimit is the tightest quota in CPUs, 0 if there is none.
func cpuLimit(g proc.Group) float64 {
	limit := math.Inf(1)
	for _, dir := range g.Dirs() {
		if m := quota(g.Version, dir); m.Limited && m.CPUs() > 0 {
			limit = min(limit, m.CPUs())
		}
	}
	if math.IsInf(limit, 1) {
		return 0
	}
	return limit
}

// quota reads the CPU quota of one group's folder. A folder without the files
// has none, like the root.
func quota(version int, dir string) proc.CPUMax {
	if version == 2 {
		b, err := os.ReadFile(filepath.Join(dir, "cpu.max"))
		if err != nil {
			return proc.CPUMax{}
		}
		m, _ := proc.ParseCPUMax(b)
		return m
	}
	us := func(name string) time.Duration {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return 0
		}
		v, _ := proc.ParseInt(bytes.TrimSpace(b))
		return time.Duration(v) * time.Microsecond
	}
	q, period := us("cpu.cfs_quota_us"), us("cpu.cfs_period_us")
	return proc.CPUMax{Quota: q, Period: period, Limited: q > 0 && period > 0}
}
