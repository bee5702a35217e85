package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/tidestaff/tidestaff/cgroup"
	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/probe/report"
)

// The names of metrics that rows are made of. They are what a report on disk
// has, so a table can be made of one that was read back.
const (
	metricLag       = "tidestaff.scheduler.lag.duration"
	metricSQL       = "db.client.operation.duration"
	metricRows      = "db.client.response.returned_rows"
	metricHeld      = "tidestaff.db.cursor.duration"
	metricOperation = "tidestaff.operation.duration"
	metricResponse  = "drive.operation.duration"
	metricDone      = "drive.work.done"
	metricPlanned   = "drive.work.planned"
	metricFailures  = "drive.failures"
	metricFileIO    = "tidestaff.file.io"
	metricCPU       = "tidestaff.process.cpu.time"
	metricPeak      = "tidestaff.process.memory.peak"
	metricRSS       = "tidestaff.process.memory.usage"
	attrOperation   = "tidestaff.operation.name"
	attrComponent   = "tidestaff.lag.component"
	attrDirection   = "disk.io.direction"
)

// inDriver is how the SQL rows are measured: a wait for a connection from the
// pool is not in them, one for SQLite's write lock is.
const inDriver = "in the driver"

func onRequest(m *probe.Metric) bool { return m.Attr(probe.AttrRole) == "request" }
func inBackground(m *probe.Metric) bool {
	return strings.HasPrefix(m.Attr(probe.AttrRole), "background:")
}

