package probe

import (
	"iter"
	"slices"
	"time"
)

// An Attr is one attribute of a metric or event.
type Attr struct{ Key, Value string }

// A Metric is one series of a reading.
type Metric struct {
	*Desc
	// Attrs tell the series of one Desc apart. They are shared between
	// readings and must not be changed.
	Attrs []Attr
	// Value is in Desc.Unit. For a distribution it is the sum.
	Value float64
	// Dist is set for distributions only. It belongs to the Reading and is
	// overwritten when that is read into again.
	Dist *Dist
	// Prov says how the value was obtained.
	Prov Provenance
}

// Attr is the value of the attribute key, or "" if the metric has none.
func (m *Metric) Attr(key string) string {
	for _, a := range m.Attrs {
		if a.Key == key {
			return a.Value
		}
	}
	return ""
}

// has reports whether the metric carries the attribute.
func (m *Metric) has(a Attr) bool {
	return slices.Contains(m.Attrs, a)
}

// How says how far a value can be trusted.
type How uint8

const (
	// Exact: nothing was missed. It is the zero value.
	Exact How = iota
	// Sampled: the value was looked at now and then. A peak is a lower bound, a
	// sum or a distribution is an estimate.
	Sampled
	// AtMost: only an upper bound is known.
	AtMost
)

// String is "exact", "sampled" or "at most".
func (h How) String() string {
	return [...]string{"exact", "sampled", "at most"}[min(h, AtMost)]
}

// Provenance says how a value was obtained.
type Provenance struct {
	How How
	// Method names the mechanism, such as "VmHWM reset"; "" if there is only one.
	Method string
	// Samples and MaxGap belong to sampled values: how many looks, and of a level
	// the longest time between two of them (or between one and the window's end).
	Samples uint64
	MaxGap  time.Duration
}

// An Absent says that something could not be measured, and why, in words for a
// person.
type Absent struct {
	// Name is a metric's name, or a prefix that stands for several, or a
	// probe's.
	Name   string
	Reason string
}

// An Event is something with a start, a duration, a cause and evidence: a
// stall, a slow statement, an out-of-memory kill.
type Event struct {
	// ID numbers the event within its probe. An event that was emitted as
	// Ongoing is emitted again, completed, under the same ID.
	ID uint64
	// Name is lower case and dotted, like a metric's.
	Name     string
	Start    time.Time
	Duration time.Duration
	// Ongoing: it had not ended yet and Duration is so far.
	Ongoing bool
	// Cause is the first cause, "" if it is not known.
	Cause string
	// Text is one sentence for a person.
	Text string
	// Attrs are the evidence.
	Attrs []Attr
}

// A Reading is what a window holds. It belongs to the caller, who reuses it
// from read to read: a Read into a used Reading overwrites what it held and
// allocates next to nothing. The zero Reading is ready for use.
type Reading struct {
	Start, End time.Time
	Metrics    []Metric
	Events     []Event
	// Dropped counts the window's events that are no longer in their probe's
	// ring of 256.
	Dropped uint64
	Absent  []Absent
	// CarriedIn counts operations under way when the window opened, and
	// CarriedOut those under way at its end. An operation counts, whole,
	// where it ends.
	CarriedIn, CarriedOut int
}

// Find yields the metrics of that name that carry all of the attributes.
func (r *Reading) Find(name string, attrs ...Attr) iter.Seq[*Metric] {
	return func(yield func(*Metric) bool) {
	metrics:
		for i := range r.Metrics {
			m := &r.Metrics[i]
			if m.Desc == nil || m.Name != name {
				continue
			}
			for _, a := range attrs {
				if !m.has(a) {
					continue metrics
				}
			}
			if !yield(m) {
				return
			}
		}
	}
}

// Duration is the length of the window.
func (r *Reading) Duration() time.Duration { return r.End.Sub(r.Start) }

// reset empties the reading but keeps its memory.
func (r *Reading) reset() {
	r.Start, r.End = time.Time{}, time.Time{}
	r.Metrics, r.Events, r.Absent = r.Metrics[:0], r.Events[:0], r.Absent[:0]
	r.Dropped, r.CarriedIn, r.CarriedOut = 0, 0, 0
}

// add appends a metric and returns it. A distribution that stood in the same
// place of an earlier reading lends its memory.
func (r *Reading) add(d *Desc, attrs []Attr) *Metric {
	n := len(r.Metrics)
	if n < cap(r.Metrics) {
		r.Metrics = r.Metrics[:n+1]
	} else {
		r.Metrics = append(r.Metrics, Metric{})
	}
	m := &r.Metrics[n]
	dist := m.Dist
	*m = Metric{Desc: d, Attrs: attrs}
	if d.Kind == KindDistribution {
		if dist == nil {
			dist = new(Dist)
		}
		m.Dist = dist
	}
	return m
}

// copyFrom makes r a copy that shares nothing mutable with o.
func (r *Reading) copyFrom(o *Reading) {
	r.reset()
	r.Metrics = slices.Grow(r.Metrics, len(o.Metrics))
	for i := range o.Metrics {
		from := &o.Metrics[i]
		m := r.add(from.Desc, from.Attrs)
		m.Value, m.Prov = from.Value, from.Prov
		if from.Dist != nil {
			m.Dist.copyFrom(from.Dist)
		}
	}
	r.Events = append(r.Events, o.Events...)
	r.Absent = append(r.Absent, o.Absent...)
	r.Start, r.End = o.Start, o.End
	r.Dropped, r.CarriedIn, r.CarriedOut = o.Dropped, o.CarriedIn, o.CarriedOut
}
