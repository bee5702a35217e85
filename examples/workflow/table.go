package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/tidestaff/tidestaff/examples/internal/page"
	"github.com/tidestaff/tidestaff/lag"
	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/probe/report"
)

// printTables prints, for each variant, how its times grow and what each benchmark
// was at each size.
func printTables(w io.Writer, o page.Options, columns []*report.Report) error {
	for i, c := range columns {
		if i > 0 {
			fmt.Fprintln(w)
		}
		title, c := page.First(c.Name, c)
		if err := page.Write(w, o, growth(o, title, c), benchmarks); err != nil {
			return err
		}
		if _, err := io.WriteString(w, flagged(o, c)); err != nil {
			return err
		}
	}
	return nil
}

// growth has a column for each size, and with two of them their ratio.
func growth(o page.Options, title string, c *report.Report) *report.Table {
	t := &report.Table{Title: fmt.Sprintf("Workflow, %s, profile %s: wall time and memory by the number of jobs", title, o.Profile), Ratio: true}
	for _, jobs := range profileOf(o).jobs {
		t.Columns = append(t.Columns, report.Column{Title: fmt.Sprintf("%d jobs", jobs), Report: c.Part(partOf(profileOf(o), jobs))})
	}
	for _, r := range rows {
		row := report.Row{Label: r.name, Metric: descWall.Name, Unit: "ms", Attrs: []probe.Attr{{Key: attrRow, Value: r.name}}}
		if r.fixed {
			row.How = "as many children at each size"
		}
		t.Rows = append(t.Rows, row)
	}
	t.Rows = append(t.Rows,
		report.Row{Label: "live heap per marker", Metric: descHeap.Name, Unit: "B"},
		report.Row{Label: "allocated per marker", Metric: descAlloc.Name, Unit: "B"},
		report.Row{Label: "largest heartbeat gap under scan", Metric: descGap.Name, Unit: "ms"},
		report.Row{Label: "loop lag", Metric: "tidestaff.loop.lag.duration", Stat: "p50/p95/max", Unit: "ms", How: "through the manager's loop",
			Attrs: []probe.Attr{{Key: lag.AttrComponent, Value: "total"}}},
		report.Row{Label: "peak RSS", Metric: "tidestaff.process.memory.peak", Unit: "MiB"})
	return t
}

// benchmarks is the page's table of one size.
func benchmarks(size string) *report.Pivot {
	return &report.Pivot{
		Title: "Benchmarks, " + size,
		By:    []string{attrNumber, attrRow, attrNoun},
		Columns: []report.PivotColumn{
			{Title: "rate", Metric: descRate.Name},
			{Title: "wall time", Metric: descWall.Name, Unit: "ms"},
			{Title: "CPU time", Metric: descCPU.Name, Unit: "ms"},
			{Title: "file operations per job", Metric: descOperations.Name},
		},
		Sort: -1, Top: -1, // in the order of their numbers
	}
}

// flag is the ratio of two single runs, of which the second has four times the
// jobs, from which on somebody should look for growth that is faster than linear.
const flag = 5

// flagged says which benchmarks have such a ratio.
func flagged(o page.Options, c *report.Report) string {
	p := profileOf(o)
	small, large := p.jobs[0], p.jobs[len(p.jobs)-1]
	few, many := c.Part(partOf(p, small)), c.Part(partOf(p, large))
	if len(p.jobs) < 2 || few == nil || many == nil {
		return ""
	}
	var over []string
	for _, r := range rows {
		wall := func(c *report.Report) float64 {
			return page.Sum(c, descWall.Name, probe.Attr{Key: attrRow, Value: r.name})
		}
		if ratio := wall(many) / wall(few); ratio > flag && !r.fixed {
			over = append(over, fmt.Sprintf("%s (× %.1f)", r.name, ratio))
		}
	}
	if over == nil {
		over = []string{"none"}
	}
	return fmt.Sprintf("More than %d times the wall time for %d as for %d jobs: %s.\n"+
		"The ratio of two single runs is weak: noise moves it, and a constant part hides what grows faster than linear.\n"+
		"File operations per job are exact. CPU time at five sizes: go test -run '^$' -bench Growth ./examples/workflow\n", flag, large, small, strings.Join(over, ", "))
}
