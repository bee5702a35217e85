package probetest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/tidestaff/tidestaff/probe"
)

// A tally holds what a window counted: the part of a reading that only grows,
// by series. Tallies can be added and compared, which is how the checks know
// that windows agree without knowing what is measured.
type tally map[string]count

// A count is a counter's value, or a distribution: how many values in each
// bucket, by its lowest value, and their sum.
type count struct {
	value   float64
	buckets map[int64]uint64
	sum     int64
}

// eventsKey stands for the number of events among the series.
const eventsKey = "(events)"

// tallyOf is the part of r that only grows. It shares nothing with r.
func tallyOf(r *probe.Reading) tally {
	t := tally{eventsKey: {value: float64(uint64(len(r.Events)) + r.Dropped)}}
	for i := range r.Metrics {
		m := &r.Metrics[i]
		if m.Desc == nil || m.Kind != probe.KindCounter && m.Kind != probe.KindDistribution {
			continue
		}
		c := count{value: m.Value}
		if m.Dist != nil {
			c = count{buckets: map[int64]uint64{}, sum: m.Dist.Sum()}
			m.Dist.Each(func(low, _ int64, n uint64) { c.buckets[low] += n })
		}
		t[seriesKey(m)] = c
	}
	return t
}

// plus is the sum of two tallies.
func (t tally) plus(o tally) tally {
	sum := tally{}
	for _, part := range []tally{t, o} {
		for key, c := range part {
			have := sum[key]
			have.value += c.value
			have.sum += c.sum
			if c.buckets != nil {
				have.buckets = maps.Clone(have.buckets)
				if have.buckets == nil {
					have.buckets = map[int64]uint64{}
				}
				for low, n := range c.buckets {
					have.buckets[low] += n
				}
			}
			sum[key] = have
		}
	}
	return sum
}

// within is nil if t holds no more than o, bucket by bucket. what names the two:
// "the nested window", "the one around it".
func (t tally) within(o tally, what, other string) error {
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(t)) {
		a, b := t[key], o[key]
		if !atMost(a.value, b.value) {
			errs = append(errs, fmt.Errorf("%s: %s has %v, %s only %v", key, what, a.value, other, b.value))
		}
		if a.sum > b.sum {
			errs = append(errs, fmt.Errorf("%s: %s has a sum of %d, %s only %d", key, what, a.sum, other, b.sum))
		}
		for _, low := range slices.Sorted(maps.Keys(a.buckets)) {
			if n, m := a.buckets[low], b.buckets[low]; n > m {
				errs = append(errs, fmt.Errorf("%s: %s has %d values in the bucket from %d, %s only %d", key, what, n, low, other, m))
				break // the others would say the same
			}
		}
	}
	return errors.Join(capped(errs)...)
}

// atMost compares two sums of scaled integers: what rounding can do is let pass.
func atMost(a, b float64) bool {
	return a <= b+1e-9*max(math.Abs(a), math.Abs(b))
}

// activity is how much was counted: values, counts and events together.
func (t tally) activity() float64 {
	var sum float64
	for _, c := range t {
		sum += c.value
		for _, n := range c.buckets {
			sum += float64(n)
		}
	}
	return sum
}

// capped keeps a message readable: the first few errors and how many more.
func capped(errs []error) []error {
	const most = 8
	if len(errs) <= most {
		return errs
	}
	return append(errs[:most:most], fmt.Errorf("and %d more", len(errs)-most))
}

// seriesKey is a metric's name and attributes, whatever their order: two series
// with the same key cannot be told apart by a reader.
func seriesKey(m *probe.Metric) string {
	attrs := slices.SortedFunc(slices.Values(m.Attrs), func(a, b probe.Attr) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Value, b.Value))
	})
	var b strings.Builder
	if m.Desc != nil {
		b.WriteString(m.Name)
	}
	for _, a := range attrs {
		fmt.Fprintf(&b, " %s=%q", a.Key, a.Value)
	}
	return b.String()
}

// difference is the first thing in which two readings differ, or nil. Events are
// compared by number: they are copied as they are.
func difference(a, b *probe.Reading) error {
	switch {
	case !a.Start.Equal(b.Start) || !a.End.Equal(b.End):
		return fmt.Errorf("one is of %v to %v, the other of %v to %v", a.Start, a.End, b.Start, b.End)
	case len(a.Metrics) != len(b.Metrics):
		return fmt.Errorf("one has %d metrics, the other %d", len(a.Metrics), len(b.Metrics))
	case len(a.Events) != len(b.Events) || a.Dropped != b.Dropped:
		return fmt.Errorf("one has %d events and %d dropped, the other %d and %d", len(a.Events), a.Dropped, len(b.Events), b.Dropped)
	case !slices.Equal(a.Absent, b.Absent):
		return fmt.Errorf("one lists as absent %v, the other %v", a.Absent, b.Absent)
	case a.CarriedIn != b.CarriedIn || a.CarriedOut != b.CarriedOut:
		return fmt.Errorf("one carried %d in and %d out, the other %d and %d", a.CarriedIn, a.CarriedOut, b.CarriedIn, b.CarriedOut)
	}
	for i := range a.Metrics {
		m, n := &a.Metrics[i], &b.Metrics[i]
		switch {
		case seriesKey(m) != seriesKey(n):
			return fmt.Errorf("metric %d is %s in one and %s in the other", i, seriesKey(m), seriesKey(n))
		case m.Value != n.Value || m.Prov != n.Prov:
			return fmt.Errorf("%s is %v (%v) in one and %v (%v) in the other", seriesKey(m), m.Value, m.Prov.How, n.Value, n.Prov.How)
		case (m.Dist == nil) != (n.Dist == nil) || m.Dist != nil && !m.Dist.Equal(n.Dist):
			return fmt.Errorf("%s has different distributions", seriesKey(m))
		}
	}
	return nil
}
