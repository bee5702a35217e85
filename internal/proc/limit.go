package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
)

// A Limit reads a limit that binds a group: the smallest of those of its own
// folder and of the folders above it that can be seen. In many containers the
// leaf's own is "max" and the pod's, one level up, is the one that kills.
// Levels above a namespace's root bind as well and cannot be seen.
//
// It keeps its files open, and like a [File] has one user at a time.
type Limit struct {
	files []*File
	// width is how many of the files make up one level.
	width int
	// level gives one level's limit, +Inf if it has none.
	level func(files []*File) (float64, error)
}

// OpenMemoryLimit opens the memory limit of a group of the memory controller,
// in bytes.
//
// Version 2 has it in memory.max of each level. Version 1 has the smallest of
// all levels, seen or not, as hierarchical_memory_limit in memory.stat.
func OpenMemoryLimit(g Group) (*Limit, error) {
	if g.Version == 1 {
		f, err := Open(filepath.Join(g.Dir, "memory.stat"))
		if err != nil {
			return nil, err
		}
		return &Limit{files: []*File{f}, width: 1, level: hierarchicalLimit}, nil
	}
	return openLimit(g, numberOrMax, "memory.max")
}

// OpenMemoryHigh opens the charge above which a group of the memory controller
// is slowed down, in bytes: memory.high of each level. Version 1 has no such
// thing; the error then matches [ErrNotInVersion1].
func OpenMemoryHigh(g Group) (*Limit, error) {
	if g.Version == 1 {
		return nil, fmt.Errorf("memory.high: %w", ErrNotInVersion1)
	}
	return openLimit(g, numberOrMax, "memory.high")
}

// OpenPidsLimit opens the limit of tasks, which are threads, of a group of the
// pids controller: pids.max of each level.
func OpenPidsLimit(g Group) (*Limit, error) { return openLimit(g, numberOrMax, "pids.max") }

// ErrNotInVersion1 means that cgroup version 1 does not have such a file.
var ErrNotInVersion1 = errors.New("cgroup version 1 does not have it")

// OpenCPULimit opens the CPU quota of a group of the cpu controller, in CPUs:
// cpu.max of each level in version 2, cpu.cfs_quota_us by cpu.cfs_period_us in
// version 1.
func OpenCPULimit(g Group) (*Limit, error) {
	if g.Version == 1 {
		return openLimit(g, cfsQuota, "cpu.cfs_quota_us", "cpu.cfs_period_us")
	}
	return openLimit(g, cpuMax, "cpu.max")
}

// openLimit opens the named files of each level. The true root has none of
// them; the group's own folder has all, or the kernel has no such limit.
func openLimit(g Group, level func([]*File) (float64, error), names ...string) (*Limit, error) {
	l := &Limit{width: len(names), level: level}
	for _, dir := range g.Dirs() {
		files, err := openAll(dir, names)
		if errors.Is(err, fs.ErrNotExist) && dir != g.Dir {
			continue
		}
		if err != nil {
			l.Close()
			return nil, err
		}
		l.files = append(l.files, files...)
	}
	return l, nil
}

// openAll opens all of a folder's named files, or none.
func openAll(dir string, names []string) ([]*File, error) {
	var files []*File
	for _, name := range names {
		f, err := Open(filepath.Join(dir, name))
		if err != nil {
			closeFiles(files)
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// closeFiles closes files from which was only read, so that nothing is lost
// with an error.
func closeFiles(files []*File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// Read returns the limit, +Inf if none is set. It does not allocate. An error
// at any level is returned: without that level the answer may be too large.
func (l *Limit) Read() (float64, error) {
	least := math.Inf(1)
	for i := 0; i < len(l.files); i += l.width {
		v, err := l.level(l.files[i : i+l.width])
		if err != nil {
			return 0, err
		}
		least = min(least, v)
	}
	return least, nil
}

// Reopen opens the files by their paths anew; see [File.Reopen].
func (l *Limit) Reopen() error {
	for _, f := range l.files {
		if err := f.Reopen(); err != nil {
			return err
		}
	}
	return nil
}

// Close closes the files. A nil Limit may be closed, and a closed one again.
func (l *Limit) Close() {
	if l != nil {
		closeFiles(l.files)
	}
}

// numberOrMax is a file of one level that holds a number or "max".
func numberOrMax(files []*File) (float64, error) {
	b, err := files[0].Read()
	if err != nil {
		return 0, err
	}
	v, err := ParseLimit(b)
	return orNone(v), files[0].About(err)
}

// HierarchicalLimitKey is the line of version 1's memory.stat that has the limit
// over all levels; see [Bounded].
const HierarchicalLimitKey = "hierarchical_memory_limit"

var hierarchicalKey = []string{HierarchicalLimitKey}

// Bounded is a limit of version 1 as it was read, absent if it is so large that
// it means that there is none.
func Bounded(v Value) Value {
	if v.V >= noLimit {
		return Value{}
	}
	return v
}

// hierarchicalLimit is version 1's limit over all levels.
func hierarchicalLimit(files []*File) (float64, error) {
	b, err := files[0].Read()
	if err != nil {
		return 0, err
	}
	var v [1]Value
	if err := ParseFlat(b, hierarchicalKey, v[:]); err != nil {
		return 0, files[0].About(err)
	}
	return orNone(Bounded(v[0])), nil
}

func orNone(v Value) float64 {
	if !v.OK {
		return math.Inf(1)
	}
	return float64(v.V)
}

// cpuMax is cpu.max of one level.
func cpuMax(files []*File) (float64, error) {
	b, err := files[0].Read()
	if err != nil {
		return 0, err
	}
	m, err := ParseCPUMax(b)
	if v := m.CPUs(); v > 0 {
		return v, nil
	}
	return math.Inf(1), files[0].About(err) // the kernel refuses a quota of nothing
}

// cfsQuota is version 1's quota of one level, which is -1 if there is none.
func cfsQuota(files []*File) (float64, error) {
	var us [2]int64
	for i, f := range files {
		b, err := f.Read()
		if err != nil {
			return 0, err
		}
		if us[i], err = ParseInt(b); err != nil {
			return 0, f.About(err)
		}
	}
	if us[0] <= 0 || us[1] <= 0 {
		return math.Inf(1), nil
	}
	return float64(us[0]) / float64(us[1]), nil
}
