package probetest

import (
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	"github.com/tidestaff/tidestaff/probe"
)

// A Bench says what a benchmark measures beside its time. The zero value measures
// the CPU time per operation, as [Loop], [Parallel] and [Start] do without
// probes.
type Bench struct {
	// Probes are what measures. Their descriptions say what is reported. A probe
	// serves any number of benchmarks.
	Probes []probe.Probe

	// Units are what is reported, such as "queries/op". If empty, everything
	// that the probes describe but for maxima, which repeat badly.
	Units []string

	// Latency has each operation timed: p50-, p95- and p99-latency-ns. It costs a
	// reading of the clock and a record per operation. Only Loop and Parallel
	// know where an operation ends.
	Latency bool
}

// Loop runs op as the body of a benchmark, in a window over the probes that holds
// exactly the iterations, and reports what they measured.
//
//	func BenchmarkList(b *testing.B) {
//		store := open(b)
//		probetest.Loop(b, func() { store.List(ctx) }, sqlp, lagp)
//	}
//
// It is a [testing.B.Loop] with op in it. What op returns must not be optimised
// away by the caller's own means, such as assigning it to a variable outside.
func Loop(b *testing.B, op func(), probes ...probe.Probe) {
	b.Helper()
	Bench{Probes: probes}.Loop(b, op)
}

// Parallel is Loop with op in GOMAXPROCS goroutines at once, by
// [testing.B.RunParallel].
func Parallel(b *testing.B, op func(), probes ...probe.Probe) {
	b.Helper()
	Bench{Probes: probes}.Parallel(b, op)
}

// Start opens a window over the probes, for a benchmark whose loop must stay
// visible: it is the last statement before the loop, and Stop the first one after
// it.
//
//	r := probetest.Start(b, sqlp)
//	for b.Loop() {
//		store.List(ctx)
//	}
//	r.Stop()
//
// Without a Stop the window is closed after the benchmark's own deferred calls,
// whose work it then holds; the benchmark's log says so.
func Start(b *testing.B, probes ...probe.Probe) *Run {
	b.Helper()
	return Bench{Probes: probes}.Start(b)
}

// Loop is the function [Loop] with these settings.
func (o Bench) Loop(b *testing.B, op func()) {
	b.Helper()
	r := o.open(b, o.Latency)
	defer r.Stop()
	if rec := r.meter.latency; rec != nil {
		last := probe.Now()
		for b.Loop() {
			op()
			now := probe.Now()
			rec.Record(now - last)
			last = now
		}
		return
	}
	for b.Loop() {
		op()
	}
}

// Parallel is the function [Parallel] with these settings.
func (o Bench) Parallel(b *testing.B, op func()) {
	b.Helper()
	r := o.open(b, o.Latency)
	defer r.Stop()
	rec := r.meter.latency
	b.RunParallel(func(pb *testing.PB) {
		if rec == nil {
			for pb.Next() {
				op()
			}
			return
		}
		last := probe.Now()
		for pb.Next() {
			op()
			now := probe.Now()
			rec.Record(now - last)
			last = now
		}
	})
}

// Start is the function [Start] with these settings.
func (o Bench) Start(b *testing.B) *Run {
	b.Helper()
	return o.open(b, false)
}

// A Run is a benchmark's window while its loop runs; it is made by [Start].
type Run struct {
	b      *testing.B
	units  []unit
	picked bool // units were asked for by name
	meter  *meter
	window *probe.Window
	once   sync.Once
}

// open opens the window, with the timer set back last, so that the two begin
// together.
func (o Bench) open(b *testing.B, latency bool) *Run {
	b.Helper()
	all := unitsOf(describe(o.Probes))
	r := &Run{b: b, picked: len(o.Units) > 0}
	for _, name := range o.Units {
		u, err := find(all, name)
		if err != nil {
			b.Fatalf("probetest: %v", err)
		}
		r.units = append(r.units, *u)
	}
	if !r.picked {
		r.units = usual(all)
	}
	r.meter = newMeter(latency, len(listedProcs()) > 1)
	if watchesMemory(o.Probes) {
		// Freed memory of earlier benchmarks stays in the resident set until the
		// runtime returns it: this one's peak would be theirs.
		debug.FreeOSMemory()
	}
	w, err := probe.NewSet(append(o.Probes[:len(o.Probes):len(o.Probes)], r.meter)...).Watch()
	if err != nil {
		b.Fatalf("probetest: %v", err)
	}
	r.window = w
	b.Cleanup(r.Stop)
	b.ResetTimer()
	return r
}

// usual are the units that are reported unless others are asked for.
func usual(all []unit) []unit {
	var units []unit
	for _, u := range all {
		if !strings.HasPrefix(u.name, "max-") && !strings.HasSuffix(u.name, "/item") {
			units = append(units, u)
		}
	}
	return units
}

// watchesMemory reports whether any of the probes tells of the resident set.
func watchesMemory(probes []probe.Probe) bool {
	for _, d := range probe.NewSet(probes...).Describe() {
		for _, b := range d.Bench {
			if strings.Contains(b.Unit, "RSS") {
				return true
			}
		}
	}
	return false
}

// Reset begins the window and the benchmark's timer anew, after late set-up. It
// takes the place of [testing.B.ResetTimer].
func (r *Run) Reset() {
	r.window.Next(new(probe.Reading))
	r.b.ResetTimer()
}

// Stop closes the window and reports what it holds, divided by the iterations
// where a unit is per operation. It stops the benchmark's timer first. A second
// Stop does nothing.
//
// Nothing is reported of a benchmark that failed, was skipped or completed no
// iteration.
func (r *Run) Stop() {
	r.b.Helper()
	r.once.Do(func() {
		r.b.StopTimer()
		reading := r.window.Close()
		if r.b.Failed() || r.b.Skipped() || r.b.N <= 0 {
			return
		}
		missing := r.report(reading)
		if !lastRun(r.b) {
			return // a trial, to find out how many iterations to do
		}
		for _, note := range r.notes(reading.Duration(), missing) {
			r.b.Log("probetest: " + note)
		}
	})
}

// report hands the numbers to the benchmark, and says why others are not there.
func (r *Run) report(reading *probe.Reading) (missing []string) {
	for i := range r.units {
		u := &r.units[i]
		f, err := u.of(reading, r.b.N)
		if err != nil {
			if r.picked || strings.HasPrefix(u.name, "p") && u.sources[0].wasFed(reading) {
				missing = append(missing, u.name+" is not reported: "+err.Error())
			}
			continue
		}
		r.b.ReportMetric(f.value, u.name)
		if f.how != probe.Exact && strings.HasPrefix(u.name, "peak-") {
			missing = append(missing, u.name+" is "+f.how.String()+", not exact")
		}
	}
	return missing
}

// wasFed reports whether the metric has any value: then it is worth a word why
// there is no number.
func (s *source) wasFed(r *probe.Reading) bool {
	all, err := s.gather(r)
	return err == nil && all.dist != nil && all.dist.Count() > 0
}

// gomaxprocs is the gauge of descProcs.
func gomaxprocs() float64 { return float64(runtime.GOMAXPROCS(0)) }
