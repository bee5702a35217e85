package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/tidestaff/tidestaff/examples/internal/page"
	"github.com/tidestaff/tidestaff/fsstat"
	"github.com/tidestaff/tidestaff/lag"
	"github.com/tidestaff/tidestaff/probe/report"
)

// The names of metrics that rows are made of. They are what a report on disk
// has, so a table can be made of one that was read back.
const (
	metricOpReads = "tidestaff.operation.file.reads"
	metricFiles   = "tidestaff.file.operations"
	metricFileIO  = "tidestaff.file.io"
)

// printTables prints the comparison, then for each variant what became of the
// requests, what each operation read, and which files needlessly.
func printTables(w io.Writer, o page.Options, columns []*report.Report) error {
	return page.Write(w, o, comparison(o, columns), page.Requests, dispatched, readAgain)
}

// twice is why a file that is read whole counts as two reads.
const twice = "two a file: the second finds its end"

// comparison has the rows of the page that are about files.
func comparison(o page.Options, columns []*report.Report) *report.Table {
	t := &report.Table{Ratio: true, Columns: page.Columns(columns), Title: fmt.Sprintf(
		"Broker: %d runners, %d sessions, %d managers, profile %s; before reads every file where after asks whether it has changed",
		runnerCount, sessionCount, managerCount, o.Profile)}
	five := page.Served("File reads for these five", metricFiles, "", "", twice, fsstat.AttrOperation, "read")
	five.Part = partReads
	t.Rows = slices.Concat([]report.Row{
		page.Served("Loop lag", "tidestaff.loop.lag.duration", "p50/p95/max", "ms", "through the dispatcher", lag.AttrComponent, "total"),
		page.Lag(),
		page.Waited("Send", opSend, "p50/p95"),
		page.Waited("Peers", opPeers, "p50/p95"),
		page.Waited("Dashboard", opDashboard, "p50/max"),
		page.Waited("Progress saved", opProgress, "p50/p95"),
		{Label: fmt.Sprintf("Run summaries, %d cold, %d warm", coldReads, warmReads), Part: partReaders,
			Metric: page.MetricResponse, Stat: "mean/max", Unit: "ms"},
		five,
		page.Served("File reads per send", metricOpReads, "p50/max", "", twice, page.AttrOperation, opSend),
		page.Served("File reads per dashboard", metricOpReads, "p50/max", "", twice, page.AttrOperation, opDashboard),
		page.Served("Files and folders opened", metricFiles, "", "", "", fsstat.AttrOperation, "open"),
		page.Served("File reads", metricFiles, "", "", twice, fsstat.AttrOperation, "read"),
		page.Served("Bytes read", metricFileIO, "", "MiB", "", fsstat.AttrDirection, "read"),
		page.Served("Files read again unchanged", "tidestaff.file.passes", "", "", "", fsstat.AttrPass, "unchanged"),
		{Label: "Bytes that had been read before", Part: page.PartServer, Metric: "tidestaff.file.avoidable_io", Unit: "MiB"},
		{Label: "Coverage of the bytes that the process read", Unit: "%", Value: coverage, How: "at least: it reads sockets too"},
		page.Served("Stats", metricFiles, "", "", "", fsstat.AttrOperation, "stat"),
		page.Served("File writes", metricFiles, "", "", "", fsstat.AttrOperation, "write"),
		page.Served("Bytes written", metricFileIO, "", "MiB", "", fsstat.AttrDirection, "write"),
	}, page.Cost(), page.Outcome())
	return t
}

// coverage is the share of the process's reads that the probe has seen.
func coverage(column *report.Report) (float64, string, bool) {
	files, ok := fsstat.StatsOf(column.Part(page.PartServer).Reading())
	return files.Coverage.Share(), "1", ok && files.Coverage.Reason == ""
}

// dispatched is the table of what each operation read, and how long it kept the
// dispatcher busy: nothing else was served meanwhile.
func dispatched(column string) *report.Pivot {
	return &report.Pivot{
		Title: "On the dispatcher, " + column, Part: page.PartServer,
		By: []string{page.AttrOperation},
		Columns: []report.PivotColumn{
			{Title: "n", Metric: page.MetricOperation, Stat: "count"},
			{Title: "busy", Metric: page.MetricOperation, Stat: "sum"},
			{Title: "p50", Metric: page.MetricOperation, Stat: "p50"},
			{Title: "max", Metric: page.MetricOperation, Stat: "max"},
			{Title: "file reads", Metric: metricOpReads, Stat: "sum"},
			{Title: "most", Metric: metricOpReads, Stat: "max"},
			{Title: "bytes", Metric: "tidestaff.operation.file.io", Stat: "sum"},
		},
		Sort: 1, Top: -1,
	}
}

// readAgain is the table of the files whose reading brought least that was new.
func readAgain(column string) *report.Pivot {
	return &report.Pivot{
		Title: "Files to cache first, " + column, Part: page.PartServer,
		By: []string{fsstat.AttrPath},
		Columns: []report.PivotColumn{
			{Title: "times", Metric: "tidestaff.file.path.unchanged_passes"},
			{Title: "bytes read before", Metric: "tidestaff.file.path.avoidable_io"},
		},
		Sort: 1, Top: 4,
	}
}
