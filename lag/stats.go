package lag

import (
	"math"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// A Part is one component of the lag in a window.
type Part struct {
	// Count is the number of slots.
	Count uint64
	// The percentiles are by nearest rank, at most 0.1 % too high; Max is
	// exact unless the reading's provenance says otherwise, or some are Clamped.
	P50, P95, P99, Max time.Duration
	Mean               time.Duration
	// Clamped slots waited for more than an hour, and count as having waited for
	// an hour.
	Clamped uint64
}

// Stats are a window's lag, of the scheduler or of a loop.
type Stats struct {
	// Slots fell due in the window: elapsed time / interval, ± 1. Each is in
	// Timer, Queue and Total, but for Gap and Captured, and but for those that are
	// not served yet: a window that was opened meanwhile will have them.
	Slots uint64
	// Wakes are the ticker's. Slots - Wakes were swallowed by stalls, and
	// recorded all the same.
	Wakes uint64
	// Saturated slots shared an earlier one's wait because 64 waited already,
	// of a loop 8.
	Saturated uint64
	// Gap is how many slots the distributions leave out, because a single gap
	// swallowed more than 100,000, or of a loop so many shared one wait.
	Gap uint64
	// Lost slots were dropped by a loop, so it seems: Options.Through returned,
	// and eight later slots were served before. They are in Timer alone, unless
	// the loop serves them after all.
	Lost uint64
	// Captured slots waited mostly for a goroutine profile of the probe's own
	// (Options.Capture) and are not in the parts below.
	Captured uint64
	// Floor is the timer part of an idle process on this machine; 0 if it is
	// not known, and always of a loop. It is not subtracted from anything.
	Floor time.Duration
	// BeatGap is the longest time between two beats of a loop; 0 of the
	// scheduler.
	BeatGap time.Duration

	Timer Part // deadline until the probe's goroutine ran
	Queue Part // from there through the run queue
	Loop  Part // from there until its turn in the loop; empty of the scheduler
	Total Part // deadline until served
}

// StatsOf is the typed view of the scheduler's lag in a reading, be it fresh or
// read back from a report; false if it has none in it. If it holds several
// probes of the scheduler, the first one's lag is returned.
func StatsOf(r *probe.Reading) (Stats, bool) {
	for m := range r.Find(lagDuration.Name, probe.Attr{Key: AttrComponent, Value: "total"}) {
		if m.Dist != nil {
			return statsOf(r, lagDuration, m.Attr(probe.AttrProbeName)), true
		}
	}
	return Stats{}, false
}

// LoopStatsOf is the typed view of the lag of the loop that the probe with this
// Options.Name went through; false if the reading does not have it.
func LoopStatsOf(r *probe.Reading, name string) (Stats, bool) {
	for m := range r.Find(loopDuration.Name, probe.Attr{Key: AttrComponent, Value: "total"}) {
		if m.Dist != nil && m.Attr(probe.AttrProbeName) == name {
			return statsOf(r, loopDuration, name), true
		}
	}
	return Stats{}, false
}

// statsOf takes over the metrics of the probe of a name, with the durations of
// one of the two descriptions.
func statsOf(r *probe.Reading, durations *probe.Desc, name string) Stats {
	var s Stats
	loop := durations == loopDuration
	for i := range r.Metrics {
		switch m := &r.Metrics[i]; {
		case m.Attr(probe.AttrProbeName) != name:
		case m.Attr(AttrCaptured) != "":
			s.addCaptured(m)
		case m.Name == durations.Name:
			s.addPart(m)
		case loop:
			s.addLoop(m)
		default:
			s.addScheduler(m)
		}
	}
	return s
}

func (s *Stats) addScheduler(m *probe.Metric) {
	switch m.Name {
	case slotCount.Name:
		s.Slots = uint64(m.Value)
	case wakeCount.Name:
		s.Wakes = uint64(m.Value)
	case saturatedCount.Name:
		s.Saturated = uint64(m.Value)
	case gapCount.Name:
		s.Gap = uint64(m.Value)
	case idleFloor.Name:
		s.Floor = seconds(m.Value)
	}
}

func (s *Stats) addLoop(m *probe.Metric) {
	switch m.Name {
	case loopSlots.Name:
		s.Slots = uint64(m.Value)
	case loopWakes.Name:
		s.Wakes = uint64(m.Value)
	case loopSaturated.Name:
		s.Saturated = uint64(m.Value)
	case loopGap.Name:
		s.Gap = uint64(m.Value)
	case loopLost.Name:
		s.Lost = uint64(m.Value)
	case loopBeats.Name:
		s.BeatGap = seconds(m.Value)
	}
}

// addCaptured counts the slots that a capture held up, each once.
func (s *Stats) addCaptured(m *probe.Metric) {
	if m.Dist != nil && m.Attr(AttrComponent) == "total" {
		s.Captured += m.Dist.Count()
	}
}

func (s *Stats) addPart(m *probe.Metric) {
	if m.Dist == nil {
		return
	}
	switch m.Attr(AttrComponent) {
	case "timer":
		s.Timer = partOf(m.Dist)
	case "queue":
		s.Queue = partOf(m.Dist)
	case "loop":
		s.Loop = partOf(m.Dist)
	case "total":
		s.Total = partOf(m.Dist)
	}
}

// seconds turns a metric's value in seconds into a duration.
func seconds(v float64) time.Duration { return time.Duration(math.Round(v * 1e9)) }

func partOf(d *probe.Dist) Part {
	return Part{
		Count: d.Count(),
		P50:   time.Duration(d.Quantile(0.50)),
		P95:   time.Duration(d.Quantile(0.95)),
		P99:   time.Duration(d.Quantile(0.99)),
		Max:   time.Duration(d.Max()),
		Mean:  time.Duration(d.Mean()),

		Clamped: d.Clamped(),
	}
}
