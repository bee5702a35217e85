package report_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/probe/report"
)

// A phase of a load test: the window is open while the load runs.
func ExampleStart() {
	ops := &probe.Ops{}
	run, err := report.Start(probe.NewSet(ops), report.Options{Name: "after"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 3 {
		_, op := ops.Begin(context.Background(), "get_session")
		op.End(nil)
	}
	rep := run.Close()

	for m := range rep.Reading().Find("tidestaff.operation.duration") {
		fmt.Println(m.Attr("tidestaff.operation.name"), m.Dist.Count())
	}
	fmt.Println(rep.Provenance.GOMAXPROCS > 0, len(rep.Curve.At) > 0)
	// Output:
	// get_session 3
	// true true
}

// lag is a distribution as a probe would describe it.
var lag = &probe.Desc{Name: "tidestaff.lag.total", Unit: "s", Kind: probe.KindDistribution, Help: "How late a slot is served."}

// reading is a window of one second with a hundred slots.
func reading(base time.Duration) *probe.Reading {
	var core probe.Core
	w, err := core.Watch()
	if err != nil {
		panic(err)
	}
	r := core.Recorder(lag)
	for i := range 100 {
		r.Record(int64(base) * int64(i+1))
	}
	rd := w.Close()
	rd.Start = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	rd.End = rd.Start.Add(time.Second)
	return rd
}

// Two runs side by side. A real report also has lines below the table that say
// where it ran.
func ExampleTable() {
	before, after := report.Of(reading(5*time.Millisecond)), report.Of(reading(70*time.Microsecond))
	before.Name, after.Name = "before", "after"
	before.Provenance, after.Provenance = report.Provenance{}, report.Provenance{}

	t := report.Table{
		Columns: []report.Column{{Report: before}, {Report: after}},
		Rows: []report.Row{
			{Label: "lag", Metric: "tidestaff.lag.total", Stat: "p50/p95/max", Unit: "ms"},
			{Label: "wall time", Value: func(r *report.Report) (float64, string, bool) {
				return r.Duration.Seconds(), "s", true
			}},
		},
		Ratio: true,
	}
	if err := t.WriteTerminal(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// n              before               after               ratio
	//                                  host load –         host load –
	// ────────────────────────────────────────────────────────────────────────────────────
	// lag p50 / p95 / max  100  251 / 476 / 500 ms  3.5 / 6.7 / 7.0 ms  ÷ 71 / ÷ 72 / ÷ 71
	// wall time                              1.0 s               1.0 s                   =
}

// Operations by name, the slowest first.
func ExamplePivot() {
	ops := &probe.Ops{}
	run, err := report.Start(ops, report.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for name, n := range map[string]int{"list": 3, "get": 7} {
		for range n {
			_, op := ops.Begin(probe.WithRole(context.Background(), "request"), name)
			op.End(nil)
		}
	}
	p := report.Pivot{
		By: []string{"tidestaff.operation.name", "tidestaff.goroutine.role"},
		Columns: []report.PivotColumn{
			{Title: "n", Metric: "tidestaff.operation.duration", Stat: "count"},
		},
	}
	if err := p.WriteMarkdown(os.Stdout, run.Close()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// | name | role | n |
	// | :-- | :-- | --: |
	// | get | request | 7 |
	// | list | request | 3 |
}

// What must be equal for two runs to be compared.
func ExampleConditions() {
	set := flag.NewFlagSet("load", flag.ContinueOnError)
	set.Int("users", 6, "")
	set.Duration("for", 0, "")
	if err := set.Parse([]string{"-users", "12"}); err != nil {
		fmt.Println(err)
		return
	}
	var c report.Conditions
	c.Flags(set)
	c.Add("sandboxes", 20_000, "{row}")
	c.Add("seed", 1, "")
	for _, one := range c {
		fmt.Println(one.Name, one.Value)
	}
	// Output:
	// -users 12
	// sandboxes 20000
	// seed 1
}

// The reports of a server and of its load generator in one file.
func ExampleJoin() {
	server, load := report.Of(reading(time.Millisecond)), report.Of(reading(time.Millisecond))
	server.Name, load.Name = "server", "load"
	all := report.Join("after", server, load)
	if err := all.WriteFile(os.DevNull); err != nil {
		fmt.Println(err)
	}
	fmt.Println(all.Part("load").Name, all.Duration)
	// Output: load 1s
}
