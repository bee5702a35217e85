package lag

import "github.com/tidestaff/tidestaff/probe"

// AttrComponent is the attribute of the lag distributions that names the part:
// "timer", "queue" or "total".
const AttrComponent = "tidestaff.lag.component"

var (
	lagDuration = &probe.Desc{Name: "tidestaff.scheduler.lag.duration", Unit: "s", Kind: probe.KindDistribution, Digits: 3,
		Help: "Time from a slot's deadline until it was served, by component: " +
			"timer (until the probe's goroutine ran), queue (from there through the run queue), total.",
		Bounds: []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10},
		Bench: []probe.Bench{
			{Unit: "p50-lag-ns", Stat: "p50", Better: "lower"},
			{Unit: "p95-lag-ns", Stat: "p95", Better: "lower"},
			{Unit: "p99-lag-ns", Stat: "p99", Better: "lower"},
			{Unit: "max-lag-ns", Stat: "max", Better: "lower"},
		}}
	slotCount = &probe.Desc{Name: "tidestaff.scheduler.slots", Unit: "{slot}", Kind: probe.KindCounter,
		Help: "Slots of the schedule that fell due, those that a stall swallowed included: elapsed time / interval."}
	wakeCount = &probe.Desc{Name: "tidestaff.scheduler.wakes", Unit: "{wake}", Kind: probe.KindCounter,
		Help: "Wake-ups of the ticker; as many as slots unless a stall swallowed some."}
	saturatedCount = &probe.Desc{Name: "tidestaff.scheduler.saturated", Unit: "{slot}", Kind: probe.KindCounter,
		Help: "Slots that shared the queue part of an earlier one because 64 were waiting in the run queue already."}
	gapCount = &probe.Desc{Name: "tidestaff.scheduler.gap", Unit: "{slot}", Kind: probe.KindCounter,
		Help: "Slots left out of the distributions because one gap swallowed more than 100,000; the others stand for them."}

	descs = []*probe.Desc{lagDuration, slotCount, wakeCount, saturatedCount, gapCount}
)

// series are a probe's metrics.
type series struct {
	total, queue, timer          *probe.Recorder
	gap, saturated, wakes, slots *probe.Counter
}

// newSeries makes them in the reverse of the order in which a slot passes
// through them. A snapshot reads in this order, so that beside a wake-up it may
// miss a later stage of a slot but never an earlier one.
func newSeries(c *probe.Core) series {
	part := func(name string) *probe.Recorder {
		return c.Recorder(lagDuration, probe.Attr{Key: AttrComponent, Value: name})
	}
	return series{
		total: part("total"), queue: part("queue"), timer: part("timer"),
		gap: c.Counter(gapCount), saturated: c.Counter(saturatedCount),
		wakes: c.Counter(wakeCount), slots: c.Counter(slotCount),
	}
}
