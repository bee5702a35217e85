package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// conditionsDiffer compares what must be equal. why says what makes the sides
// incomparable; notes what differs and does not.
func (j *judge) conditionsDiffer() (why string, notes []string) {
	before, after := j.data[0], j.data[1]
	for _, b := range before {
		if slices.Contains(j.opts.Ignore, b.Name) {
			continue
		}
		for _, a := range after {
			if a.Name != b.Name || a == b || slices.Contains(before, a) || slices.Contains(after, b) {
				continue
			}
			text := fmt.Sprintf("%s is %s against %s", b.Name, b.text(), a.text())
			if b.quantityNear(a) {
				notes = append(notes, text)
			} else if why == "" {
				why = text
			}
		}
	}
	return why, notes
}

// countedConditions are those of a side and of its runs that count. Sizes may
// differ between runs; then each is in it.
func countedConditions(r *Report) Conditions {
	all := slices.Clone(r.Conditions)
	for _, run := range r.counted() {
		for _, c := range run.allConditions() {
			if !slices.Contains(all, c) {
				all = append(all, c)
			}
		}
	}
	return all
}

// quantityNear tells whether two conditions are quantities and near enough. A
// log's or a database's size in bytes is never the same twice.
func (c Condition) quantityNear(o Condition) bool {
	if c.Unit == "" || c.Unit != o.Unit {
		return false
	}
	x, ok := c.number()
	y, ok2 := o.number()
	return ok && ok2 && (c.Unit == "By" || math.Abs(x-y) <= 0.1*max(math.Abs(x), math.Abs(y)))
}

// number is the value of a quantity.
func (c Condition) number() (float64, bool) {
	switch v := c.Value.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// provenanceDiffers says in what the machines or programs that the series comes
// from differ, "" if in nothing that a time depends on.
func (t *track) provenanceDiffers() string {
	var first *Provenance
	for _, p := range t.of {
		switch {
		case p == nil || p.Provenance.Go == "":
		case first == nil:
			first = &p.Provenance
		default:
			if d := first.differs(&p.Provenance); d != "" {
				return d
			}
		}
	}
	return ""
}

// differs names the first thing in which two places of measurement differ.
func (p *Provenance) differs(o *Provenance) string {
	limits := func(c *Cgroup) (cpus, memory any) {
		if c == nil {
			return 0.0, int64(0)
		}
		return c.CPUs, c.Memory
	}
	cpus, memory := limits(p.Cgroup)
	cpus2, memory2 := limits(o.Cgroup)
	for _, f := range []struct {
		name string
		a, b any
	}{
		{"the system", p.GOOS + "/" + p.GOARCH, o.GOOS + "/" + o.GOARCH},
		{"the CPU model", p.CPUModel, o.CPUModel},
		{"the number of CPUs", p.NumCPU, o.NumCPU},
		{"GOMAXPROCS", p.GOMAXPROCS, o.GOMAXPROCS},
		{"the CPU limit of the cgroup", cpus, cpus2},
		{"the memory limit of the cgroup", memory, memory2},
		{"the race detector", p.Race, o.Race},
	} {
		if f.a != f.b {
			return fmt.Sprintf("%s differs: %v and %v", f.name, f.a, f.b)
		}
	}
	return ""
}

// rates are those that a load generator asked for and got in one run, 0 if there
// is none. It tells by two gauges of its part, with the attributes of the series,
// whose names end in "rate.offered" and "rate.achieved".
func (t *track) rates(run int) (offered, achieved float64) {
	if t.of[run] == nil {
		return 0, 0
	}
	for i := range t.of[run].reading.Metrics {
		m := &t.of[run].reading.Metrics[i]
		if m.Detail || attrsText(sortedAttrs(m)) != attrsText(t.attrs) {
			continue
		}
		switch {
		case strings.HasSuffix(m.Name, "rate.offered"):
			offered = m.Value
		case strings.HasSuffix(m.Name, "rate.achieved"):
			achieved = m.Value
		}
	}
	return offered, achieved
}

// saturation says that less was done than was asked for in one of the runs, so
// that its latencies are those of a queue.
func (t *track) saturation() string {
	least := math.Inf(1)
	for run := range t.of {
		if offered, achieved := t.rates(run); offered > 0 {
			least = min(least, achieved/offered)
		}
	}
	if least >= 0.98 {
		return ""
	}
	return "saturated: " + formatValue(least, "1", "%") + " of the offered rate was achieved"
}

// offersDiffer says that the load was not the same, by more than a tenth: then
// latencies say nothing of the service.
func (t *track) offersDiffer() string {
	low, high := math.Inf(1), math.Inf(-1)
	for run := range t.of {
		if offered, _ := t.rates(run); offered > 0 {
			low, high = min(low, offered), max(high, offered)
		}
	}
	if high <= 1.1*low || math.IsInf(low, 0) {
		return ""
	}
	return "the offered rate differs: " + formatValue(low, "1/s", "") + " to " + formatValue(high, "1/s", "")
}

// notes are what a reader needs before the numbers.
func (j *judge) notes() []string {
	notes := hostsDiffer(j.before, j.after)
	if j.apart && min(len(j.before), len(j.after)) > 1 {
		notes = append(notes, "The runs were not interleaved (A B B A): CPU time and latencies of runs made one variant after the other are not judged.")
	}
	if _, near := j.conditionsDiffer(); len(near) > 0 {
		notes = append(notes, "Conditions that differ a little: "+strings.Join(near, ", ")+".")
	}
	if j.tested > 0 {
		notes = append(notes, fmt.Sprintf("%d numbers were judged by the rank test (p < %g): had nothing changed, about %.1f of them would be called worse by chance.",
			j.tested, j.opts.Alpha, float64(j.tested)*j.opts.Alpha/2))
	}
	return notes
}

// hostsDiffer warns where the machine was not the same for both sides.
func hostsDiffer(before, after []*Report) []string {
	var notes []string
	for _, n := range []struct {
		name  string
		least float64
		of    func(*Host) *float64
	}{
		{"others used %s of the CPUs before and %s after", 0.10, func(h *Host) *float64 { return h.OthersCPU }},
		{"tasks waited for a CPU %s of the time before and %s after", 0.20, func(h *Host) *float64 { return h.Pressure }},
	} {
		b, a := meanHost(before, n.of), meanHost(after, n.of)
		if math.Abs(b-a) > n.least {
			notes = append(notes, "The hosts differ: "+fmt.Sprintf(n.name, formatValue(b, "1", "%"), formatValue(a, "1", "%"))+".")
		}
	}
	for i, side := range [][]*Report{before, after} {
		for _, r := range side {
			if t := r.Host.Throttled; t != nil && t.Periods > 0 {
				notes = append(notes, "The CPU quota held up a run of "+[]string{"before", "after"}[i]+".")
				break
			}
		}
	}
	return notes
}

// meanHost is the mean of a share over the runs that know it, NaN if none does.
func meanHost(runs []*Report, of func(*Host) *float64) float64 {
	sum, n := 0.0, 0
	for _, r := range runs {
		if v := of(&r.Host); v != nil {
			sum += *v
			n++
		}
	}
	return sum / float64(n)
}
