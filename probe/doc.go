// Package probe is the contract that all of tidestaff's probes and readers
// share: probe, window, metric, event.
//
// # What it is
//
// A [Probe] measures one aspect of the process. It has no start and no stop:
// [Probe.Watch] opens a [Window], the first window starts what the probe needs,
// and closing the last one stops that and waits for it. With no window open a
// probe costs next to nothing, so it can be left in the code for good.
//
// A [Window] is one reader's independent view of everything since it was
// opened. Any number of windows are open at the same time and none can steal
// from, reset or distort another. [Window.Read] gives the reading so far,
// [Window.Next] ends an interval and begins the next one with the same
// snapshot, [Window.Close] returns the last reading.
//
// A [Reading] is made of metrics and events. Every reader (a benchmark, a
// report, an exporter) works from these two alone, so that a new probe needs
// no reader changed and a new reader needs no probe changed.
//
// A [Set] is a probe made of probes, so that a service wires one thing.
//
// # Writing a probe
//
// A [Core] is the author's side: it makes counters, gauges, peaks and
// distributions, hands out windows over them and calls the author's hooks. The
// zero Core is itself a probe, so that a user's own numbers join a Set:
//
//	var app probe.Core
//	hits := app.Counter(&probe.Desc{Name: "app.cache.hits", Unit: "{hit}", Help: "Look-ups that the cache answered."})
//	set := probe.NewSet(sqlp, lagp, &app)
//
// Package probetest has the conformance kit for a probe of your own.
//
// # Accuracy and limits
//
// Counters and distributions only grow; a window subtracts its own base. Every
// count is in exactly one of the intervals that one window tiles by Next. A
// distribution's values are kept in the buckets of an HDR histogram of 2 (or 3)
// significant digits, its maximum is kept exactly. A Record that runs while an
// interval ends may be counted in the interval that ends and show its maximum
// in the one that begins, never in neither.
//
// Absent is never zero: what could not be measured is left out of a reading and
// listed in [Reading.Absent] with a reason. Every value says in its
// [Provenance] how it was obtained.
//
// # Concurrency
//
// Everything exported here may be used from any goroutine, except that one
// [Reading] belongs to one caller at a time. The hot paths (Record, Add, Begin,
// End) take no lock.
//
// # Cost
//
// A Record costs three to four additions to an atomic counter and allocates
// nothing, with any number of windows open, on one core and on all. The ratios
// to other recorders are in bench/, made by the benchmarks of internal/peers.
//
// # Platforms
//
// All; nothing here depends on the operating system.
package probe
