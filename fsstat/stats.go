package fsstat

import (
	"cmp"
	"slices"

	"github.com/tidestaff/tidestaff/probe"
)

// Counts are what was done with files in a window.
type Counts struct {
	Opens, Reads, Writes, Stats, ReadDirs int64

	BytesRead, BytesWritten int64
	// KernelRead and KernelWritten are those of the bytes that the kernel
	// copied; unknown, not zero, unless Stats.Kernel.
	KernelRead, KernelWritten int64

	Errors map[string]int64 // by the kernel's name, such as "ENOENT", or class; nil for none
}

// Passes are files whose reading was begun in a window, by what had become of
// them since they were last read.
type Passes struct {
	// First were not read before, Unchanged are apparently as they were, Grown
	// are the same files with more in them, and Changed are others of the same
	// path, or have another content.
	First, Unchanged, Grown, Changed int64
	// Unknown are those of files beyond the number that can be compared; see
	// [Options].MaxPaths.
	Unknown int64
	// Avoidable are the bytes that passes over unchanged files have read again,
	// and AvoidableGrown those of files that had grown behind them.
	Avoidable, AvoidableGrown int64
}

// Stats are a window's file operations, together, by role and by path.
type Stats struct {
	Counts
	Roles map[string]Counts
	// Kernel says whether the bytes that the kernel copied were told from
	// others, and KernelCopies how many reads and writes were such copies.
	Kernel       bool
	KernelCopies int64

	Passes     Passes
	Unread     int64            // files opened for reading, and closed without a read or other use that the probe saw
	ReadSizes  map[string]int64 // reads by the program by size; see AttrReadSize
	SmallReads int64            // those of them that brought 1 to 4095 bytes

	Coverage Coverage // of the process's reads
	Around   *Gap     // opens around the probe; nil if no folder is to be watched (Options.WatchDirs)

	Paths []PathCounts // those with most bytes read first; "(other)" is one of them
}

// PathCounts are what was done with the files of a path.
type PathCounts struct {
	Path string
	Counts
	SmallReads           int64 // reads that brought 1 to 4095 bytes
	Unchanged, Avoidable int64 // passes and bytes; see Passes
	Unread               int64 // opens without a read
	Size                 int64 // of the file, when it was last begun to be read; 0 if it is not known
}

// Scans is how many times over the file was read, by its last known size; 0 if
// that is not known.
func (p *PathCounts) Scans() float64 {
	if p.Size <= 0 {
		return 0
	}
	return float64(p.BytesRead) / float64(p.Size)
}

// LacksBuffer says that the file is read in many small pieces, so that a
// bufio.Reader would spare most of the system calls: a hundred small reads or
// more, and nine of ten reads among them.
func (p *PathCounts) LacksBuffer() bool { return p.SmallReads >= 100 && p.SmallReads*10 >= p.Reads*9 }

// StatsOf is the typed view of a reading, be it fresh or read back from a
// report; false if it has no file operations in it. If it holds several file
// probes, those of the first one are returned.
func StatsOf(r *probe.Reading) (Stats, bool) {
	s := Stats{Roles: map[string]Counts{}}
	name, alone, found := probeOf(r)
	if !found {
		return s, false
	}
	for i := range r.Metrics {
		if m := &r.Metrics[i]; m.Desc != nil && m.Attr(probe.AttrProbeName) == name {
			s.Kernel = s.Kernel || m.Name == descKernelIO.Name
			s.add(m)
		}
	}
	s.Paths = pathsOf(r, name)
	s.Coverage = coverageOf(r, name, s.BytesRead)
	s.Around = gapOf(r, name, alone)
	return s, true
}

// probeOf is the name of the first file probe in a reading, whichever of its
// metrics it has: one past which everything went has no operations. One of which
// all is absent has no name. Alone says that it is the only one.
func probeOf(r *probe.Reading) (name string, alone, found bool) {
	alone = true
	for i := range r.Metrics {
		m := &r.Metrics[i]
		switch {
		case m.Desc == nil || !isOurs(m.Name):
		case !found:
			name, found = m.Attr(probe.AttrProbeName), true
		case m.Attr(probe.AttrProbeName) != name:
			alone = false
		}
	}
	if !found {
		found = slices.ContainsFunc(r.Absent, func(a probe.Absent) bool { return isOurs(a.Name) })
	}
	return name, alone, found
}

// isOurs says whether a metric is one of this package's.
func isOurs(name string) bool {
	is := func(d *probe.Desc) bool { return d.Name == name }
	return slices.ContainsFunc(descs, is) || slices.ContainsFunc(pathDescs, is)
}

