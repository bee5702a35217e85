package report

import (
	"fmt"
	"sync"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// Options say how a run is reported. The zero value works.
type Options struct {
	// Name says what was run, such as "team before". Tables head their column
	// with it, and a [Row] finds a part by it.
	Name string

	// Interval is the length of one slice of the curve over time. Zero means
	// one second; a negative interval makes no curve and leaves the host's
	// load to the two looks at the ends.
	Interval time.Duration

	// CPUProfile asks for the runtime's CPU profile of the window, about 1 % of
	// the CPU time that it measures. The report has the 20 functions with the most
	// CPU time of their own (tidestaff.profile.function.cpu.time), and CPU time by
	// method and role (tidestaff.profile.cpu.time), as shares of the process's CPU
	// time. A process has one profiler: if somebody else profiles already, they
	// are absent, with that reason, and his profile is not disturbed.
	CPUProfile bool

	// Root is the folder below which the host's files (proc, sys) are looked
	// for. Empty means "/"; tests point it at fixtures.
	Root string
}

// A Report is what happened in one process during one window, with what a
// reader needs to judge it: where it ran, who else used the machine, on which
// data, and how it went over time.
//
// The exported fields may be set until the report is written; what was
// measured is reached through [Report.Reading] and is not changed by setting
// them. A Report is not safe for concurrent use.
type Report struct {
	Name     string
	Started  time.Time
	Duration time.Duration

	// Provenance is the program and the machine, as they were at the start.
	Provenance Provenance
	// Host is the noise of the machine during the window. All of it is absent
	// in a report made by [Of], which was not there to look.
	Host Host
	// Conditions are the data at rest, the seed, the flags: what must be equal
	// for two reports to be compared.
	Conditions Conditions
	// Deviations are the user's own words on where the run departs from what
	// it stands for.
	Deviations []string

	// Operations is what the numbers per operation are divided by, such as a
	// benchmark's iterations or the requests that a service answered. Zero if
	// there is no such number; then totals are shown, and not compared.
	Operations int64
	// Targets are the bounds that were to be kept, with what came of them; see
	// [Report.AtMost].
	Targets []Target

	// Curve is the window in slices; nil if there is none.
	Curve *Curve
	// Parts are the reports of other processes or phases that belong to this
	// one. Their names are unique.
	Parts []*Report
	// Runs are the repeats of one variant, in the order in which they were made;
	// see [Repeat]. Such a report has no metrics and no parts of its own.
	Runs []*Report
	// Excluded is why this run does not count among its repeats; empty if it
	// does.
	Excluded string

	reading probe.Reading
}

// Reading returns what the window held: totals, events, what was absent. It
// works the same on a report that was read from a file, so that a typed view
// (a function of a reading) needs no second form. The reading belongs to the
// report.
func (r *Report) Reading() *probe.Reading { return &r.reading }

// Part returns the part of that name, r itself for "", and nil if there is
// none. The part of repeats is the repeats of the part.
func (r *Report) Part(name string) *Report {
	if name == "" {
		return r
	}
	if len(r.Runs) > 0 {
		return r.partOfRuns(name)
	}
	for _, p := range r.Parts {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// Of reports the bare numbers of a reading, which it takes over. Such a report
// has a provenance but neither host noise nor a curve: both are gone once a
// window is closed, which is why [Start] exists.
func Of(reading *probe.Reading) *Report {
	r := &Report{Provenance: readProvenance("")}
	r.take(reading)
	return r
}

// take makes the reading the report's own, and its window the report's.
func (r *Report) take(reading *probe.Reading) {
	r.reading = *reading
	r.Started = reading.Start
	r.Duration = reading.End.Sub(reading.Start)
}

// A Run is a report in the making: windows over the probes and over the host,
// and one goroutine that tiles the curve.
type Run struct {
	name   string
	prov   Provenance
	host   *hostProbe
	total  []*probe.Window // from the start to Close: nothing is lost between slices
	tile   []*probe.Window // the curve's own; none without a curve
	curve  *curveBuilder
	prof   *cpuProfile // nil if nobody asked for one
	stop   chan struct{}
	done   chan struct{}
	once   sync.Once
	report *Report
}

// Start opens a window over set, a [probe.Set] or any other probe, and begins
// the curve. It returns the error of set's Watch. A nil set reports the host
// alone.
//
// The caller closes the run; until then a goroutine wakes once an interval.
//
// Note: the host's probe is not put into a Set with the others, which would
// introduce it to them; they would keep it after the run.
func Start(set probe.Probe, opts Options) (*Run, error) {
	if opts.Interval == 0 {
		opts.Interval = time.Second
	}
	r := &Run{
		name: opts.Name,
		prov: readProvenance(opts.Root),
		host: newHostProbe(opts.Root),
		stop: make(chan struct{}),
		done: make(chan struct{}),
	}
	if err := r.open(set, opts.Interval); err != nil {
		return nil, fmt.Errorf("report: start: %w", err)
	}
	if opts.CPUProfile {
		r.prof = startProfile()
	}
	if r.curve == nil {
		close(r.done)
		return r, nil
	}
	go r.tiles()
	return r, nil
}

// open opens the windows of the totals before those of the curve, so that
// every slice lies within the totals. The set's come first in each: theirs is
// the time that counts.
func (r *Run) open(set probe.Probe, interval time.Duration) (err error) {
	probes := []probe.Probe{&r.host.Core}
	if set != nil {
		probes = []probe.Probe{set, &r.host.Core}
	}
	if r.total, err = watch(probes); err != nil || interval < 0 {
		return err
	}
	if r.tile, err = watch(probes); err != nil {
		closeAll(r.total)
		return err
	}
	r.curve = newCurveBuilder(interval)
	return nil
}

// watch opens a window over each probe, or none.
func watch(probes []probe.Probe) ([]*probe.Window, error) {
	var ws []*probe.Window
	for _, p := range probes {
		w, err := p.Watch()
		if err != nil {
			closeAll(ws)
			return nil, err
		}
		ws = append(ws, w)
	}
	return ws, nil
}

// closeAll closes the windows and puts their readings into one, which starts
// and ends with the first.
func closeAll(ws []*probe.Window) *probe.Reading {
	var all *probe.Reading
	for _, w := range ws {
		r := w.Close()
		if all == nil {
			all = r
			continue
		}
		all.Metrics = append(all.Metrics, r.Metrics...)
		all.Absent = append(all.Absent, r.Absent...)
	}
	return all
}

// tiles ends a slice whenever the curve's interval has passed. The interval
// can grow; see [Curve].
func (r *Run) tiles() {
	defer close(r.done)
	interval := r.curve.interval
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	slices := make([]probe.Reading, len(r.tile))
	for {
		select {
		case <-r.stop:
			return
		case <-ticker.C:
			for i, w := range r.tile {
				w.Next(&slices[i])
			}
			r.curve.slice(&slices[0])
			for i := range slices {
				r.curve.add(&slices[i])
			}
			if r.curve.interval != interval {
				interval = r.curve.interval
				ticker.Reset(interval)
			}
		}
	}
}

// Close ends the window and returns the report. It waits for the curve's
// goroutine and for what the probes still owed (at most a second). Closing
// again returns the same report.
func (r *Run) Close() *Report {
	r.once.Do(r.finish)
	return r.report
}

// finish stops the curve before the totals end: the last slice must not reach
// beyond them.
func (r *Run) finish() {
	r.prof.stop()
	close(r.stop)
	<-r.done
	rep := &Report{Name: r.name, Provenance: r.prov}
	if r.curve != nil {
		last := closeAll(r.tile)
		r.curve.slice(last)
		r.curve.add(last)
		rep.Curve = r.curve.curve()
	}
	rep.take(closeAll(r.total))
	rep.Host = r.host.noise(&rep.reading)
	r.prof.addTo(&rep.reading)
	r.report = rep
}
