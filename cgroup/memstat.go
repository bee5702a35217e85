package cgroup

import (
	"path/filepath"
	"slices"

	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

// The keys of memory.stat, in the order of memstat. Version 1 prints each number
// twice: with "total_" it includes the groups below, as version 2's always does.
// "-" is one that the version does not have.
var (
	stat2Keys = []string{"anon", "file", "shmem", "inactive_file", "pgfault", "pgmajfault", "kernel", "sock"}
	stat1Keys = []string{"total_rss", "total_cache", "total_shmem", "total_inactive_file", "total_pgfault", "total_pgmajfault",
		"-", "-", "total_swap", proc.HierarchicalLimitKey}
)

// statDescs come from memory.stat as a whole; of statDecides each may be missing
// in it.
var (
	statDescs   = []*probe.Desc{descGroupStat}
	statDecides = []*probe.Desc{
		descInactive, descWorkingSet, descWorkingSetCourse, descUncached, descUncachedCourse, descGroupFaults,
	}
)

var (
	workingDescs  = []*probe.Desc{descWorkingSet, descWorkingSetCourse}
	swapDescs     = []*probe.Desc{descGroupSwap, descGroupSwapCourse}
	uncachedDescs = []*probe.Desc{descUncached, descUncachedCourse}
)

// openStat2 measures the split of the group's charge. The kernel adds up its
// per-CPU counts for this file at each read, which on large machines costs more
// than the text does: it is not for each tick. The sum "kernel" is missing
// before Linux 5.18, and so is that series.
func (p *Probe) openStat2(g proc.Group, usage *charge) (*source, error) {
	m := p.newMemstat(usage)
	s, err := flat(filepath.Join(g.Dir, "memory.stat"), stat2Keys, m.set)
	s.metrics, s.decides, s.rich = statDescs, statDecides, true
	return s, err
}

// openStat1 measures the split in version 1, which does not account kernel
// memory in it. What it calls rss is anonymous memory only, and not the sum of
// its processes' resident sets. The file also has the limit that binds the group,
// and what is in swap.
func (p *Probe) openStat1(g proc.Group, usage *charge) (*source, error) {
	m := p.newMemstat(usage)
	m.swap = p.core.Gauge(descGroupSwap)
	m.swap.Course(descGroupSwapCourse)
	limit := p.core.Gauge(descGroupLimit)
	s, err := flat(filepath.Join(g.Dir, "memory.stat"), stat1Keys, func(v []proc.Value) error {
		most := proc.Bounded(v[9])
		set(limit, most)
		p.offer(descGroupLimit, most.OK, "no limit is set") // at any level, seen or not
		return m.set(v)
	})
	s.metrics, s.rich = statDescs, true
	s.decides = slices.Concat(swapDescs, statDecides, []*probe.Desc{descGroupLimit})
	return s, err
}

// A memstat is what becomes of memory.stat.
type memstat struct {
	p                               *Probe
	usage                           *charge // the charge at the same boundary
	anon, file, shmem, kernel, sock *probe.Gauge
	swap                            *probe.Gauge // version 1 only
	inactive, working, uncached     *probe.Gauge
	minor, major                    *tally
}

func (p *Probe) newMemstat(usage *charge) *memstat {
	of := func(kind string) *probe.Gauge {
		return p.core.Gauge(descGroupStat, probe.Attr{Key: attrCgroupMemory, Value: kind})
	}
	m := &memstat{
		p: p, usage: usage,
		anon: of("anon"), file: of("file"), shmem: of("shmem"), kernel: of("kernel"), sock: of("sock"),
		inactive: p.core.Gauge(descInactive), working: p.core.Gauge(descWorkingSet), uncached: p.core.Gauge(descUncached),
	}
	m.uncached.Course(descUncachedCourse)
	m.working.Course(descWorkingSetCourse)
	return m
}

// set takes the kernel's numbers. It counts tmpfs and shared memory as file
// and as shmem; here each byte is in one type, since only the rest of file can
// be dropped when memory is short.
func (m *memstat) set(v []proc.Value) error {
	file, shmem := v[1], v[2]
	if file.OK && shmem.OK {
		file.V -= min(file.V, shmem.V)
	}
	set(m.anon, v[0])
	set(m.file, file)
	set(m.shmem, shmem)
	set(m.kernel, v[6])
	set(m.sock, v[7])
	if m.swap != nil {
		set(m.swap, v[8])
		for _, d := range swapDescs {
			m.p.offer(d, v[8].OK, "swap is not accounted: memory.stat does not have it")
		}
	}
	set(m.inactive, v[3])
	m.p.offers(descInactive, v[3])
	m.less(workingDescs, m.working, v[3])
	m.less(uncachedDescs, m.uncached, file)
	m.faults(v[4], v[5])
	return nil
}

// less sets a level to the group's charge without a part of it. The two are from
// two files and a few microseconds apart.
func (m *memstat) less(ds []*probe.Desc, g *probe.Gauge, part proc.Value) {
	set(g, proc.Value{V: m.usage.bytes - min(m.usage.bytes, part.V), OK: m.usage.err == nil && part.OK})
	for _, d := range ds {
		m.p.offers(d, part)
	}
	if m.usage.err != nil {
		m.p.list(ds, m.usage.err)
	}
}

// faults counts page faults; the kernel's pgfault has both kinds.
func (m *memstat) faults(all, major proc.Value) {
	ok := all.OK && major.OK
	if ok && m.minor == nil {
		m.minor = m.p.tally(descGroupFaults, 1, probe.Attr{Key: attrFault, Value: "minor"})
		m.major = m.p.tally(descGroupFaults, 1, probe.Attr{Key: attrFault, Value: "major"})
	}
	if ok {
		m.minor.set(all.V - min(all.V, major.V))
		m.major.set(major.V)
	}
	m.p.offers(descGroupFaults, proc.Value{OK: ok})
}
