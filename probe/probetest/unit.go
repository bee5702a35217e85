package probetest

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/tidestaff/tidestaff/probe"
)

// A unit is one number that a benchmark reports or a budget bounds, under the
// name that benchstat sees.
type unit struct {
	name   string
	better string
	exact  bool
	// sources are the metrics that have the number, the best one first.
	sources []source
}

// A source is a metric, and the number that it has of a unit.
type source struct {
	desc  *probe.Desc
	bench probe.Bench
	keep  []probe.Attr // of the metric's series only those
}

// narrowed are units that are one part of a metric which is described as a whole.
var narrowed = []struct {
	metric string
	attr   probe.Attr
	bench  probe.Bench
}{
	{"tidestaff.file.operations", probe.Attr{Key: attrFileOperation, Value: "read"},
		probe.Bench{Unit: "fs-reads/op", Stat: "value", PerOp: true, Better: "lower", Exact: true}},
	{"tidestaff.file.io", probe.Attr{Key: attrDirection, Value: "read"},
		probe.Bench{Unit: "fs-read-bytes/op", Stat: "value", PerOp: true, Better: "lower", Exact: true}},
}

// wholes are attributes whose series are parts of one of them, so that adding
// them up would count everything twice: only the whole is a number.
var wholes = []probe.Attr{{Key: "tidestaff.lag.component", Value: "total"}}

// asides are attributes of series that are kept apart because they do not belong
// to what was measured.
var asides = []probe.Attr{{Key: "tidestaff.lag.captured", Value: "true"}}

// The metrics of query plans: a reading has the second where any plan was looked
// at, and the first where one was a scan.
const (
	metricScans = "tidestaff.sqlite.full_scans"
	metricPlans = "tidestaff.sqlite.plans"
)

// unitsOf are the units of the descriptions, each once, sorted by name.
//
// Several metrics may have one unit. What is divided by the benchmark's own
// iterations is then better than a mean over something else (the operations of
// a [probe.Ops]), and of two alike the first is.
func unitsOf(descs []*probe.Desc) []unit {
	var units []unit
	add := func(s source) {
		i := slices.IndexFunc(units, func(u unit) bool { return u.name == s.bench.Unit })
		if i < 0 {
			i = len(units)
			units = append(units, unit{name: s.bench.Unit, better: s.bench.Better, exact: s.bench.Exact})
		}
		units[i].sources = append(units[i].sources, s)
	}
	for _, d := range descs {
		for _, b := range d.Bench {
			add(source{desc: d, bench: b})
		}
		for _, n := range narrowed {
			if n.metric == d.Name {
				add(source{d, n.bench, []probe.Attr{n.attr}})
			}
		}
	}
	for i := range units {
		u := &units[i]
		slices.SortStableFunc(u.sources, func(a, b source) int { return rank(a) - rank(b) })
		u.better, u.exact = u.sources[0].bench.Better, u.sources[0].bench.Exact
	}
	slices.SortFunc(units, func(a, b unit) int { return strings.Compare(a.name, b.name) })
	return units
}

func rank(s source) int {
	if s.bench.PerOp {
		return 0
	}
	return 1
}

// find is the unit of a name, or an error that lists those that there are.
func find(units []unit, name string) (*unit, error) {
	var names []string
	for i := range units {
		if units[i].name == name {
			return &units[i], nil
		}
		names = append(names, units[i].name)
	}
	return nil, fmt.Errorf("no probe here has the unit %q; they have %s", name, strings.Join(names, ", "))
}

// A figure is the value of a unit, with what it rests on.
type figure struct {
	value  float64
	how    probe.How
	source *probe.Desc
}

// of gives the unit's value in a reading over n operations. The error says why
// there is none: what was not measured is not zero, and neither is what cannot be
// told from zero. A value is finite and not negative.
func (u *unit) of(r *probe.Reading, n int) (figure, error) {
	var errs []error
	for _, s := range u.sources {
		f, err := s.of(r, n)
		if err == nil {
			return f, nil
		}
		errs = append(errs, fmt.Errorf("%s: %w", s.desc.Name, err))
	}
	return figure{}, errors.Join(errs...)
}

func (s *source) of(r *probe.Reading, n int) (figure, error) {
	all, err := s.gather(r)
	if err != nil {
		return figure{}, err
	}
	v, err := all.stat(s.bench.Stat)
	switch {
	case err != nil:
		return figure{}, err
	case s.bench.PerOp && n <= 0:
		return figure{}, errors.New("no operation was completed")
	case s.bench.PerOp:
		v /= float64(n)
	}
	if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
		return figure{}, fmt.Errorf("the value is %v", v)
	}
	return figure{v, all.how, s.desc}, nil
}

