package report

import (
	"math"
	"strings"

	"github.com/tidestaff/tidestaff/probe"
)

// quantiles are the percentiles that have a name here, with the number of
// values below which each would only repeat the maximum in other words: such
// a percentile is not printed.
var quantiles = map[string]struct {
	q   float64
	min uint64
}{
	"p50":  {0.50, 1},
	"p90":  {0.90, 10},
	"p95":  {0.95, 20},
	"p99":  {0.99, 100},
	"p999": {0.999, 1000},
}

// distStat computes a named statistic in the distribution's own unit
// (nanoseconds where it is time). It is NaN for a name that it does not know,
// for an empty distribution (but its count and sum are zero) and for a
// percentile of too few values.
func distStat(d *probe.Dist, stat string) float64 {
	n := d.Count()
	switch stat {
	case "count":
		return float64(n)
	case "sum":
		return float64(d.Sum())
	}
	if n == 0 {
		return math.NaN()
	}
	switch stat {
	case "mean":
		return d.Mean()
	case "max":
		return float64(d.Max())
	}
	if p, ok := quantiles[stat]; ok && n >= p.min {
		return float64(d.Quantile(p.q))
	}
	return math.NaN()
}

// inUnit turns a statistic of a distribution into its description's unit.
func inUnit(d *probe.Desc, stat string, raw float64) float64 {
	if stat == "count" {
		return raw
	}
	return d.Value(raw)
}

// A selector is the part of a row that says which metrics it is about.
type selector struct {
	metric string
	attrs  []probe.Attr
	match  func(*probe.Metric) bool // may be nil
}

// A found is what a row selects in one report: all metrics of a name that
// carry the row's attributes, taken together.
type found struct {
	desc  *probe.Desc
	value float64 // of scalars, in the description's unit
	dist  *probe.Dist
	prov  probe.Provenance
	secs  float64 // length of the window, for rates
}

// find collects the metrics that a row selects. Counters and levels of several series add up,
// distributions merge, of gauges and peaks the highest counts. It is nil if
// there is no such metric, or if two cannot be merged.
func find(r *Report, s *selector) *found {
	var f *found
	for m := range r.reading.Find(s.metric, s.attrs...) {
		if s.match != nil && !s.match(m) {
			continue
		}
		if f == nil {
			f = &found{desc: m.Desc, value: m.Value, prov: m.Prov, secs: r.Duration.Seconds()}
			if m.Dist != nil {
				f.dist = new(probe.Dist)
			}
		} else {
			f.add(m)
		}
		if m.Dist == nil {
			continue
		}
		if f.dist == nil || f.dist.Merge(m.Dist) != nil {
			return nil
		}
	}
	return f
}

// add takes another series in.
func (f *found) add(m *probe.Metric) {
	sum := m.Kind != probe.KindGauge && m.Kind != probe.KindPeak
	f.prov = leastCertain(f.prov, m.Prov, sum)
	if sum {
		f.value += m.Value
	} else {
		f.value = max(f.value, m.Value)
	}
}

// leastCertain is how a value is known that is made of two: as the less certain one.
// A sum of estimates rests on the samples of both.
func leastCertain(a, b probe.Provenance, sum bool) probe.Provenance {
	switch {
	case b.How > a.How:
		return b
	case sum && a.How == probe.Sampled && b.How == a.How:
		a.Samples += b.Samples
	}
	return a
}

// stat evaluates one statistic in its unit; NaN if there is no number.
func (f *found) stat(stat string) (v float64, unit string) {
	if stat == "rate" {
		return f.rate()
	}
	if f.dist == nil {
		if stat == "value" || stat == "sum" {
			return f.value, f.desc.Unit
		}
		return math.NaN(), f.desc.Unit
	}
	unit = f.desc.Unit
	if stat == "count" {
		unit = "1"
	}
	return inUnit(f.desc, stat, distStat(f.dist, stat)), unit
}

// rate is per second of the window: how often of a distribution, how much of
// anything else.
func (f *found) rate() (v float64, unit string) {
	v, unit = f.value, f.desc.Unit
	if f.dist != nil {
		v, unit = float64(f.dist.Count()), "1"
	}
	if f.secs <= 0 {
		return math.NaN(), unit + "/s"
	}
	return v / f.secs, unit + "/s"
}

// defaultStat is what a row shows that does not say.
func (f *found) defaultStat() string {
	if f.dist != nil {
		return "p50/p95/max"
	}
	return "value"
}

// statNames splits "p50/p95/max".
func statNames(stat string) []string { return strings.Split(stat, "/") }
