package cgroup

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

// resources are those that a group can be short of, by the names of their files.
var resources = [...]string{"cpu", "memory", "io"}

// A pressure counts the time in which tasks of a group waited for a resource.
type pressure struct {
	files []file
	names [len(resources)]string
	each  []*tallies // one for each file
	// off says why there is no pressure, once the kernel has said that it keeps
	// none: it will not begin to before the machine is started anew.
	off error
	v   []proc.Value
}

// openPressure opens the files of a version 2 group. Every such group has them,
// whatever its controllers, unless the kernel keeps no pressure: then they do not
// exist (psi=0), or exist and cannot be read (EOPNOTSUPP, where the distribution
// has it off by default).
func (p *Probe) openPressure(g proc.Group) (*source, error) {
	s := &source{metrics: pressureDescs}
	pr := p.newPressure()
	var files []*proc.File
	for i, resource := range resources {
		pr.names[i] = filepath.Join(g.Dir, resource+".pressure")
		f, err := proc.Open(pr.names[i])
		if err != nil {
			closeAll(files...)()
			return s, err
		}
		files = append(files, f)
		pr.files = append(pr.files, f)
	}
	s.sample, s.close = pr.sample, closeAll(files...)
	s.reopen = func() error {
		if pr.off != nil {
			return pr.off
		}
		return reopenAll(files)
	}
	return s, nil
}

func (p *Probe) newPressure() *pressure {
	pr := &pressure{v: make([]proc.Value, 2)}
	for _, resource := range resources {
		pr.each = append(pr.each, &tallies{
			p: p, desc: descPressure, key: attrStall, values: []string{"some", "full"},
			more: []probe.Attr{{Key: attrResource, Value: resource}}, unit: uint64(time.Microsecond),
			each: make([]*tally, 2),
		})
	}
	return pr
}

// sample reads the totals. Before Linux 5.13 that of the CPU has no line "full".
func (pr *pressure) sample() error {
	if pr.off != nil {
		return pr.off
	}
	for i, f := range pr.files {
		b, err := f.Read()
		if errors.Is(err, errors.ErrUnsupported) {
			pr.off = err
		}
		if err != nil {
			return err
		}
		stalls, err := proc.ParsePressure(b)
		if err != nil {
			return fmt.Errorf("%s: %w", pr.names[i], err)
		}
		pr.v[0], pr.v[1] = stalls.Some.Total, stalls.Full.Total
		if err := pr.each[i].set(pr.v); err != nil {
			return fmt.Errorf("%s: %w", pr.names[i], err)
		}
	}
	return nil
}