// printTables prints the comparison, then for each variant what became of the
// requests and the store methods with the most SQL time.
func printTables(w io.Writer, columns []*report.Report, opt options) error {
	t, pivots := comparison(columns, opt), []func(column string) *report.Pivot{requests, methods}
	if opt.profile.soaks() {
		t, pivots = soakTable(columns, opt), append(pivots, holders, waiters)
	}
	write := func(t interface {
		WriteTerminal(io.Writer) error
		WriteMarkdown(io.Writer) error
	}) error {
		if opt.markdown {
			return t.WriteMarkdown(w)
		}
		return t.WriteTerminal(w)
	}
	if err := write(t); err != nil {
		return err
	}
	for i, c := range columns {
		title := t.Columns[i].Title
		for _, pivot := range pivots {
			p := pivot(title)
			fmt.Fprintln(w)
			writeTo := p.WriteTerminal
			if opt.markdown {
				writeTo = p.WriteMarkdown
			}
			if err := writeTo(w, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// comparison has the rows of the page. A column for a busy host goes beside
// the two when there is one.
func comparison(columns []*report.Report, opt options) *report.Table {
	p := opt.profile
	t := &report.Table{Ratio: true, Title: fmt.Sprintf(
		"Team: %d engineers × %d sessions, profile %s; before parses all sandbox records where after asks an index",
		userCount, p.sessions, p.name)}
	for _, c := range columns {
		t.Columns = append(t.Columns, report.Column{Title: columnTitle(c), Report: c})
	}
	t.Rows = []report.Row{
		rowLag,
		waited("get_session (MCP)", opGetSession, "p50/p95", "ms"),
		waited("list_sandboxes (MCP)", opListBoxes, "p50/p95", "ms"),
		waited("exec by name (MCP)", opExec, "p50/p95", "ms"),
		waited("GET /api/sandboxes", opRESTBoxes, "p50/p95", "ms"),
		waited("Create a sandbox (REST)", opCreate, "p50/max", "ms"),
		turnRow(p),
		took(fmt.Sprintf("Job queue wait (%d slots)", jobSlots), opQueueWait, "p50/max", "ms"),
		{Label: "SQL time on request goroutines", Part: partServer, Metric: metricSQL, Stat: "sum", Unit: "s", Match: onRequest, How: inDriver},
		{Label: "SQL time on background goroutines", Part: partServer, Metric: metricSQL, Stat: "sum", Unit: "s", Match: inBackground, How: inDriver},
		{Label: "Event logs written", Part: partServer, Metric: metricFileIO, Unit: "KiB",
			Attrs: []probe.Attr{{Key: attrDirection, Value: "write"}}},
		rowCPU,
		rowCPUPer,
		rowPeak,
		{Label: "Server RSS at rest, history loaded", Part: partIdle, Metric: metricRSS, Unit: "MiB"},
		rowAnswered,
		rowFailed,
		rowWall,
	}
	return t
}

// The rows that the tables of all profiles have.
var (
	rowLag = report.Row{Label: "Scheduler lag", Part: partServer, Metric: metricLag, Stat: "p50/p95/max", Unit: "ms",
		Attrs: []probe.Attr{{Key: attrComponent, Value: "total"}}}
	rowCPU      = report.Row{Label: "Server CPU", Part: partServer, Metric: metricCPU, Unit: "s"}
	rowCPUPer   = report.Row{Label: "Server CPU per request answered", Unit: "ms", Value: cpuPerRequest, How: "background work shared out"}
	rowPeak     = report.Row{Label: "Server peak RSS", Part: partServer, Metric: metricPeak, Unit: "MiB"}
	rowAnswered = report.Row{Label: "Requests answered", Part: partLoad, Value: func(r *report.Report) (float64, string, bool) {
		return answered(r), "{request}", true
	}}
	rowFailed = report.Row{Label: "Requests failed or cut off", Part: partLoad, Value: func(r *report.Report) (float64, string, bool) {
		return sum(r, metricFailures, nil), "{request}", true
	}}
	rowWall = report.Row{Label: "Wall time", Part: partLoad, Unit: "s", Value: func(r *report.Report) (float64, string, bool) {
		return r.Duration.Seconds(), "s", true
	}}
)

// waited is how long the engineers waited for an operation.
func waited(label, op, stat, unit string) report.Row {
	return report.Row{Label: label, Part: partLoad, Metric: metricResponse, Stat: stat, Unit: unit,
		Attrs: []probe.Attr{{Key: attrOperation, Value: op}}}
}

// took is how long an operation took in the server.
func took(label, op, stat, unit string) report.Row {
	return report.Row{Label: label, Part: partServer, Metric: metricOperation, Stat: stat, Unit: unit,
		Attrs: []probe.Attr{{Key: attrOperation, Value: op}}}
}

func turnRow(p profile) report.Row {
	return took(fmt.Sprintf("Agent turn of %v s, send to done", p.scaled(p.turn).Seconds()), opTurn, "p50/p95", "s")
}

// columnTitle is the variant's name, and how much was done of a run that did
// not get to its end.
func columnTitle(c *report.Report) string {
	load := c.Part(partLoad)
	done, planned := sum(load, metricDone, nil), sum(load, metricPlanned, nil)
	if done >= planned {
		return c.Name
	}
	how := "capped"
	for _, e := range load.Reading().Events {
		if e.Cause == "canceled" {
			how = "interrupted"
		}
	}
	return fmt.Sprintf("%s (%s, %.0f %% done)", c.Name, how, 100*done/planned)
}

// answered counts the requests that came back with what was asked for.
func answered(load *report.Report) float64 {
	n := -sum(load, metricFailures, nil)
	for m := range load.Reading().Find(metricResponse) {
		n += float64(m.Dist.Count())
	}
	return n
}

// cpuPerRequest is the server's CPU time by the process's clock for each
// request that was answered.
func cpuPerRequest(column *report.Report) (float64, string, bool) {
	server, load := column.Part(partServer), column.Part(partLoad)
	if server == nil || load == nil {
		return 0, "", false
	}
	served := answered(load)
	cost, ok := cgroup.PerOp(server.Reading(), uint64(served+sum(load, metricFailures, nil)), uint64(served))
	return cost.CPU.PerServed.V, "s", ok && cost.CPU.PerServed.OK
}

// sum adds up the series of a metric that are wanted; nil wants all.
func sum(r *report.Report, metric string, want func(*probe.Metric) bool) (total float64) {
	for m := range r.Reading().Find(metric) {
		if want == nil || want(m) {
			total += m.Value
		}
	}
	return total
}

// requests is the table of what the engineers asked for and what became of it.
func requests(column string) *report.Pivot {
	return &report.Pivot{
		Title: "Requests, " + column, Part: partLoad,
		By: []string{attrOperation},
		Columns: []report.PivotColumn{
			{Title: "n", Metric: metricResponse, Stat: "count"},
			{Title: "failed", Metric: metricFailures},
			{Title: "offered", Metric: "drive.rate.offered"},
			{Title: "achieved", Metric: "drive.rate.achieved"},
			{Title: "p50", Metric: metricResponse, Stat: "p50", Unit: "ms"},
			{Title: "p95", Metric: metricResponse, Stat: "p95", Unit: "ms"},
			{Title: "late", Metric: "drive.lateness", Stat: "p50", Unit: "ms"},
		},
		Top: -1,
	}
}

// methods is the table of the store methods with the most SQL time, by role.
// Held is the time for which the application had the cursor open: what it has
// over the SQL time went into decoding the rows. What others waited is for the
// write lock or the connection that the method had: Go's form of time on the
// loop.
func methods(column string) *report.Pivot {
	return &report.Pivot{
		Title: "Store methods, " + column, Part: partServer,
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

// deviations are where the run departs from the page.
func deviations(p profile) []string {
	d := []string{
		"a reduced control plane: agents are clocks, there is no provider, a tool call is all of MCP",
		"the load generator shares the machine's cores",
	}
	if p.speed > 1 {
		d = append(d, fmt.Sprintf("%d× the page's rates: every period and turn is divided by it", p.speed))
	}
	if p.soaks() {
		d = append(d, soakDeviations(p)...)
	}
	return d
}
