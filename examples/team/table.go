package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tidestaff/tidestaff/examples/internal/page"
	"github.com/tidestaff/tidestaff/fsstat"
	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/probe/report"
)

// The names of metrics that rows are made of. They are what a report on disk
// has, so a table can be made of one that was read back.
const (
	metricSQL  = "db.client.operation.duration"
	metricRows = "db.client.response.returned_rows"
	metricHeld = "tidestaff.db.cursor.duration"
	metricRSS  = "tidestaff.process.memory.usage"
)

// inDriver is how the SQL rows are measured: a wait for a connection from the
// pool is not in them, one for SQLite's write lock is.
const inDriver = "in the driver"

var onRequest = []probe.Attr{{Key: probe.AttrRole, Value: "request"}}

// printTables prints the comparison, then for each variant what became of the
// requests and the store methods with the most SQL time.
func printTables(w io.Writer, o page.Options, columns []*report.Report) error {
	if p := profileOf(o); p.soaks() {
		return page.Write(w, o, soakTable(p, columns), page.Requests, methods, holders, waiters)
	}
	return page.Write(w, o, comparison(o, columns), page.Requests, methods)
}

// comparison has the rows of the page. A column for a busy host goes beside
// the two when there is one.
func comparison(o page.Options, columns []*report.Report) *report.Table {
	p := profileOf(o)
	t := &report.Table{Ratio: true, Columns: page.Columns(columns), Title: fmt.Sprintf(
		"Team: %d engineers × %d sessions, profile %s; before parses all sandbox records where after asks an index",
		userCount, p.sessions, p.name)}
	t.Rows = slices.Concat([]report.Row{
		page.Lag(),
		page.Waited("get_session (MCP)", opGetSession, "p50/p95"),
		page.Waited("list_sandboxes (MCP)", opListBoxes, "p50/p95"),
		page.Waited("exec by name (MCP)", opExec, "p50/p95"),
		page.Waited("GET /api/sandboxes", opRESTBoxes, "p50/p95"),
		page.Waited("Create a sandbox (REST)", opCreate, "p50/max"),
		turnRow(p),
		took(fmt.Sprintf("Job queue wait (%d slots)", jobSlots), opQueueWait, "p50/max", "ms"),
		{Label: "SQL time on request goroutines", Part: page.PartServer, Metric: metricSQL, Stat: "sum", Unit: "s", How: inDriver,
			Attrs: onRequest},
		{Label: "SQL time on background goroutines", Part: page.PartServer, Metric: metricSQL, Stat: "sum", Unit: "s", How: inDriver,
			Match: func(m *probe.Metric) bool { return strings.HasPrefix(m.Attr(probe.AttrRole), "background:") }},
		page.Served("Event logs written", "tidestaff.file.io", "", "KiB", "", fsstat.AttrDirection, "write"),
	}, page.Cost(), []report.Row{
		{Label: "Server RSS at rest, history loaded", Part: partIdle, Metric: metricRSS, Unit: "MiB"},
	}, page.Outcome())
	return t
}

// took is how long an operation took in the server.
func took(label, op, stat, unit string) report.Row {
	return page.Served(label, page.MetricOperation, stat, unit, "", page.AttrOperation, op)
}

func turnRow(p profile) report.Row {
	return took(fmt.Sprintf("Agent turn of %v s, send to done", p.scaled(p.turn).Seconds()), opTurn, "p50/p95", "s")
}

// methods is the table of the store methods with the most SQL time, by role.
// Held is the time for which the application had the cursor open: what it has
// over the SQL time went into decoding the rows. What others waited is for the
// write lock or the connection that the method had: Go's form of time on the
// loop.
func methods(column string) *report.Pivot {
	return &report.Pivot{
		Title: "Store methods, " + column, Part: page.PartServer,
		By: []string{probe.AttrMethod, probe.AttrRole},
		Columns: []report.PivotColumn{
			{Title: "count", Metric: metricSQL, Stat: "count"},
			{Title: "rows", Metric: metricRows, Stat: "sum"},
			{Title: "p50", Metric: metricSQL, Stat: "p50"},
			{Title: "p95", Metric: metricSQL, Stat: "p95"},
			{Title: "SQL busy", Metric: metricSQL, Stat: "sum"},
			{Title: "cursor held", Metric: metricHeld, Stat: "sum"},
			{Title: "others waited", Metric: metricOthersWaited},
		},
		Sort: 4,
	}
}
