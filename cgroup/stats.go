package cgroup

import (
	"strings"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// Stats are a window's numbers as a person asks for them. What could not be
// measured is a [Value] that is not there, with its reason.
type Stats struct {
	// Duration is the length of the window, which all rates are over.
	Duration time.Duration

	RSS    Level // resident set of the process
	Heap   Level // live bytes of the Go heap: usage and course only
	Charge Level // memory that the control group is charged for
	// Of these usage and course only.
	Uncached   Level // the charge apart from page cache
	WorkingSet Level // the charge apart from page cache that was not used lately
	Swap       Level // of the group; the peak too
	Tasks      Level // threads of the group, not bytes; the peak too

	CPU      CPUUse // of the process; its limit is the group's
	GroupCPU CPUUse

	Disk      Throughput // of the process, bytes only
	GroupDisk Throughput

	// What the tasks of the group waited for.
	CPUPressure, MemoryPressure, IOPressure Pressure
}

// A Level is an amount of memory, in bytes, over a window. A part that is not kept
// for a level is a Value that is not there.
type Level struct {
	// Usage is the level at the window's end, Peak the highest in it, and
	// Growth the peak over the level at the window's start.
	Usage, Peak, Growth Value
	// Uncertainty bounds how far the kernel's count may be off.
	Uncertainty Value
	// OfLimit is the peak as a share of the group's memory limit.
	OfLimit Value
	Course  Course
}

// A Course is how a level went within a window, from N looks at it of which two
// were at most MaxGap apart. Without a look it is the zero Course.
type Course struct {
	N      uint64
	MaxGap time.Duration

	// Base is the level at the window's start. Mean is over looks, not over
	// time. All are in the level's unit.
	Base, Min, Mean, Max, Last float64
	// Slope is that of the least-squares line, in units per second.
	Slope float64
	// First and Second are the means of the window's halves, with the number of
	// looks in each.
	First, Second Value
}

// A CPUUse is CPU time over a window.
type CPUUse struct {
	Time    Value // seconds
	Cores   Value // CPUs that were busy on average
	OfLimit Value // of the CPUs that the quota allows, the share that was busy on average
	// Throttled is the share of the quota's periods in which the group used it
	// up and was stopped; of the group only.
	Throttled Value
}

// A Throughput is what devices did, per second.
type Throughput struct {
	ReadBytes, WriteBytes           Value
	ReadOperations, WriteOperations Value
}

// A Pressure is the share of the window in which some, or all, of the group's
// tasks waited for a resource.
type Pressure struct{ Some, Full Value }

// StatsOf is the typed view of a reading, be it fresh or read back from a report;
// false if it has no cgroup probe in it. If it holds several, those of the first
// one are returned.
func StatsOf(r *probe.Reading) (Stats, bool) {
	v, ok := viewOf(r)
	if !ok {
		return Stats{}, false
	}
	memory := v.of(descGroupLimit)
	s := Stats{
		Duration: r.Duration(),
		RSS:      v.level(descRSS, descPeak, descGrowth, descUncertainty, descCourse),
		Heap:     v.level(nil, nil, nil, nil, descGoCourse),
		Charge:   v.level(descGroupUsage, descGroupPeak, descGroupGrowth, descGroupUncertainty, descGroupCourse),

		Uncached:   v.level(descUncached, nil, nil, nil, descUncachedCourse),
		WorkingSet: v.level(descWorkingSet, nil, nil, nil, descWorkingSetCourse),
		Swap:       v.level(descGroupSwap, descGroupSwapPeak, nil, nil, descGroupSwapCourse),
		Tasks:      v.level(descTasks, descTasksPeak, nil, nil, descTasksCourse),

		CPU:      v.cpu(v.of(descCPU)),
		GroupCPU: v.cpu(v.of(descGroupCPUUsage)),

		Disk:      v.throughput(descProcessIO, nil),
		GroupDisk: v.throughput(descGroupIO, descGroupIOOps),

		CPUPressure:    v.pressure("cpu"),
		MemoryPressure: v.pressure("memory"),
		IOPressure:     v.pressure("io"),
	}
	s.Heap.Usage = v.of(descGo, probe.Attr{Key: attrGoMemory, Value: "live"})
	s.RSS.OfLimit = ratio(s.RSS.Peak, memory)
	s.Charge.OfLimit = ratio(s.Charge.Peak, memory)
	s.GroupCPU.Throttled = ratio(v.of(descThrottled), v.of(descPeriods))
	s.CPU.Throttled = Value{Reason: "a process has no quota of its own"}
	return s, true
}

// A view is a reading as one of its probes sees it.
type view struct {
	r    *probe.Reading
	name string // of the probe
}

// viewOf finds the first cgroup probe in a reading.
func viewOf(r *probe.Reading) (view, bool) {
	for i := range r.Metrics {
		m := &r.Metrics[i]
		if m.Desc == nil {
			continue
		}
		for _, d := range descs {
			if m.Name == d.Name {
				return view{r, m.Attr(probe.AttrProbeName)}, true
			}
		}
	}
	return view{}, false
}

// each calls f with the probe's series of a metric that carry the attributes.
func (v view) each(d *probe.Desc, attrs []probe.Attr, f func(*probe.Metric)) {
	for m := range v.r.Find(d.Name, attrs...) {
		if m.Attr(probe.AttrProbeName) == v.name {
			f(m)
		}
	}
}

// of is the value of the one series of a metric with the attributes; of several
// (the modes of a CPU time), the sum.
func (v view) of(d *probe.Desc, attrs ...probe.Attr) Value {
	var sum Value
	v.each(d, attrs, func(m *probe.Metric) {
		sum = Value{V: sum.V + m.Value, OK: true, Prov: m.Prov}
	})
	if !sum.OK {
		sum.Reason = v.reason(d.Name)
	}
	return sum
}

// reason is why a metric is not in the reading.
func (v view) reason(name string) string {
	for _, a := range v.r.Absent {
		if strings.HasPrefix(name, a.Name) {
			return a.Reason
		}
	}
	return "not in this reading"
}

func (v view) level(usage, peak, growth, uncertainty, course *probe.Desc) Level {
	const none = "not kept for this level"
	l := Level{Course: v.course(course), OfLimit: Value{Reason: none}}
	for _, f := range []struct {
		to *Value
		d  *probe.Desc
	}{{&l.Usage, usage}, {&l.Peak, peak}, {&l.Growth, growth}, {&l.Uncertainty, uncertainty}} {
		*f.to = Value{Reason: none}
		if f.d != nil {
			*f.to = v.of(f.d)
		}
	}
	return l
}

func (v view) course(d *probe.Desc) Course {
	var c Course
	v.each(d, nil, func(m *probe.Metric) {
		switch stat := m.Attr(attrStat); stat {
		case "base":
			c.Base, c.N, c.MaxGap = m.Value, m.Prov.Samples, m.Prov.MaxGap
		case "min":
			c.Min = m.Value
		case "mean":
			c.Mean = m.Value
		case "max":
			c.Max = m.Value
		case "last":
			c.Last = m.Value
		case "rise":
			c.Slope = m.Value / v.r.Duration().Seconds()
		case "first_half":
			c.First = Value{V: m.Value, OK: true, Prov: m.Prov}
		case "second_half":
			c.Second = Value{V: m.Value, OK: true, Prov: m.Prov}
		}
	})
	for _, half := range []*Value{&c.First, &c.Second} {
		if !half.OK {
			half.Reason = "no look fell into this half of the window"
			if c.N == 0 {
				half.Reason = v.reason(d.Name)
			}
		}
	}
	return c
}

func (v view) cpu(time Value) CPUUse {
	cores := v.perSecond(time)
	return CPUUse{Time: time, Cores: cores, OfLimit: ratio(cores, v.of(descGroupCPULimit))}
}

func (v view) throughput(bytes, ops *probe.Desc) Throughput {
	of := func(d *probe.Desc, direction string) Value {
		if d == nil {
			return Value{Reason: "the kernel does not count them for a process"}
		}
		return v.perSecond(v.of(d, probe.Attr{Key: attrDirection, Value: direction}))
	}
	return Throughput{of(bytes, "read"), of(bytes, "write"), of(ops, "read"), of(ops, "write")}
}

func (v view) pressure(resource string) Pressure {
	of := func(stall string) Value {
		return v.perSecond(v.of(descPressure, probe.Attr{Key: attrResource, Value: resource}, probe.Attr{Key: attrStall, Value: stall}))
	}
	return Pressure{of("some"), of("full")}
}

// perSecond divides by the window's length.
func (v view) perSecond(a Value) Value {
	return ratio(a, Value{V: v.r.Duration().Seconds(), OK: true})
}

// ratio is a over b, known as a is; it is not there if one of them is not, or if
// b is zero.
func ratio(a, b Value) Value {
	switch {
	case !a.OK:
		return Value{Reason: a.Reason}
	case !b.OK:
		return Value{Reason: b.Reason}
	case b.V == 0:
		return Value{Reason: "nothing to divide by"}
	}
	return Value{V: a.V / b.V, OK: true, Prov: a.Prov}
}
