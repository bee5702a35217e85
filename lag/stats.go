package lag

import (
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// A Part is one component of the lag in a window.
type Part struct {
	// Count is the number of slots.
	Count uint64
	// The percentiles are by nearest rank, at most 0.1 % too high; Max is
	// exact unless the reading's provenance says otherwise.
	P50, P95, P99, Max time.Duration
	Mean               time.Duration
}

// Stats are a window's lag.
type Stats struct {
	// Slots fell due in the window: elapsed time / interval, ± 1. Each is in
	// Timer, Queue and Total, but for Gap.
	Slots uint64
	// Wakes are the ticker's. Slots - Wakes were swallowed by stalls, and
	// recorded all the same.
	Wakes uint64
	// Saturated slots shared an earlier one's wait because 64 waited already.
	Saturated uint64
	// Gap is how many slots the distributions leave out, because a single gap
	// swallowed more than 100,000.
	Gap uint64

	Timer Part // deadline until the probe's goroutine ran
	Queue Part // from there through the run queue
	Total Part // deadline until served
}

// StatsOf is the typed view of a reading, be it fresh or read back from a
// report; false if it has no lag in it. If it holds several lag probes, those
// of the first one are returned.
func StatsOf(r *probe.Reading) (Stats, bool) {
	var s Stats
	name, found := "", false
	for m := range r.Find(lagDuration.Name, probe.Attr{Key: AttrComponent, Value: "total"}) {
		if m.Dist != nil {
			name, found = m.Attr(probe.AttrProbeName), true
			break
		}
	}
	if !found {
		return s, false
	}
	for i := range r.Metrics {
		if m := &r.Metrics[i]; m.Attr(probe.AttrProbeName) == name {
			s.add(m)
		}
	}
	return s, true
}

// add takes over one metric of the probe.
func (s *Stats) add(m *probe.Metric) {
	switch m.Name {
	case slotCount.Name:
		s.Slots = uint64(m.Value)
	case wakeCount.Name:
		s.Wakes = uint64(m.Value)
	case saturatedCount.Name:
		s.Saturated = uint64(m.Value)
	case gapCount.Name:
		s.Gap = uint64(m.Value)
	case lagDuration.Name:
		if m.Dist == nil {
			return
		}
		switch m.Attr(AttrComponent) {
		case "timer":
			s.Timer = partOf(m.Dist)
		case "queue":
			s.Queue = partOf(m.Dist)
		case "total":
			s.Total = partOf(m.Dist)
		}
	}
}

func partOf(d *probe.Dist) Part {
	return Part{
		Count: d.Count(),
		P50:   time.Duration(d.Quantile(0.50)),
		P95:   time.Duration(d.Quantile(0.95)),
		P99:   time.Duration(d.Quantile(0.99)),
		Max:   time.Duration(d.Max()),
		Mean:  time.Duration(d.Mean()),
	}
}