// A sum is all series of a metric, taken together: counts and distributions add
// up, of levels and peaks the highest counts.
type sum struct {
	desc   *probe.Desc
	value  float64
	dist   *probe.Dist
	how    probe.How
	series int
}

// gather takes the series of the source together.
func (s *source) gather(r *probe.Reading) (sum, error) {
	all := sum{desc: s.desc}
	for m := range r.Find(s.desc.Name, s.keep...) {
		if !counts(m) {
			continue
		}
		if err := all.add(m); err != nil {
			return all, err
		}
	}
	if all.series > 0 {
		return all, nil
	}
	return all, s.none(r)
}

// counts reports whether the series is a whole and no part or aside of one.
func counts(m *probe.Metric) bool {
	for _, a := range wholes {
		if v := m.Attr(a.Key); v != "" && v != a.Value {
			return false
		}
	}
	for _, a := range asides {
		if m.Attr(a.Key) == a.Value {
			return false
		}
	}
	return true
}

func (t *sum) add(m *probe.Metric) error {
	t.series++
	t.how = max(t.how, m.Prov.How)
	if m.Kind == probe.KindGauge || m.Kind == probe.KindPeak {
		if t.series == 1 || m.Value > t.value {
			t.value = m.Value
		}
		return nil
	}
	t.value += m.Value
	if m.Dist == nil {
		return nil
	}
	if t.dist == nil {
		t.dist = new(probe.Dist)
	}
	return t.dist.Merge(m.Dist)
}

// none says why a metric without series is no zero, or nil if it is one: a probe
// makes a series when it first sees something to count in it, so that a reading
// with other series of the same family is one of a probe that was at work.
func (s *source) none(r *probe.Reading) error {
	for _, a := range r.Absent {
		if a.Name == s.desc.Name || strings.HasPrefix(s.desc.Name, a.Name+".") {
			return errors.New(a.Reason)
		}
	}
	if s.desc.Kind != probe.KindCounter && s.desc.Kind != probe.KindDistribution {
		return errors.New("nothing was measured")
	}
	sign := family(s.desc.Name)
	if s.desc.Name == metricScans {
		sign = metricPlans // only then was any plan looked at
	}
	for i := range r.Metrics {
		if strings.HasPrefix(r.Metrics[i].Name, sign) {
			return nil
		}
	}
	return errors.New("nothing went through the probe in this window or before")
}

// family is the first two words of a metric's name, with the dot.
func family(name string) string {
	first, rest, _ := strings.Cut(name, ".")
	second, _, _ := strings.Cut(rest, ".")
	return first + "." + second + "."
}

// fewest is how many values a percentile needs to say more than the maximum does.
var fewest = map[string]uint64{"p50": 1, "p95": 20, "p99": 100}

var quantiles = map[string]float64{"p50": 0.50, "p95": 0.95, "p99": 0.99}

// stat is one statistic in the units of benchmarks: nanoseconds where the metric
// is in seconds.
func (t *sum) stat(name string) (float64, error) {
	scale := 1.0
	if t.desc.Unit == "s" {
		scale = 1e9
	}
	if t.desc.Kind != probe.KindDistribution || name == "sum" {
		return t.value * scale, nil
	}
	n := uint64(0)
	if t.dist != nil {
		n = t.dist.Count()
	}
	if name == "count" {
		return float64(n), nil
	}
	if least := max(fewest[name], 1); n < least {
		return 0, fmt.Errorf("%d values, and a %s needs %d", n, name, least)
	}
	switch name {
	case "mean":
		return t.dist.Mean(), nil
	case "max":
		return float64(t.dist.Max()), nil
	}
	q, ok := quantiles[name]
	if !ok {
		return 0, fmt.Errorf("no statistic %q", name)
	}
	return float64(t.dist.Quantile(q)), nil
}

// WriteUnits writes a line for each unit of the probes and of this package's own,
// in the form in which benchstat reads them anywhere in its input:
//
//	Unit queries/op better=lower assume=exact
//
// With it benchstat compares exact counts without statistics.
func WriteUnits(w io.Writer, probes ...probe.Probe) error {
	for _, u := range unitsOf(describe(probes)) {
		assume := ""
		if u.exact {
			assume = " assume=exact"
		}
		if _, err := fmt.Fprintf(w, "Unit %s better=%s%s\n", u.name, u.better, assume); err != nil {
			return err
		}
	}
	return nil
}

// describe is what the probes and this package's own describe, its own first.
func describe(probes []probe.Probe) []*probe.Desc {
	return append(slices.Clone(ownDescs), probe.NewSet(probes...).Describe()...)
}
