package cgroup

import (
	"fmt"
	"math"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// An OpCost is what one operation took on average: what a window counted,
// divided by the number of operations in it. What an operation took that is not
// the process's doing (a database server's CPU time) is not in it; for that there
// is a probe of the other process, and its reading.
//
// Nothing tells whose operation a cost was for. All that ran in the window is
// divided, background work too, so a window without load, divided by the same
// number, is what to subtract.
type OpCost struct {
	// Sent are the operations that were asked for and Served those that were
	// answered. Work for an operation that failed, or was under way at the
	// window's end, is shared out among the served ones: the truth for one
	// operation lies between the two quotients.
	Sent, Served uint64

	CPU      Cost // seconds, by the process's own clock
	GroupCPU Cost // seconds, of all processes of the group, as cpu.stat has it

	// Throttled is the share of the quota's periods, of those in which the group
	// ran, at whose end it was stopped; Stopped the seconds, summed over CPUs,
	// for which an operation was held up by that.
	Throttled Value
	Stopped   Cost

	// Page faults of the process: those served from memory, and those that
	// waited for a device.
	MinorFaults, MajorFaults Cost
	// Bytes that devices read and wrote, for the process and for the group.
	Read, Written           Cost
	GroupRead, GroupWritten Cost

	// Clocks is by how much the group's CPU time is above the process's, as a
	// share of the latter: other processes of the group, commands among them.
	// NotServed is the share of the operations sent that were not served.
	Clocks, NotServed Value
}

// A Cost is an amount for one operation.
type Cost struct{ PerSent, PerServed Value }

// noteworthy is the difference from which the two clocks, or the two counts,
// tell different stories.
const noteworthy = 0.05

// PerOp divides what a reading holds by the operations in it, as whoever sent
// and served them has counted them; sent and served may be the same number. The
// reading may be fresh or read back from a report. It is false if there is no
// cgroup probe in it; if there are several, it is of the first one.
func PerOp(r *probe.Reading, sent, served uint64) (OpCost, bool) {
	v, ok := viewOf(r)
	c := OpCost{Sent: sent, Served: served}
	if !ok {
		return c, false
	}
	per := func(d *probe.Desc, attrs ...probe.Attr) Cost {
		total := v.of(d, attrs...)
		return Cost{PerSent: ratio(total, count(sent)), PerServed: ratio(total, count(served))}
	}
	fault := func(kind string) probe.Attr { return probe.Attr{Key: attrFault, Value: kind} }
	direction := func(name string) probe.Attr { return probe.Attr{Key: attrDirection, Value: name} }
	c.CPU, c.GroupCPU, c.Stopped = per(descCPU), per(descGroupCPUUsage), per(descThrottledTime)
	c.Throttled = ratio(v.of(descThrottled), v.of(descPeriods))
	c.MinorFaults, c.MajorFaults = per(descFaults, fault("minor")), per(descFaults, fault("major"))
	c.Read, c.Written = per(descProcessIO, direction("read")), per(descProcessIO, direction("write"))
	c.GroupRead, c.GroupWritten = per(descGroupIO, direction("read")), per(descGroupIO, direction("write"))
	c.Clocks = ratio(v.of(descGroupCPUUsage), v.of(descCPU))
	c.Clocks.V--
	c.NotServed = ratio(Value{V: float64(sent) - float64(served), OK: true}, count(sent))
	return c, true
}

func count(n uint64) Value { return Value{V: float64(n), OK: true} }

// Notes are the differences that are over 5 %, each in a sentence.
func (c OpCost) Notes() []string {
	var notes []string
	if d := c.Clocks; d.OK && math.Abs(d.V) > noteworthy {
		if d.V > 0 {
			notes = append(notes, fmt.Sprintf("the group's CPU time is %s over the process's: it has other processes", percent(d.V)))
		} else {
			notes = append(notes, fmt.Sprintf("the group's CPU time is %s under the process's: it is counted otherwise, or the process was moved", percent(-d.V)))
		}
	}
	if d := c.NotServed; d.OK && math.Abs(d.V) > noteworthy {
		if d.V > 0 {
			notes = append(notes, fmt.Sprintf("%s of the operations sent were not served, and their work is shared out among the others", percent(d.V)))
		} else {
			notes = append(notes, fmt.Sprintf("%s more operations were served than sent: some were sent before the window", percent(-d.V)))
		}
	}
	return notes
}

// A CostRow is one line of an OpCost.
type CostRow struct {
	Label string
	Unit  string // UCUM
	Cost
}

// Rows are the costs in the order in which a person reads them, those that
// could not be measured among them.
func (c OpCost) Rows() []CostRow {
	return []CostRow{
		{"CPU, process clock", "s", c.CPU},
		{"CPU, cgroup", "s", c.GroupCPU},
		{"held up by the CPU quota", "s", c.Stopped},
		{"page faults, minor", "{fault}", c.MinorFaults},
		{"page faults, major", "{fault}", c.MajorFaults},
		{"read from devices, process", "By", c.Read},
		{"written to devices, process", "By", c.Written},
		{"read from devices, cgroup", "By", c.GroupRead},
		{"written to devices, cgroup", "By", c.GroupWritten},
	}
}

// String is a table of the rows, the two differences, and the notes. A dash is
// what could not be measured, with the reason.
func (c OpCost) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "per operation\tsent (%d)\tserved (%d)\n", c.Sent, c.Served)
	for _, row := range c.Rows() {
		if row.PerSent.OK || row.PerServed.OK {
			fmt.Fprintf(w, "%s\t%s\t%s\n", row.Label, row.text(row.PerSent), row.text(row.PerServed))
		} else {
			fmt.Fprintf(w, "%s\t%s\n", row.Label, row.text(row.PerSent))
		}
	}
	fmt.Fprintf(w, "periods throttled\t%s\n", share(c.Throttled))
	fmt.Fprintf(w, "cgroup's CPU over the process's\t%s\n", share(c.Clocks))
	fmt.Fprintf(w, "sent and not served\t%s\n", share(c.NotServed))
	for _, note := range c.Notes() {
		fmt.Fprintf(w, "note: %s\n", note)
	}
	_ = w.Flush() // to memory
	return b.String()
}

func share(v Value) string {
	if !v.OK {
		return "– (" + v.Reason + ")"
	}
	return percent(v.V)
}

func percent(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }

// text prints a value in a unit that fits it.
func (r CostRow) text(v Value) string {
	switch {
	case !v.OK:
		return "– (" + v.Reason + ")"
	case r.Unit == "s":
		d := time.Duration(v.V * float64(time.Second))
		if d < time.Millisecond {
			return d.Round(10 * time.Nanosecond).String()
		}
		return d.Round(10 * time.Microsecond).String()
	case r.Unit == "By" && v.V >= 1<<10:
		return fmt.Sprintf("%.1f KiB", v.V/(1<<10))
	case r.Unit == "By":
		return fmt.Sprintf("%.1f B", v.V)
	}
	return fmt.Sprintf("%.3g", v.V)
}
