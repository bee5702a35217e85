package cgroup

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

// errNoLimit is why a limit is absent.
var errNoLimit = errors.New("no limit is set")

// A limit is a gauge that is often absent for a good reason, which may change
// while the probe runs.
type limit struct {
	core  *probe.Core
	desc  *probe.Desc
	gauge *probe.Gauge
	known bool // gauge and list of absent metrics say
	ok    bool // whether there is a limit
}

func (p *Probe) newLimit(d *probe.Desc) *limit {
	return &limit{core: &p.core, desc: d, gauge: p.core.Gauge(d)}
}

// set sets the gauge, and says why it is absent when that changes.
func (l *limit) set(v float64, ok bool) {
	if ok {
		l.gauge.Set(v)
	} else {
		set(l.gauge, proc.Value{})
	}
	if l.known && l.ok == ok {
		return
	}
	l.known, l.ok = true, ok
	if ok {
		l.core.Absent(l.desc.Name, "")
	} else {
		l.core.Absent(l.desc.Name, errNoLimit.Error())
	}
}

// openLimit2 measures the limit that binds the group: the smallest memory.max
// of the group and of those above it. The leaf's alone is "max" in many
// containers whose pod is limited. Levels above the namespace's root bind as
// well but cannot be seen.
func (p *Probe) openLimit2(g proc.Group) (*source, error) {
	s := &source{metrics: []*probe.Desc{descGroupLimit}}
	files, err := openLevels(g, "memory.max")
	if err != nil {
		return s, err
	}
	l := p.newLimit(descGroupLimit)
	s.gauges = []*probe.Gauge{l.gauge}
	s.close = closeAll(files...)
	s.sample = func() error {
		var least proc.Value
		for _, f := range files {
			b, err := f.Read()
			if err != nil {
				return err
			}
			v, err := proc.ParseLimit(b)
			if err != nil {
				return err
			}
			if v.OK && (!least.OK || v.V < least.V) {
				least = v
			}
		}
		l.set(float64(least.V), least.OK)
		return nil
	}
	return s, nil
}

// openLevels opens one file in the group's folder and in those above it that
// have it; the root has no limits.
func openLevels(g proc.Group, name string) ([]*proc.File, error) {
	var files []*proc.File
	for _, dir := range g.Dirs() {
		f, err := proc.Open(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) && dir != g.Dir {
			continue
		}
		if err != nil {
			closeAll(files...)()
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// The keys of memory.stat. Version 1 prints each twice: with "total_" it
// includes the groups below, as version 2 always does.
var (
	stat2Keys = []string{"anon", "file", "shmem", "kernel", "sock"}
	stat1Keys = []string{"total_rss", "total_cache", "total_shmem", "hierarchical_memory_limit"}
)

// openStat2 measures the split of the group's charge.
func (p *Probe) openStat2(g proc.Group) (*source, error) {
	s := &source{metrics: []*probe.Desc{descGroupStat}}
	f, err := proc.Open(filepath.Join(g.Dir, "memory.stat"))
	if err != nil {
		return s, err
	}
	split := p.newSplit()
	s.gauges = split.gauges()
	s.close = closeAll(f)
	var v [5]proc.Value
	s.sample = func() error {
		b, err := f.Read()
		if err == nil {
			err = proc.ParseFlat(b, stat2Keys, v[:])
		}
		if err == nil {
			split.set(v[0], v[1], v[2], v[3], v[4])
		}
		return err
	}
	return s, nil
}

// openStat1 measures the split and the limit, which version 1 has in one file:
// hierarchical_memory_limit is the smallest of all levels, seen or not.
func (p *Probe) openStat1(g proc.Group) (*source, error) {
	s := &source{metrics: []*probe.Desc{descGroupStat, descGroupLimit}}
	f, err := proc.Open(filepath.Join(g.Dir, "memory.stat"))
	if err != nil {
		return s, err
	}
	split, l := p.newSplit(), p.newLimit(descGroupLimit)
	s.gauges = append(split.gauges(), l.gauge)
	s.close = closeAll(f)
	var v [4]proc.Value
	s.sample = func() error {
		b, err := f.Read()
		if err == nil {
			err = proc.ParseFlat(b, stat1Keys, v[:])
		}
		if err != nil {
			return err
		}
		split.set(v[0], v[1], v[2], proc.Value{}, proc.Value{})
		l.set(float64(v[3].V), v[3].OK && v[3].V < unlimited)
		return nil
	}
	return s, nil
}

// unlimited is where numbers begin that mean "no limit" in version 1: the
// largest signed number, rounded down to a page of up to 64 KiB.
const unlimited = 1<<63 - 1<<16

// A split is the group's charge by type.
type split struct{ anon, file, shmem, kernel, sock *probe.Gauge }

func (p *Probe) newSplit() split {
	of := func(kind string) *probe.Gauge {
		return p.core.Gauge(descGroupStat, probe.Attr{Key: attrCgroupMemory, Value: kind})
	}
	return split{of("anon"), of("file"), of("shmem"), of("kernel"), of("sock")}
}

func (s split) gauges() []*probe.Gauge {
	return []*probe.Gauge{s.anon, s.file, s.shmem, s.kernel, s.sock}
}

// set takes the kernel's numbers. It counts tmpfs and shared memory as file
// and as shmem; here each byte is in one type, since only the rest of file can
// be dropped when memory is short.
func (s split) set(anon, file, shmem, kernel, sock proc.Value) {
	if file.OK && shmem.OK {
		file.V -= min(file.V, shmem.V)
	}
	set(s.anon, anon)
	set(s.file, file)
	set(s.shmem, shmem)
	set(s.kernel, kernel)
	set(s.sock, sock)
}
