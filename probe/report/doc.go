// Package report turns a window into a report that can be kept, read back,
// compared and pasted into a pull request.
//
//	run, err := report.Start(set, report.Options{Name: "after"})
//	...                                     // the load, one phase
//	rep := run.Close()
//	rep.Conditions.Flags(flag.CommandLine)  // and File, Tree, FileSystem, Add, Set
//	err = rep.WriteFile("after.json")
//
//	table := report.Table{
//		Columns: []report.Column{{Report: before}, {Report: after}},
//		Rows: []report.Row{
//			{Label: "lag", Metric: "tidestaff.scheduler.lag.duration",
//				Attrs: []probe.Attr{{Key: "tidestaff.lag.component", Value: "total"}}, Stat: "p50/p95/max"},
//			{Label: "get_session", Part: "load", Metric: "tidestaff.operation.duration",
//				Attrs: []probe.Attr{{Key: "tidestaff.operation.name", Value: "get_session"}}, Stat: "p50/p95"},
//		},
//		Ratio: true,
//	}
//	err = table.WriteTerminal(os.Stdout)    // or WriteMarkdown
//	err = rep.WriteHTML(page)               // one page with charts, no scripts
//
// The reports of several processes or variants become one file with [Join], and
// those of several runs of one variant with [Repeat]. A report may have targets
// ([Report.AtMost]), and two are compared by [Compare], which says of each number
// whether it is worse, or why it cannot be said. The command tidestaff does both
// with files.
//
// # What is measured
//
// [Start] watches the given probes and, with a private probe, the machine. A
// report holds what the window held (metrics, events and what was absent)
// and what a reader needs to judge it: the program and the machine
// ([Provenance]), who else used the machine ([Host]), the data and the flags
// ([Conditions]), the user's own reservations, and a [Curve] over time. [Of]
// reports a bare reading.
//
// Tables are made from the metrics whenever they are written: a [Table] has a
// column for each report, a [Pivot] a row for each value of some attributes.
//
// # Accuracy and limits
//
// Counts, sums and maxima in a file are exact integers, in nanoseconds where
// the metric is a time. Distributions keep all their buckets (HDR, V2
// encoding), so a report read back gives the same percentiles as the window
// did, and reports can be merged. What was not measured is absent or null,
// never zero; there is no NaN in a file. Percentiles of too few values are not
// printed (p95 from 20 on, p99 from 100), but the maximum and the count are.
//
// The load average has a memory of a minute. The share of CPU time that others
// used comes from counters in steps of 10 ms and is left out where the machine
// had less than half a second of CPU time in the window; a load generator on
// the same machine is one of the others.
//
// What one look at the host does not find is absent until a later look finds
// it; the slices of a curve in between have none, and the first one after them
// has what came meanwhile as well.
//
// A verdict of the rank test (p < 0.02) calls a number worse that is not in at
// most 1 % of the cases, however the numbers are distributed; a comparison of
// hundreds of numbers has some of those, and says how many to expect. 5 runs a
// side are the fewest that can tell. Runs made one variant after the other say
// nothing of CPU time and latencies, and nor does one pair of runs, unless the
// machine was quiet. Counts that are described as exact need neither.
//
// A file may hold paths and statement texts (the metrics marked detail). It
// goes where the user puts it; nothing is sent anywhere.
//
// # Concurrency
//
// A [Run] may be closed from any goroutine, more than once. Reports, tables
// and pivots are plain values for one goroutine at a time.
//
// # Cost
//
// While it runs: one goroutine that wakes once a second, reads the window and
// four small files of the kernel. Writing costs about a millisecond for each
// distribution, most of it compression. A curve of a series is 8 bytes a slice.
// A CPU profile, on request, is a hundred signals for each second of CPU time,
// and up to 200 ms in Close.
//
// # Platforms
//
// All. The host's noise, the CPU's model, the kernel and the cgroup's limits
// are read on Linux only; elsewhere they are absent.
package report
