package fsstattest

import (
	"path/filepath"

	"github.com/tidestaff/tidestaff/fsstat"
)

// Around runs do and says which files package os opened meanwhile that the probe
// did not open, by the names that they were opened by. Through a nil probe none
// was. The error says why that cannot be known: the tests do not run under [Run],
// or the system or this version of Go has no log.
func Around(p *fsstat.Probe, do func()) (fsstat.Gap, error) {
	current.one.Lock()
	defer current.one.Unlock()
	var opened map[string]int64
	var err error
	// The probe's opens are noted for longer than the log is read: what the service
	// opens at the edges must not be missing in them.
	ours := p.Opened(func() { opened, err = current.record(do) })
	if err != nil {
		return fsstat.Gap{}, err
	}
	left := map[string]int64{}
	for name, n := range opened {
		left[filepath.Clean(name)] += n
	}
	var g fsstat.Gap
	for name, n := range left {
		if n -= ours[name]; n > 0 {
			if g.Paths == nil {
				g.Paths = map[string]int64{}
			}
			g.Opens, g.Paths[name] = g.Opens+n, n
		}
	}
	return g, nil
}
