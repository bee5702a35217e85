package memory

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tidestaff/tidestaff/cgroup"
	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

// window is a reading of an open window.
func window(gives ...field) asker {
	return asker{"tidestaff", gives, func() (ask, func(), error) { return watch(cgroup.New(cgroup.Options{}), gives) }}
}

// watch opens a window of a probe. The window counts CPU time and IO since its
// tile began, so what was there by then is added, to be compared with the others.
func watch(p *cgroup.Probe, gives []field) (ask, func(), error) {
	var earlier, before amounts
	totals, end, err := part(slices.Concat(partIO, partCPU())).open()
	if errors.Is(err, proc.ErrHostRoot) {
		totals, end = func(*amounts) error { return nil }, func() {} // nothing to compare
	} else if err != nil {
		return nil, nil, err
	}
	defer end()
	w, err := p.Watch()
	if err != nil {
		return nil, nil, err
	}
	var r probe.Reading
	err = totals(&earlier)
	w.Next(&r)
	if err = errors.Join(err, totals(&before)); err != nil {
		w.Close()
		return nil, nil, err
	}
	for _, f := range cpuFields {
		before[began] = max(before[began], before[f]-min(before[f], earlier[f]))
	}
	return func(to *amounts) error {
		w.Read(&r)
		return fill(to, &r, &before, gives)
	}, func() { w.Close() }, nil
}

// fill takes the fields out of a reading. A field that the reading does not have
// is an error.
func fill(to *amounts, r *probe.Reading, before *amounts, gives []field) error {
	var have uint64
	for i := range r.Metrics {
		m := &r.Metrics[i]
		f, ok := fieldOf(m)
		if !ok {
			continue
		}
		v := m.Value
		switch f {
		case cpuUser, cpuSystem:
			v = float64(before[f]) + v*float64(time.Second)
		case readBytes, writeBytes:
			v += float64(before[f])
		}
		to[f] = uint64(v + 0.5)
		have |= 1 << f
	}
	to[groupCache] += to[groupShmem] // a reading has each byte in one type
	to[began] = before[began]
	for _, f := range gives {
		if have&(1<<f) == 0 {
			return fmt.Errorf("%w: %s; absent are %v", errNotThere, f, r.Absent)
		}
	}
	return nil
}

// fieldOf says which field a metric is, if it is one.
func fieldOf(m *probe.Metric) (field, bool) {
	switch m.Name {
	case "tidestaff.process.memory.usage":
		return rss, true
	case "tidestaff.process.memory.swap":
		return swap, true
	case "tidestaff.process.disk.io":
		if m.Attr("disk.io.direction") == "read" {
			return readBytes, true
		}
		return writeBytes, true
	case "tidestaff.cgroup.memory.usage":
		return usage, true
	case "tidestaff.process.memory.stat":
		return byType(m.Attr("tidestaff.process.memory.type"), anon, file, shmem)
	case "tidestaff.cgroup.memory.stat":
		return byType(m.Attr("tidestaff.cgroup.memory.type"), groupAnon, groupCache, groupShmem)
	case "tidestaff.cgroup.cpu.time":
		if m.Attr("cpu.mode") == "user" {
			return cpuUser, true
		}
		return cpuSystem, true
	}
	return 0, false
}

func byType(kind string, a, f, s field) (field, bool) {
	switch kind {
	case "anon":
		return a, true
	case "file":
		return f, true
	case "shmem":
		return s, true
	}
	return 0, false
}
