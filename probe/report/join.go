package report

import (
	"slices"
	"time"
)

// Join makes one report of several, such as the server's and the load
// generator's, or before and after. It starts with the first part to start,
// ends with the last to end, and has the provenance and the host noise of the
// first part; it has no metrics of its own.
//
// CPU time of the other parts is taken out of the share that others used, as
// far as their windows overlap the first part's: a load generator on the same
// machine is not noise. Parts from several machines belong into one report
// only under parts of their own.
func Join(name string, parts ...*Report) *Report {
	r := &Report{Name: name, Parts: parts}
	for i, p := range parts {
		if i == 0 {
			r.Provenance, r.Host = p.Provenance, p.Host
		}
		r.cover(p, i == 0)
	}
	r.reading.Start, r.reading.End = r.Started, r.Started.Add(r.Duration)
	r.Host.OthersCPU = othersThan(parts)
	return r
}

// othersThan is the share of the machine's CPU time, during the first part's
// window, that went to processes which are not parts. It is nil if the first
// part does not know its own.
func othersThan(parts []*Report) *float64 {
	if len(parts) == 0 || parts[0].Host.OthersCPU == nil {
		return nil
	}
	first, others := parts[0], *parts[0].Host.OthersCPU
	capacity, ok := total(&first.reading, descCapacity)
	if !ok || capacity <= 0 {
		return &others
	}
	for _, p := range parts[1:] {
		if self, ok := total(&p.reading, descSelf); ok && p.Duration > 0 {
			others -= self * overlap(first, p).Seconds() / p.Duration.Seconds() / capacity
		}
	}
	others = max(0, others)
	return &others
}

// overlap is how long both windows were open.
func overlap(a, b *Report) time.Duration {
	start, end := a.Started, a.Started.Add(a.Duration)
	if b.Started.After(start) {
		start = b.Started
	}
	if e := b.Started.Add(b.Duration); e.Before(end) {
		end = e
	}
	return max(0, end.Sub(start))
}

// allConditions are the report's own and its parts', each once: a server knows
// the rows of its tables, a load generator its flags.
func (r *Report) allConditions() Conditions {
	all := slices.Clone(r.Conditions)
	for _, p := range slices.Concat(r.Parts, r.Runs) {
		for _, c := range p.allConditions() {
			if !slices.Contains(all, c) {
				all = append(all, c)
			}
		}
	}
	return all
}

// allDeviations are the report's own and its parts', each once.
func (r *Report) allDeviations() []string {
	all := slices.Clone(r.Deviations)
	for _, p := range slices.Concat(r.Parts, r.Runs) {
		for _, d := range p.allDeviations() {
			all = appendNew(all, d)
		}
	}
	return all
}
