package report

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidestaff/tidestaff/probe"
)

// attrReplica is the report that an event of a merged one comes from.
const attrReplica = "tidestaff.replica"

// mostEvents is how many events a merged report keeps, the newest: as many as a
// probe's own ring.
const mostEvents = 256

// Merge makes one report of those of many replicas of a service, which ran at the same
// time. Counters are added up and distributions merged exactly, so that a percentile
// is that of the whole fleet. Of levels and peaks it has the highest of any replica under
// their own name, and, as the name with ".sum", the sum over replicas. A metric that
// some replicas did not have is listed as absent in those, and rests on the others. Of
// events the newest 256 are kept, and say whose they are.
//
// Parts are merged by their names. Conditions are those that hold for all replicas, and
// how many there are; the provenance is the first's. The noise of the hosts, the
// targets and the curves are the replicas' own affair and not in it. Repeats are no
// replicas: an error.
func Merge(name string, replicas ...*Report) (*Report, error) {
	if len(replicas) == 0 {
		return nil, errors.New("report: merge: no replicas")
	}
	m := merger{Report: &Report{Name: name}, index: map[string]int{}, missing: map[string]*lacking{}}
	for i, r := range replicas {
		if err := m.take(r, i); err != nil {
			return nil, fmt.Errorf("report: merge: %s: %w", replicaName(r, i), err)
		}
	}
	m.finish(len(replicas))
	for _, part := range partNames(replicas) {
		var of []*Report
		for _, r := range replicas {
			if p := r.Part(part); p != nil {
				of = append(of, p)
			}
		}
		p, err := Merge(part, of...)
		if err != nil {
			return nil, err
		}
		m.Parts = append(m.Parts, p)
	}
	return m.Report, nil
}

// replicaName is what a replica's events and errors call it.
func replicaName(r *Report, i int) string { return cmp.Or(r.Name, fmt.Sprintf("replica %d", i+1)) }

// partNames are the names of all parts, in the order of their first appearance.
func partNames(replicas []*Report) []string {
	var names []string
	for _, r := range replicas {
		for _, p := range r.Parts {
			names = appendNew(names, p.Name)
		}
	}
	return names
}

// A merger is a report in the making.
type merger struct {
	*Report
	index   map[string]int // of series in reading.Metrics
	missing map[string]*lacking
}

// lacking is in how many replicas a metric is absent, and why in the first.
type lacking struct {
	replicas int
	why      string
}

// take adds the i-th replica.
func (m *merger) take(r *Report, i int) error {
	if len(r.Runs) > 0 {
		return errors.New("these are repeats of a variant")
	}
	if i == 0 {
		m.Provenance, m.Conditions = r.Provenance, slices.Clone(r.Conditions)
	}
	m.cover(r, i == 0)
	m.Conditions = slices.DeleteFunc(m.Conditions, func(c Condition) bool { return !slices.Contains(r.Conditions, c) })
	for _, d := range r.Deviations {
		m.Deviations = appendNew(m.Deviations, d)
	}
	m.Operations += r.Operations
	for k := range r.reading.Metrics {
		if s := &r.reading.Metrics[k]; !strings.HasPrefix(s.Name, hostPrefix) {
			if err := m.metric(s); err != nil {
				return fmt.Errorf("%s: %w", s.Name, err)
			}
		}
	}
	for _, a := range r.reading.Absent {
		if l := m.missing[a.Name]; l != nil {
			l.replicas++
		} else if !strings.HasPrefix(a.Name, hostPrefix) {
			m.missing[a.Name] = &lacking{1, a.Reason}
		}
	}
	for _, e := range r.reading.Events {
		e.Attrs = append(slices.Clip(e.Attrs), probe.Attr{Key: attrReplica, Value: replicaName(r, i)})
		m.reading.Events = append(m.reading.Events, e)
	}
	m.reading.Dropped += r.reading.Dropped
	m.reading.CarriedIn += r.reading.CarriedIn
	m.reading.CarriedOut += r.reading.CarriedOut
	return nil
}

// metric adds one series of a replica.
func (m *merger) metric(s *probe.Metric) (err error) {
	add := func(all *probe.Metric) {
		all.Value += s.Value
		all.Prov = leastCertain(all.Prov, s.Prov, true)
		if s.Dist != nil {
			err = all.Dist.Merge(s.Dist)
		}
	}
	if s.Kind != probe.KindGauge && s.Kind != probe.KindPeak {
		m.series(s.Desc, s, add)
		return err
	}
	m.series(s.Desc, s, func(all *probe.Metric) {
		if s.Value > all.Value {
			all.Value, all.Prov = s.Value, s.Prov
		}
	})
	m.series(sumOf(s.Desc), s, add)
	return err
}

// series makes a series of d that begins with s, or adds to the one that there is.
func (m *merger) series(d *probe.Desc, s *probe.Metric, add func(all *probe.Metric)) {
	all := probe.Metric{Desc: d, Attrs: sortedAttrs(s), Value: s.Value, Prov: s.Prov}
	key := seriesKey(&all, "")
	if i, ok := m.index[key]; ok {
		add(&m.reading.Metrics[i])
		return
	}
	m.index[key] = len(m.reading.Metrics)
	if s.Dist != nil {
		all.Dist = new(probe.Dist)
		_ = all.Dist.Merge(s.Dist) // an empty one takes any digits
	}
	m.reading.Metrics = append(m.reading.Metrics, all)
}

// sumOf describes the sum over replicas of a level or a peak.
func sumOf(d *probe.Desc) *probe.Desc {
	return &probe.Desc{Name: d.Name + ".sum", Unit: d.Unit, Kind: probe.KindGauge, Detail: d.Detail,
		Help: "Sum over replicas. " + d.Help}
}

// finish puts the merged report in order.
func (m *merger) finish(replicas int) {
	m.Conditions.Add("replicas", int64(replicas), "{replica}")
	m.reading.Start, m.reading.End = m.Started, m.Started.Add(m.Duration)
	events := m.reading.Events
	slices.SortStableFunc(events, func(a, b probe.Event) int { return a.Start.Compare(b.Start) })
	if n := len(events) - mostEvents; n > 0 {
		m.reading.Dropped += uint64(n)
		m.reading.Events = slices.Clone(events[n:])
	}
	for i := range m.reading.Events {
		m.reading.Events[i].ID = uint64(i + 1) // they were each replica's own
	}
	for name, l := range m.missing {
		why := l.why
		if l.replicas < replicas {
			why = fmt.Sprintf("in %d of %d replicas: %s", l.replicas, replicas, l.why)
		}
		m.reading.Absent = append(m.reading.Absent, probe.Absent{Name: name, Reason: why})
	}
	slices.SortFunc(m.reading.Absent, func(a, b probe.Absent) int { return cmp.Compare(a.Name, b.Name) })
}
