package cgroup

import (
	"path/filepath"

	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

// openMemory opens the memory controller's files, each of which may be missing
// without the others.
func (p *Probe) openMemory(g proc.Group) {
	p.add(p.openUsage(g))
	p.add(p.openLimit(descGroupLimit, g, proc.OpenMemoryLimit))
	if g.Version == 2 {
		p.add(p.openPeak2(g))
		p.add(p.openStat2(g))
	} else {
		p.add(p.openPeak1(g))
		p.add(p.openStat1(g))
	}
}

// usageFile is the group's present charge.
func usageFile(g proc.Group) string {
	if g.Version == 2 {
		return filepath.Join(g.Dir, "memory.current")
	}
	return filepath.Join(g.Dir, "memory.usage_in_bytes")
}

// openUsage measures the group's charge. Version 1 counts it per CPU and may
// be off by a batch of 32 pages for each.
func (p *Probe) openUsage(g proc.Group) (*source, error) {
	s := &source{metrics: []*probe.Desc{descGroupUsage}}
	f, err := proc.Open(usageFile(g))
	if err != nil {
		return s, err
	}
	level := p.core.Gauge(descGroupUsage)
	s.reopen, s.close = f.Reopen, closeAll(f)
	s.sample = func() error {
		v, err := readUint(f)
		if err == nil {
			level.Set(float64(v))
		}
		return err
	}
	return s, nil
}

// The keys of memory.stat. Version 1 prints each number twice: with "total_" it
// includes the groups below, as version 2's always does.
var (
	stat2Keys = []string{"anon", "file", "shmem", "kernel", "sock"}
	stat1Keys = []string{"total_rss", "total_cache", "total_shmem"}
)

// openStat2 measures the split of the group's charge. The kernel adds up its
// per-CPU counts for this file at each read, which on large machines costs more
// than the text does: it is read at boundaries only. The sum "kernel" is
// missing before Linux 5.18, and so is that series.
func (p *Probe) openStat2(g proc.Group) (*source, error) {
	split := p.newSplit()
	s, err := flat(filepath.Join(g.Dir, "memory.stat"), stat2Keys, func(v []proc.Value) error {
		split.set(v[0], v[1], v[2], v[3], v[4])
		return nil
	})
	s.metrics = []*probe.Desc{descGroupStat}
	return s, err
}

// openStat1 measures the split in version 1, which does not account kernel
// memory in it. What it calls rss is anonymous memory only, and not the sum of
// its processes' resident sets.
func (p *Probe) openStat1(g proc.Group) (*source, error) {
	split := p.newSplit()
	s, err := flat(filepath.Join(g.Dir, "memory.stat"), stat1Keys, func(v []proc.Value) error {
		split.set(v[0], v[1], v[2], proc.Value{}, proc.Value{})
		return nil
	})
	s.metrics = []*probe.Desc{descGroupStat}
	return s, err
}

// A split is the group's charge by type.
type split struct{ anon, file, shmem, kernel, sock *probe.Gauge }

func (p *Probe) newSplit() split {
	of := func(kind string) *probe.Gauge {
		return p.core.Gauge(descGroupStat, probe.Attr{Key: attrCgroupMemory, Value: kind})
	}
	return split{of("anon"), of("file"), of("shmem"), of("kernel"), of("sock")}
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
