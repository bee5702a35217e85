package report

import (
	"math"

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

// memoryLimit is the limit that binds the group, 0 if there is none or it is
// not to be seen.
func memoryLimit(g proc.Group) int64 { return int64(limit(proc.OpenMemoryLimit(g))) }

// cpuLimit is the quota that binds the group in CPUs, 0 as in memoryLimit.
func cpuLimit(g proc.Group) float64 { return limit(proc.OpenCPULimit(g)) }

// limit reads a limit once.
func limit(l *proc.Limit, err error) float64 {
	if err != nil {
		return 0
	}
	defer l.Close()
	v, err := l.Read()
	if err != nil || math.IsInf(v, 1) {
		return 0
	}
	return v
}
