package lag

import "github.com/tidestaff/tidestaff/probe"

// AttrComponent is the attribute of the lag distributions that names the part:
// "timer", "queue", for a loop also "loop", and their sum, "total".
const AttrComponent = "tidestaff.lag.component"

// bounds are what an exporter with explicit buckets uses, in seconds: from the
// floor of an idle machine to what ends with a restart.
var bounds = []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}

// The scheduler's metrics.
var (
	lagDuration = &probe.Desc{Name: "tidestaff.scheduler.lag.duration", Unit: "s", Kind: probe.KindDistribution, Digits: 3,
		Help: "Time from a slot's deadline until it was served, by component: " +
			"timer (until the probe's goroutine ran), queue (from there through the run queue), total.",
		Bounds: bounds,
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
	idleFloor = &probe.Desc{Name: "tidestaff.scheduler.floor", Unit: "s", Kind: probe.KindGauge,
		Help: "Idle lateness of this machine: the median timer part of the last 64 slots before which the process was idle. " +
			"It is in the lag, not subtracted from it."}
)

// The metrics of a loop of the application's.
var (
	loopDuration = &probe.Desc{Name: "tidestaff.loop.lag.duration", Unit: "s", Kind: probe.KindDistribution, Digits: 3,
		Help: "Time from a slot's deadline until the application's loop served it, by component: timer (until the probe's " +
			"goroutine ran), queue (from there through the run queue), loop (from there until its turn in the loop), total.",
		Bounds: bounds,
		Bench: []probe.Bench{
			{Unit: "p50-loop-lag-ns", Stat: "p50", Better: "lower"},
			{Unit: "p95-loop-lag-ns", Stat: "p95", Better: "lower"},
			{Unit: "p99-loop-lag-ns", Stat: "p99", Better: "lower"},
			{Unit: "max-loop-lag-ns", Stat: "max", Better: "lower"},
		}}
	loopSlots = &probe.Desc{Name: "tidestaff.loop.slots", Unit: "{slot}", Kind: probe.KindCounter,
		Help: "Slots of the schedule that fell due for the loop, those that a stall swallowed included."}
	loopWakes = &probe.Desc{Name: "tidestaff.loop.wakes", Unit: "{wake}", Kind: probe.KindCounter,
		Help: "Wake-ups of the ticker; as many as slots unless a stall of the process swallowed some."}
	loopSaturated = &probe.Desc{Name: "tidestaff.loop.saturated", Unit: "{slot}", Kind: probe.KindCounter,
		Help: "Slots that shared the wait of an earlier one because 8 were under way to the loop already."}
	loopGap = &probe.Desc{Name: "tidestaff.loop.gap", Unit: "{slot}", Kind: probe.KindCounter,
		Help: "Slots left out of the distributions, for which others stand, because one gap swallowed more than 100,000, " +
			"or shared one wait, which leaves them out of all but the timer's."}
	loopLost = &probe.Desc{Name: "tidestaff.loop.lost", Unit: "{slot}", Kind: probe.KindCounter,
		Help: "Slots that were given up, since the loop seems to have dropped them: Options.Through returned, and eight later " +
			"slots were served before. One that is served after all is in the distributions too."}
	loopBeats = &probe.Desc{Name: "tidestaff.loop.beat.gap", Unit: "s", Kind: probe.KindPeak,
		Help: "Longest time between two beats of the loop, that since the last one included."}
)

// series are a probe's metrics, made once for its life. loop, lost and beats are nil
// for the scheduler's.
type series struct {
	total, loop, queue, timer          *probe.Recorder
	gap, lost, saturated, wakes, slots *probe.Counter
	beats                              *probe.Peak
}

// newSeries makes them in the reverse of the order in which a slot passes
// through them. A snapshot reads in this order, so that beside a wake-up it may
// miss a later stage of a slot but never an earlier one.
func (p *Probe) newSeries() series {
	c := &p.core
	if p.through == nil {
		c.Descs = []*probe.Desc{lagDuration, slotCount, wakeCount, saturatedCount, gapCount, idleFloor}
		c.GaugeFunc(idleFloor, p.gauge)
		return series{
			total: part(c, lagDuration, "total"), queue: part(c, lagDuration, "queue"), timer: part(c, lagDuration, "timer"),
			gap: c.Counter(gapCount), saturated: c.Counter(saturatedCount),
			wakes: c.Counter(wakeCount), slots: c.Counter(slotCount),
		}
	}
	c.Descs = []*probe.Desc{loopDuration, loopSlots, loopWakes, loopSaturated, loopGap, loopLost, loopBeats}
	return series{
		total: part(c, loopDuration, "total"), loop: part(c, loopDuration, "loop"),
		queue: part(c, loopDuration, "queue"), timer: part(c, loopDuration, "timer"),
		gap: c.Counter(loopGap), lost: c.Counter(loopLost), saturated: c.Counter(loopSaturated),
		wakes: c.Counter(loopWakes), slots: c.Counter(loopSlots), beats: c.Peak(loopBeats),
	}
}

func part(c *probe.Core, d *probe.Desc, name string, more ...probe.Attr) *probe.Recorder {
	return c.Recorder(d, append(more, probe.Attr{Key: AttrComponent, Value: name})...)
}
