package probe

import (
	"fmt"
	"strings"
)

// Kind says what a metric's number means and how windows treat it.
type Kind uint8

const (
	// KindCounter only grows; a window holds what was added in it.
	KindCounter Kind = iota + 1
	// KindUpDownCounter goes up and down (operations in flight); a window
	// holds the level at its end.
	KindUpDownCounter
	// KindGauge is a level that somebody samples; a window holds the last one.
	KindGauge
	// KindPeak is the highest level within the window. It cannot be
	// subtracted, so each window has its own.
	KindPeak
	// KindDistribution holds many values; a window holds those recorded in it.
	KindDistribution
)

var kindNames = [...]string{"", "counter", "updowncounter", "gauge", "peak", "distribution"}

// String is the kind's name as reports write it: "counter", "updowncounter",
// "gauge", "peak" or "distribution".
func (k Kind) String() string {
	if int(k) >= len(kindNames) {
		return fmt.Sprintf("kind(%d)", uint8(k))
	}
	return kindNames[k]
}

// A Desc describes a metric. It is the single source for OpenTelemetry, for
// benchmark units, for comparison and for the docs. It must not be changed
// after its first use.
type Desc struct {
	// Name is lower case and dotted, as OpenTelemetry's conventions ask.
	Name string
	// Unit is a UCUM unit: "s", "By", "{query}", "1". What is counted, peaks
	// or is recorded in "s" is given in nanoseconds, in any other unit as it
	// is (see Value); a gauge is set in its unit.
	Unit string
	// Help is one sentence that says what is counted.
	Help string
	// Kind may be zero where a Core's method makes the metric: the method
	// fills it in.
	Kind Kind
	// Detail marks series for the person who measures (paths, statement
	// texts, call sites): they never leave the process by themselves.
	Detail bool
	// Digits of a distribution: 2 (the default) or 3 significant digits.
	Digits int
	// Bounds are the explicit bucket boundaries, in Unit, for a reader that
	// needs some. Nil leaves the choice to the reader.
	Bounds []float64
	// Bench lists the units under which a benchmark reports the metric.
	Bench []Bench
}

// A Bench is one number that a benchmark reports of a metric.
type Bench struct {
	// Unit is what benchstat sees, such as "p99-lag-ns" or "queries/op".
	Unit string
	// Stat picks the number: "value", or of a distribution "count", "sum",
	// "mean", "max", "p50", "p95", "p99".
	Stat string
	// PerOp divides by the number of iterations.
	PerOp bool
	// Better is "lower" or "higher".
	Better string
	// Exact marks a count that repeats exactly from run to run.
	Exact bool
}

// Value turns a raw number, as it is added or recorded, into Unit: for seconds
// that is from nanoseconds.
func (d *Desc) Value(raw float64) float64 {
	if d.Unit == "s" && d.Kind != KindGauge {
		return raw / 1e9
	}
	return raw
}

// check says what is wrong with the description, or nil.
func (d *Desc) check() error {
	switch {
	case !validName(d.Name):
		return fmt.Errorf("probe: metric name %q is not lower-case words joined by dots", d.Name)
	case d.Unit == "" || strings.ContainsAny(d.Unit, " \t\n"):
		return fmt.Errorf("probe: metric %s: unit %q is not a UCUM unit", d.Name, d.Unit)
	case d.Help == "":
		return fmt.Errorf("probe: metric %s has no help", d.Name)
	case d.Digits != 0 && d.Digits != 2 && d.Digits != 3:
		return fmt.Errorf("probe: metric %s: digits %d is not 2 or 3", d.Name, d.Digits)
	}
	return nil
}

// validName accepts words of [a-z0-9_], each begun by a letter, joined by dots.
func validName(s string) bool {
	for word := range strings.SplitSeq(s, ".") {
		if word == "" || word[0] < 'a' || word[0] > 'z' {
			return false
		}
		for _, r := range word {
			if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '_' {
				return false
			}
		}
	}
	return true
}
