package fsstattest

import "github.com/tidestaff/tidestaff/fsstat"

// Around runs do and says which files package os opened meanwhile that the probe
// did not count. The error says why that cannot be known: the tests do not run
// under [Run], the system or this version of Go has no log, or the probe does not
// tell so many paths apart.
func Around(p *fsstat.Probe, do func()) (fsstat.Gap, error) {
	current.one.Lock()
	defer current.one.Unlock()
	w, err := p.Watch()
	if err != nil {
		return fsstat.Gap{}, err
	}
	opened, err := current.record(do)
	stats, _ := fsstat.StatsOf(w.Close())
	if err != nil {
		return fsstat.Gap{}, err
	}
	return fsstat.GapOf(p, opened, stats)
}
