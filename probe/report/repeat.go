package report

import (
	"fmt"
	"slices"
	"strings"
)

// Repeat makes one report of several runs of one variant. Runs that are repeats
// themselves are taken apart. A run whose Excluded says why is kept and shown,
// and counts nowhere.
//
// Tables show up to three runs one by one ("69 / 881, 67 / 859 ms") and more of
// them by their least, median and largest; [Compare] needs five a side before it
// says of a noisy number that it is worse. The provenance is the first run's.
// The host's noise belongs to each run and is not averaged.
func Repeat(name string, runs ...*Report) *Report {
	r := &Report{Name: name}
	for _, run := range runs {
		r.Runs = append(r.Runs, run.leaves()...)
	}
	for i, run := range r.Runs {
		if i == 0 {
			r.Provenance = run.Provenance
		}
		r.cover(run, i == 0)
	}
	r.reading.Start, r.reading.End = r.Started, r.Started.Add(r.Duration)
	return r
}

// cover extends r's window so that it has p's in it.
func (r *Report) cover(p *Report, first bool) {
	if first {
		r.Started, r.Duration = p.Started, p.Duration
		return
	}
	end := r.Started.Add(r.Duration)
	if e := p.Started.Add(p.Duration); e.After(end) {
		end = e
	}
	if p.Started.Before(r.Started) {
		r.Started = p.Started
	}
	r.Duration = end.Sub(r.Started)
}

// leaves are all runs of a report, which is its own only one without repeats.
func (r *Report) leaves() []*Report {
	if len(r.Runs) == 0 {
		return []*Report{r}
	}
	var all []*Report
	for _, run := range r.Runs {
		all = append(all, run.leaves()...)
	}
	return all
}

// counted are the runs that are not excluded. Of a report that is no repeat it
// is the report, whatever that says of itself.
func (r *Report) counted() []*Report {
	if len(r.Runs) == 0 {
		return []*Report{r}
	}
	return slices.DeleteFunc(r.leaves(), func(run *Report) bool { return run.Excluded != "" })
}

// partOfRuns is the repeats of a part; nil if no run has it.
func (r *Report) partOfRuns(name string) *Report {
	var parts []*Report
	for _, run := range r.leaves() {
		p := run.Part(name)
		if p == nil {
			continue
		}
		if run.Excluded != "" {
			out := *p
			out.Excluded = run.Excluded
			p = &out
		}
		parts = append(parts, p)
	}
	if parts == nil {
		return nil
	}
	return Repeat(name, parts...)
}

// loadText is the load average of each run that counts.
func (r *Report) loadText() string {
	if len(r.Runs) == 0 {
		return r.Host.loadText()
	}
	var loads []string
	for _, run := range r.counted() {
		loads = append(loads, strings.TrimPrefix(run.Host.loadText(), "load "))
	}
	if len(loads) == 0 {
		return "load " + dash
	}
	return "load " + strings.Join(loads, ", ")
}

// hostText is the noise during each run that counts, "" if it was not measured.
func (r *Report) hostText() string {
	if len(r.Runs) == 0 {
		return r.Host.text()
	}
	var texts []string
	for i, run := range r.leaves() {
		if t := run.Host.text(); t != "" && run.Excluded == "" {
			texts = append(texts, fmt.Sprintf("run %d: %s", i+1, t))
		}
	}
	return strings.Join(texts, "; ")
}

// excludedText names the runs that do not count, with the reasons, "" if all do.
func (r *Report) excludedText() string {
	var texts []string
	if len(r.Runs) == 0 {
		return ""
	}
	for i, run := range r.leaves() {
		if run.Excluded != "" {
			texts = append(texts, fmt.Sprintf("run %d (%s): %s", i+1, run.Host.loadText(), run.Excluded))
		}
	}
	return strings.Join(texts, "; ")
}
