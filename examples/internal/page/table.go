package page

import (
	"fmt"
	"io"

	"github.com/tidestaff/tidestaff/cgroup"
	"github.com/tidestaff/tidestaff/lag"
	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/probe/report"
)

// The parts that the report of every variant has.
const (
	PartServer = "server" // what the server measured under load
	PartLoad   = "load"   // what its users waited
)

// The metrics of operations by their names: those of the server, and those of
// the load generator.
const (
	AttrOperation   = "tidestaff.operation.name"
	MetricOperation = "tidestaff.operation.duration"
	MetricResponse  = "drive.operation.duration"

	MetricDone     = "drive.work.done"
	MetricPlanned  = "drive.work.planned"
	MetricFailures = "drive.failures"
)

// Write writes a comparison and, for each column, the tables that pivots make;
// of several runs, those of the first.
func Write(w io.Writer, o Options, t *report.Table, pivots ...func(column string) *report.Pivot) error {
	write := t.WriteTerminal
	if o.Markdown {
		write = t.WriteMarkdown
	}
	if err := write(w); err != nil {
		return err
	}
	if o.CPUProfile {
		pivots = append(pivots, functions, labels)
	}
	for _, c := range t.Columns {
		if c.Report == nil {
			continue // it did not take place
		}
		title, run := First(c.Title, c.Report)
		for _, pivot := range pivots {
			p := pivot(title)
			if run.Part(p.Part) == nil {
				p.Part = "" // the column is that part itself
			}
			write := p.WriteTerminal
			if o.Markdown {
				write = p.WriteMarkdown
			}
			fmt.Fprintln(w)
			if err := write(w, run); err != nil {
				return err
			}
		}
	}
	return nil
}

// First is the run that a table of one run shows, and its title: of several, the
// first.
func First(title string, r *report.Report) (string, *report.Report) {
	if n := len(r.Runs); n > 0 {
		return fmt.Sprintf("%s, the first of %d runs", title, n), r.Runs[0]
	}
	return title, r
}

// functions is the table of the functions that the server computed in.
func functions(column string) *report.Pivot {
	return &report.Pivot{Title: "Functions, " + column, Part: PartServer, By: []string{"code.function.name"},
		Columns: []report.PivotColumn{{Title: "CPU time", Metric: "tidestaff.profile.function.cpu.time"}}, Top: 20}
}

// labels is the table of the methods and roles that it computed for.
func labels(column string) *report.Pivot {
	return &report.Pivot{Title: "CPU time by method and role, " + column, Part: PartServer, By: []string{probe.AttrMethod, probe.AttrRole},
		Columns: []report.PivotColumn{{Title: "CPU time", Metric: "tidestaff.profile.cpu.time"}}}
}

// Columns are the reports of the variants as columns, each of which is headed by
// its name and, if a run of it did not get to its end, how much that one did.
func Columns(reports []*report.Report) (columns []report.Column) {
	for _, r := range reports {
		runs := r.Runs
		if len(runs) == 0 {
			runs = []*report.Report{r}
		}
		c, least := report.Column{Title: r.Name, Report: r}, 1.0
		for _, run := range runs {
			load := run.Part(PartLoad)
			share := Sum(load, MetricDone) / Sum(load, MetricPlanned)
			if !(share < least) { // nothing planned is all done
				continue
			}
			least = share
			how := "capped"
			for _, e := range load.Reading().Events {
				if e.Cause == "canceled" {
					how = "interrupted"
				}
			}
			c.Title = fmt.Sprintf("%s (%s, %.0f %% done)", r.Name, how, 100*share)
		}
		columns = append(columns, c)
	}
	return columns
}

// Waited is a row of how long the users waited for an operation.
func Waited(label, op, stat string) report.Row {
	return report.Row{Label: label, Part: PartLoad, Metric: MetricResponse, Stat: stat, Unit: "ms",
		Attrs: []probe.Attr{{Key: AttrOperation, Value: op}}}
}

// Served is a row of what the server measured under load, of the series that
// have one attribute.
func Served(label, metric, stat, unit, how, key, value string) report.Row {
	return report.Row{Label: label, Part: PartServer, Metric: metric, Stat: stat, Unit: unit, How: how,
		Attrs: []probe.Attr{{Key: key, Value: value}}}
}

// Lag is the row of how late the scheduler was.
func Lag() report.Row {
	return Served("Scheduler lag", "tidestaff.scheduler.lag.duration", "p50/p95/max", "ms", "", lag.AttrComponent, "total")
}

// Cost are the rows of what the server used.
func Cost() []report.Row {
	return []report.Row{
		{Label: "Server CPU", Part: PartServer, Metric: "tidestaff.process.cpu.time", Unit: "s"},
		{Label: "Server CPU per request answered", Unit: "ms", Value: cpuPerRequest, How: "background work shared out"},
		{Label: "Server peak RSS", Part: PartServer, Metric: "tidestaff.process.memory.peak", Unit: "MiB"},
	}
}

// Outcome are the rows that end every comparison: how much was answered, in
// how long.
func Outcome() []report.Row {
	ofLoad := func(label, unit string, value func(*report.Report) float64) report.Row {
		return report.Row{Label: label, Part: PartLoad, Value: func(r *report.Report) (float64, string, bool) {
			return value(r), unit, true
		}}
	}
	wall := ofLoad("Wall time", "s", func(r *report.Report) float64 { return r.Duration.Seconds() })
	wall.Unit = "s"
	return []report.Row{
		ofLoad("Requests answered", "{request}", answered),
		ofLoad("Requests failed or cut off", "{request}", func(r *report.Report) float64 { return Sum(r, MetricFailures) }),
		wall,
	}
}

// answered counts the requests that came back with what was asked for.
func answered(load *report.Report) float64 {
	n := -Sum(load, MetricFailures)
	for m := range load.Reading().Find(MetricResponse) {
		n += float64(m.Dist.Count())
	}
	return n
}

// cpuPerRequest is the server's CPU time by the process's clock for each
// request that was answered.
func cpuPerRequest(column *report.Report) (float64, string, bool) {
	server, load := column.Part(PartServer), column.Part(PartLoad)
	if server == nil || load == nil {
		return 0, "", false
	}
	served := answered(load)
	cost, ok := cgroup.PerOp(server.Reading(), uint64(served+Sum(load, MetricFailures)), uint64(served))
	return cost.CPU.PerServed.V, "s", ok && cost.CPU.PerServed.OK
}

// Sum adds up the series of a metric that carry the attributes.
func Sum(r *report.Report, metric string, attrs ...probe.Attr) (total float64) {
	for m := range r.Reading().Find(metric, attrs...) {
		total += m.Value
	}
	return total
}

// Requests is the table of what the users asked for and what became of it.
func Requests(column string) *report.Pivot {
	return &report.Pivot{
		Title: "Requests, " + column, Part: PartLoad,
		By: []string{AttrOperation},
		Columns: []report.PivotColumn{
			{Title: "n", Metric: MetricResponse, Stat: "count"},
			{Title: "failed", Metric: MetricFailures},
			{Title: "offered", Metric: "drive.rate.offered"},
			{Title: "achieved", Metric: "drive.rate.achieved"},
			{Title: "p50", Metric: MetricResponse, Stat: "p50", Unit: "ms"},
			{Title: "p95", Metric: MetricResponse, Stat: "p95", Unit: "ms"},
			{Title: "late", Metric: "drive.lateness", Stat: "p50", Unit: "ms"},
		},
		Top: -1,
	}
}
