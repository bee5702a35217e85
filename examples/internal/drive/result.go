package drive

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// The samples that percentiles need: below that a percentile is one or two
// values that happened, and only the maximum is told.
const (
	minP95 = 20
	minP99 = 100
)

// All is the Operation of the Result of all operations together.
const All = ""

// Result is what a reading says about one operation, or about all.
type Result struct {
	Operation string
	Due       uint64    // came due, skipped ones included
	Skipped   uint64    // left out by the policy Skip
	Failures  []Failure // by class, in alphabetical order

	Offered  float64 // due per second of the schedule; see Driver's metrics
	Achieved float64 // ended well per second

	Response Latency // from the intended time
	Service  Latency // from the real call
	Lateness Latency // of the driver itself
}

// Failure is the number of failures of one class.
type Failure struct {
	Class Class
	N     uint64
}

// Failed is the number of failures of all classes.
func (r Result) Failed() (n uint64) {
	for _, f := range r.Failures {
		n += f.N
	}
	return n
}

// Saturated reports whether less than 98 % of what was offered was achieved:
// then the latencies say how long the run was rather than how fast the server.
func (r Result) Saturated() bool { return r.Achieved < 0.98*r.Offered }

// Latency is a distribution of times under the rules of sample size.
type Latency struct {
	N         uint64
	Mean, P50 time.Duration // 0 if N is
	Max       time.Duration // exact

	p95, p99 time.Duration
}

// P95 is the 95th percentile; false if there are fewer than 20 samples.
func (l Latency) P95() (time.Duration, bool) { return l.p95, l.N >= minP95 }

// P99 is the 99th percentile; false if there are fewer than 100 samples.
func (l Latency) P99() (time.Duration, bool) { return l.p99, l.N >= minP99 }

// String tells what there are samples for, always with n.
func (l Latency) String() string {
	if l.N == 0 {
		return "n=0"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "p50 %v", round(l.P50))
	if p95, ok := l.P95(); ok {
		fmt.Fprintf(&b, ", p95 %v", round(p95))
	}
	if p99, ok := l.P99(); ok {
		fmt.Fprintf(&b, ", p99 %v", round(p99))
	}
	fmt.Fprintf(&b, ", max %v (n=%d)", round(l.Max), l.N)
	return b.String()
}

// round keeps three digits or so.
func round(d time.Duration) time.Duration {
	for unit := time.Second; unit > time.Nanosecond; unit /= 10 {
		if d >= unit {
			return d.Round(unit / 100)
		}
	}
	return d
}

// ResultsOf returns the results in a reading of a Driver: the one of all
// operations together first, then one per operation by name; nil if the
// reading has none. attrs choose one of several drivers.
func ResultsOf(r *probe.Reading, attrs ...probe.Attr) []Result {
	var results []Result
	all := Result{Operation: All}
	var sums [3]probe.Dist
	for due := range r.Find(descDue.Name, attrs...) {
		of := append(slices.Clip(attrs), probe.Attr{Key: attrOperation, Value: due.Attr(attrOperation)})
		one := Result{Operation: due.Attr(attrOperation), Due: uint64(due.Value)}
		one.Skipped = uint64(value(r, descSkipped, of))
		one.Offered, one.Achieved = value(r, descOffered, of), value(r, descAchieved, of)
		for m := range r.Find(descFailures.Name, of...) {
			one.Failures = addFailure(one.Failures, Class(m.Attr(attrErrorType)), uint64(m.Value))
		}
		one.Response = latency(r, descResponse, of, &sums[0])
		one.Service = latency(r, descService, of, &sums[1])
		one.Lateness = latency(r, descLateness, of, &sums[2])
		all.add(one)
		results = append(results, one)
	}
	if results == nil {
		return nil
	}
	all.Response, all.Service, all.Lateness = latencyOf(&sums[0]), latencyOf(&sums[1]), latencyOf(&sums[2])
	slices.SortFunc(results, func(a, b Result) int { return cmp.Compare(a.Operation, b.Operation) })
	return append([]Result{all}, results...)
}

// add adds the counts and rates of one operation to those of all. Each rate is
// over the operation's own schedule.
func (r *Result) add(one Result) {
	r.Due += one.Due
	r.Skipped += one.Skipped
	r.Offered += one.Offered
	r.Achieved += one.Achieved
	for _, f := range one.Failures {
		r.Failures = addFailure(r.Failures, f.Class, f.N)
	}
}

// addFailure adds n to a class of a list that it keeps in order.
func addFailure(list []Failure, class Class, n uint64) []Failure {
	if n == 0 {
		return list
	}
	i, found := slices.BinarySearchFunc(list, class, func(f Failure, c Class) int { return cmp.Compare(f.Class, c) })
	if !found {
		list = slices.Insert(list, i, Failure{Class: class})
	}
	list[i].N += n
	return list
}

// value is the value of the one metric of that description and those
// attributes, 0 if the reading has none.
func value(r *probe.Reading, d *probe.Desc, attrs []probe.Attr) float64 {
	for m := range r.Find(d.Name, attrs...) {
		return m.Value
	}
	return 0
}

// latency reads one distribution and merges it into sum.
func latency(r *probe.Reading, d *probe.Desc, attrs []probe.Attr, sum *probe.Dist) Latency {
	for m := range r.Find(d.Name, attrs...) {
		if m.Dist != nil {
			_ = sum.Merge(m.Dist) // the digits are the same: one description
			return latencyOf(m.Dist)
		}
	}
	return Latency{}
}

func latencyOf(d *probe.Dist) Latency {
	at := func(q float64) time.Duration { return time.Duration(d.Quantile(q)) }
	return Latency{N: d.Count(), Mean: time.Duration(d.Mean()), Max: time.Duration(d.Max()),
		P50: at(0.50), p95: at(0.95), p99: at(0.99)}
}
