package report

import (
	"slices"
	"strings"

	"github.com/tidestaff/tidestaff/probe"
)

// A class says how far a number repeats from run to run when nothing has
// changed, and so how it is judged. Counts can be trusted first, then CPU time,
// and latencies last: on a shared machine two runs of one binary differ in p95
// by more than 10 % two times in five.
type class uint8

const (
	classExact    class = iota // described as a count that repeats exactly
	classCount                 // other counts, and bytes that are counted
	classCPU                   // CPU time
	classMemory                // levels and peaks
	classDuration              // latencies, lag, rates: all that others on the machine can stretch
)

var classNames = [...]string{"exact", "count", "CPU", "memory", "time"}

// String is the class as a table shows it.
func (c class) String() string { return classNames[c] }

// classOf is the class of one statistic of a metric.
func classOf(d *probe.Desc, stat string) class {
	cpu := slices.Contains(strings.Split(d.Name, "."), "cpu")
	level := d.Kind == probe.KindGauge || d.Kind == probe.KindPeak || d.Kind == probe.KindUpDownCounter
	switch b := benchOf(d, stat); {
	case b != nil && b.Exact:
		return classExact
	case stat == "rate" || strings.HasSuffix(d.Unit, "/s"):
		return classDuration
	case stat == "count":
		return classCount
	case d.Unit == "s" && cpu && !level:
		return classCPU
	case d.Unit == "s":
		return classDuration
	case level:
		return classMemory
	}
	return classCount
}

// benchOf is how a benchmark reports the statistic; nil if it does not.
func benchOf(d *probe.Desc, stat string) *probe.Bench {
	for i := range d.Bench {
		if d.Bench[i].Stat == stat {
			return &d.Bench[i]
		}
	}
	return nil
}

// A machine is quiet when less than these shares of its CPU time went to others
// and to other virtual machines, and no quota held the process up.
const (
	quietOthers = 0.15
	quietSteal  = 0.02
)

// noise says why times that were measured beside it prove nothing, "" if the
// machine was quiet. One that could not be looked at is not known to be.
func (h *Host) noise() string {
	var why []string
	switch {
	case h.OthersCPU == nil:
		why = append(why, "how busy the machine was is not known")
	case *h.OthersCPU >= quietOthers:
		why = append(why, "others used "+formatValue(*h.OthersCPU, "1", "%")+" of the CPUs")
	}
	if h.Steal != nil && *h.Steal >= quietSteal {
		why = append(why, formatValue(*h.Steal, "1", "%")+" of the CPU time was stolen")
	}
	if h.Throttled != nil && h.Throttled.Periods > 0 {
		why = append(why, "the CPU quota ran out in "+formatCount(float64(h.Throttled.Periods))+" periods")
	}
	return strings.Join(why, ", ")
}
