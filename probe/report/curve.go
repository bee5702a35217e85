package report

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// A Curve is the window cut into slices. The slices tile it: every count is in
// exactly one. It holds a few numbers of each series that is not detail, and
// no histograms.
//
// After 1,024 slices, and again after each 512 more, the interval doubles: a
// run of 17 minutes is seen by the second, one of a day costs less than 5,000
// slices.
//
// Every metric without attributes is kept. Of those with some (an operation, a
// method) it keeps, for each metric, the first 4 combinations that appear, such as
// the components of lag, and up to 16 as long as those are 256 series in all;
// busy ones appear first.
type Curve struct {
	// At is when each slice began, counted from the start of the first; For
	// is how long it lasted.
	At, For []time.Duration
	Series  []Series
	// Omitted counts series that there was no room for.
	Omitted int
}

// A Series is one statistic of one metric over the slices of a curve.
type Series struct {
	Name, Unit string
	Attrs      []probe.Attr
	// Stat is "value" (a gauge's or a level's last, a peak's highest, what a
	// counter gained) or, of a distribution, "count", "p50", "p95" or "max".
	Stat string
	// Values has one number for each slice, in Unit, NaN where there is none:
	// nothing was recorded, or too little for the percentile.
	Values []float64
}

const (
	manySlices   = 1024 // after these, and each further half, slices get longer
	maxLabelled  = 256  // series with attributes, but for a few of each metric
	maxPerMetric = 16   // of them, for one statistic of one metric
	fewPerMetric = 4    // of them, for which there is room whatever else there is
)

// curveStats are kept of each distribution. There is no p99: a slice of a
// second rarely has the hundred values for one.
var curveStats = [...]string{"count", "p50", "p95", "max"}

type curveBuilder struct {
	interval time.Duration
	origin   time.Time
	c        Curve
	index    map[string]int // where a series is in c.Series, -1 if omitted
	labelled int            // series with attributes in c.Series, but for the few of each metric
	perStat  map[string]int // of them, by metric and statistic
}

// newCurveBuilder makes an empty curve whose slices last interval at first.
func newCurveBuilder(interval time.Duration) *curveBuilder {
	return &curveBuilder{interval: interval, index: map[string]int{}, perStat: map[string]int{}}
}

// slice begins the next slice, of the reading's length.
func (b *curveBuilder) slice(r *probe.Reading) {
	b.pad()
	if len(b.c.At) == 0 {
		b.origin = r.Start
	}
	b.c.At = append(b.c.At, r.Start.Sub(b.origin))
	b.c.For = append(b.c.For, r.End.Sub(r.Start))
	if n := len(b.c.At) - manySlices; n >= 0 && n%(manySlices/2) == 0 {
		b.interval *= 2
	}
}

// add puts a reading into the current slice.
func (b *curveBuilder) add(r *probe.Reading) {
	for i := range r.Metrics {
		m := &r.Metrics[i]
		switch {
		case m.Detail:
		case m.Dist == nil:
			b.put(m, "value", m.Value)
		default:
			for _, stat := range curveStats {
				b.put(m, stat, inUnit(m.Desc, stat, distStat(m.Dist, stat)))
			}
		}
	}
}

// put gives one series its number for the current slice. A series that has
// missed slices (it is new, or its gauge was absent) is filled up to there.
func (b *curveBuilder) put(m *probe.Metric, stat string, v float64) {
	key := seriesKey(m, stat)
	i, ok := b.index[key]
	if !ok {
		i = b.newSeries(key, m, stat)
	}
	if i < 0 {
		return
	}
	s := &b.c.Series[i]
	for len(s.Values) < len(b.c.At)-1 {
		s.Values = append(s.Values, math.NaN())
	}
	s.Values = append(s.Values, v)
}

// newSeries finds room for a series that has not been seen before.
func (b *curveBuilder) newSeries(key string, m *probe.Metric, stat string) int {
	if !b.room(m, stat) {
		b.c.Omitted++
		b.index[key] = -1
		return -1
	}
	unit := m.Unit
	if stat == "count" {
		unit = "1"
	}
	b.index[key] = len(b.c.Series)
	b.c.Series = append(b.c.Series, Series{Name: m.Name, Unit: unit, Attrs: m.Attrs, Stat: stat})
	return b.index[key]
}

// room counts a series with attributes in, if there is room. The name of a
// probe is not one: there are few probes.
func (b *curveBuilder) room(m *probe.Metric, stat string) bool {
	labels := func(a probe.Attr) bool { return a.Key != probe.AttrProbeName }
	if !slices.ContainsFunc(m.Attrs, labels) {
		return true
	}
	key := m.Name + "\x00" + stat
	if b.perStat[key] >= fewPerMetric {
		if b.labelled == maxLabelled || b.perStat[key] == maxPerMetric {
			return false
		}
		b.labelled++
	}
	b.perStat[key]++
	return true
}

// pad gives the series that the slice did not have a number that is not there.
func (b *curveBuilder) pad() {
	for i := range b.c.Series {
		s := &b.c.Series[i]
		for len(s.Values) < len(b.c.At) {
			s.Values = append(s.Values, math.NaN())
		}
	}
}

// curve ends the building.
func (b *curveBuilder) curve() *Curve {
	b.pad()
	return &b.c
}

// seriesKey identifies a series. NUL cannot be in a name, and in an attribute it
// would do no worse than join two series.
func seriesKey(m *probe.Metric, stat string) string {
	var k strings.Builder
	k.WriteString(m.Name)
	for _, a := range m.Attrs {
		k.WriteString("\x00" + a.Key + "\x00" + a.Value)
	}
	k.WriteString("\x00" + stat)
	return k.String()
}
