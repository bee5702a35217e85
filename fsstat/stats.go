package fsstat

import "github.com/tidestaff/tidestaff/probe"

// Counts are what was done with files in a window.
type Counts struct {
	Opens, Reads, Writes, Stats, ReadDirs int64

	BytesRead, BytesWritten int64
	// KernelRead and KernelWritten are those of the bytes that the kernel
	// copied; unknown, not zero, unless Stats.Kernel.
	KernelRead, KernelWritten int64

	Errors map[string]int64 // by class, such as "not_exist"; nil for none
}

// Stats are a window's file operations, together and by role.
type Stats struct {
	Counts
	Roles map[string]Counts
	// Kernel says whether the bytes that the kernel copied were told from
	// others.
	Kernel bool
}

// StatsOf is the typed view of a reading, be it fresh or read back from a
// report; false if it has no file operations in it. If it holds several file
// probes, those of the first one are returned.
func StatsOf(r *probe.Reading) (Stats, bool) {
	s := Stats{Roles: map[string]Counts{}}
	name, found := "", false
	for i := range r.Metrics {
		m := &r.Metrics[i]
		if !found && m.Name == operations.Name {
			name, found = m.Attr(probe.AttrProbeName), true
		}
		if !found || m.Attr(probe.AttrProbeName) != name {
			continue
		}
		s.Kernel = s.Kernel || m.Name == kernelIO.Name
		s.Counts.add(m)
		c := s.Roles[m.Attr(probe.AttrRole)]
		if c.add(m) {
			s.Roles[m.Attr(probe.AttrRole)] = c
		}
	}
	return s, found
}

// add adds a metric; false if it is none of this package's.
func (c *Counts) add(m *probe.Metric) bool {
	var to *int64
	switch key := m.Attr(AttrOperation) + m.Attr(AttrDirection); m.Name {
	case operations.Name:
		to = map[string]*int64{"open": &c.Opens, "read": &c.Reads, "write": &c.Writes, "stat": &c.Stats, "readdir": &c.ReadDirs}[key]
	case fileIO.Name:
		to = map[string]*int64{"read": &c.BytesRead, "write": &c.BytesWritten}[key]
	case kernelIO.Name:
		to = map[string]*int64{"read": &c.KernelRead, "write": &c.KernelWritten}[key]
	case fileErrors.Name:
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