// add adds a metric, if it is one of this package's.
func (s *Stats) add(m *probe.Metric) {
	n := int64(m.Value)
	switch m.Name {
	case descPathOps.Name, descPathIO.Name, descAround.Name:
		return // they are in the totals, or in the gap
	case descUnread.Name:
		s.Unread += n
	case descCopies.Name:
		s.KernelCopies += n
	case descSizes.Name:
		s.addSize(m.Attr(AttrReadSize), n)
	case descPasses.Name:
		if to := s.Passes.field(m.Attr(AttrPass)); to != nil {
			*to += n
		}
	case descAvoidable.Name:
		if m.Attr(AttrPass) == findingNames[grown] {
			s.Passes.AvoidableGrown += n
		} else {
			s.Passes.Avoidable += n
		}
	default:
		s.Counts.add(m)
		c := s.Roles[m.Attr(probe.AttrRole)]
		if c.add(m) {
			s.Roles[m.Attr(probe.AttrRole)] = c
		}
	}
}

func (s *Stats) addSize(class string, n int64) {
	if n == 0 {
		return
	}
	if s.ReadSizes == nil {
		s.ReadSizes = map[string]int64{}
	}
	s.ReadSizes[class] += n
	if i := slices.Index(sizeNames[:], class); i > 0 && i <= smallRead {
		s.SmallReads += n
	}
}

func (p *Passes) field(found string) *int64 {
	switch found {
	case findingNames[first]:
		return &p.First
	case findingNames[unchanged]:
		return &p.Unchanged
	case findingNames[grown]:
		return &p.Grown
	case findingNames[changed]:
		return &p.Changed
	case findingNames[uncompared]:
		return &p.Unknown
	}
	return nil
}

// pathsOf are the paths of the probe of a name, of which something was done.
func pathsOf(r *probe.Reading, name string) []PathCounts {
	var all []PathCounts
	at := map[string]int{}
	for i := range r.Metrics {
		m := &r.Metrics[i]
		path := m.Attr(AttrPath)
		if path == "" || m.Value == 0 || m.Attr(probe.AttrProbeName) != name {
			continue
		}
		j, ok := at[path]
		if !ok {
			j = len(all)
			all, at[path] = append(all, PathCounts{Path: path}), j
		}
		all[j].add(m)
	}
	// A path whose size alone is known was not used in the window.
	all = slices.DeleteFunc(all, func(p PathCounts) bool {
		return p.Opens == 0 && p.Reads == 0 && p.Writes == 0 && p.Stats == 0 && p.ReadDirs == 0
	})
	slices.SortStableFunc(all, func(a, b PathCounts) int {
		return cmp.Or(cmp.Compare(b.BytesRead, a.BytesRead), cmp.Compare(a.Path, b.Path))
	})
	return all
}

func (p *PathCounts) add(m *probe.Metric) {
	n := int64(m.Value)
	switch m.Name {
	case descPathSmall.Name:
		p.SmallReads += n
	case descPathUnchanged.Name:
		p.Unchanged += n
	case descPathAvoidable.Name:
		p.Avoidable += n
	case descPathUnread.Name:
		p.Unread += n
	case descPathSize.Name:
		p.Size = n
	default:
		p.Counts.add(m)
	}
}

// add adds a metric; false if it is none of these.
func (c *Counts) add(m *probe.Metric) bool {
	var to *int64
	switch key := m.Attr(AttrOperation) + m.Attr(AttrDirection); m.Name {
	case descOperations.Name, descPathOps.Name:
		to = map[string]*int64{"open": &c.Opens, "read": &c.Reads, "write": &c.Writes, "stat": &c.Stats, "readdir": &c.ReadDirs}[key]
	case descIO.Name, descPathIO.Name:
		to = map[string]*int64{"read": &c.BytesRead, "write": &c.BytesWritten}[key]
	case descKernelIO.Name:
		to = map[string]*int64{"read": &c.KernelRead, "write": &c.KernelWritten}[key]
	case descErrors.Name:
		c.fail(m.Attr(AttrErrorType), int64(m.Value))
		return true
	}
	if to == nil {
		return false
	}
	*to += int64(m.Value)
	return true
}

func (c *Counts) fail(class string, n int64) {
	if n == 0 {
		return
	}
	if c.Errors == nil {
		c.Errors = map[string]int64{}
	}
	c.Errors[class] += n
}
