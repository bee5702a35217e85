package probetest

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

const ruleValues = `a reading can be taken at its word: finite numbers, counters that never go below zero, distributions whose count
is that of their buckets and whose quantiles do not exceed their maximum, no two series that a reader could not
tell apart, events with a name and a time. What could not be measured is left out, with a reason.`

func checkValues(s *subject) error {
	p, w, err := s.open()
	if err != nil {
		return err
	}
	defer w.Close()
	empty := new(probe.Reading)
	w.Read(empty)
	s.exercise(p)
	interval := new(probe.Reading)
	w.Next(interval)
	s.exercise(p)
	for _, r := range []*probe.Reading{empty, interval, w.Close()} {
		if err := validReading(r); err != nil {
			return err
		}
	}
	return nil
}

// validReading is what is wrong within one reading.
func validReading(r *probe.Reading) error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if r.Start.IsZero() || r.End.Before(r.Start) {
		bad("the reading is from %v to %v", r.Start, r.End)
	}
	if r.CarriedIn < 0 || r.CarriedOut < 0 {
		bad("the reading carried %d operations in and %d out", r.CarriedIn, r.CarriedOut)
	}
	seen := map[string]bool{}
	for i := range r.Metrics {
		m := &r.Metrics[i]
		if m.Desc == nil {
			bad("metric %d has no description", i)
			continue
		}
		key := seriesKey(m)
		if seen[key] {
			bad("%s is there twice: no reader can tell the two apart", key)
		}
		seen[key] = true
		if err := validMetric(m); err != nil {
			bad("%s: %w", key, err)
		}
	}
	for _, a := range r.Absent {
		if a.Name == "" || a.Reason == "" {
			bad("absent %q: reason %q: want both", a.Name, a.Reason)
		}
	}
	for _, e := range r.Events {
		if err := validEvent(e, r.End); err != nil {
			bad("event %d %q: %w", e.ID, e.Name, err)
		}
	}
	return errors.Join(capped(errs)...)
}

func validMetric(m *probe.Metric) error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	keys := map[string]bool{}
	for _, a := range m.Attrs {
		if !validName(a.Key) {
			bad("attribute %q is not lower-case words joined by dots", a.Key)
		}
		if keys[a.Key] {
			bad("attribute %q is there twice", a.Key)
		}
		keys[a.Key] = true
	}
	switch {
	case math.IsNaN(m.Value) || math.IsInf(m.Value, 0):
		bad("the value is %v", m.Value)
	case m.Value < 0 && m.Kind != probe.KindGauge:
		bad("the %v is %v", m.Kind, m.Value)
	}
	if p := m.Prov; p.How > probe.AtMost || p.MaxGap < 0 || p.How == probe.Sampled && m.Kind == probe.KindPeak && p.Samples == 0 {
		bad("the provenance %+v makes no sense", p)
	}
	if (m.Dist != nil) != (m.Kind == probe.KindDistribution) {
		bad("a %v: distribution there: %t", m.Kind, m.Dist != nil)
	}
	if m.Dist != nil {
		errs = append(errs, validDist(m))
	}
	return errors.Join(errs...)
}

// validDist is what does not fit together in a distribution.
func validDist(m *probe.Metric) error {
	d := m.Dist
	var n uint64
	d.Each(func(_, _ int64, in uint64) { n += in })
	if n != d.Count() {
		return fmt.Errorf("the count is %d, the buckets hold %d", d.Count(), n)
	}
	if want := m.Desc.Value(float64(d.Sum())); !atMost(m.Value, want) || !atMost(want, m.Value) {
		return fmt.Errorf("the value is %v, the sum of the distribution %v", m.Value, want)
	}
	if n == 0 {
		return nil
	}
	last := int64(0)
	for _, q := range []float64{0, 0.5, 0.95, 0.99, 1} {
		v := d.Quantile(q)
		if v < last || v > d.Max() {
			return fmt.Errorf("the quantile %v is %d: below that of a lower share (%d) or over the maximum (%d)", q, v, last, d.Max())
		}
		last = v
	}
	return nil
}

func validEvent(e probe.Event, end time.Time) error {
	switch {
	case !validName(e.Name):
		return errors.New("the name is not lower-case words joined by dots")
	case e.ID == 0:
		return errors.New("it has no ID")
	case e.Start.IsZero() || e.Start.After(end):
		return fmt.Errorf("it starts at %v, the reading ends at %v", e.Start, end)
	case e.Duration < 0:
		return fmt.Errorf("it lasts %v", e.Duration)
	}
	return nil
}
