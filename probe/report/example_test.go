package report_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
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

// lag is one of the distributions of package lag, and total the part of it that is read.
var (
	lag   = &probe.Desc{Name: "tidestaff.scheduler.lag.duration", Unit: "s", Kind: probe.KindDistribution, Help: "How late a slot is served."}
	total = probe.Attr{Key: "tidestaff.lag.component", Value: "total"}
)

// reading is a window of one second with a hundred slots.
func reading(base time.Duration) *probe.Reading {
	var core probe.Core
	w, err := core.Watch()
	if err != nil {
		panic(err)
	}
	r := core.Recorder(lag, total)
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
			{Label: "lag", Metric: "tidestaff.scheduler.lag.duration", Attrs: []probe.Attr{total}, Stat: "p50/p95/max", Unit: "ms"},
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

// The lag of each second, for the tools that read HdrHistogram's logs.
func ExampleHistogramLog() {
	var file strings.Builder // an *os.File
	var log *report.HistogramLog = report.NewHistogramLog(&file, "tidestaff.scheduler.lag.duration")
	for range 2 { // what a window's Next filled
		if err := log.Add(reading(time.Millisecond)); err != nil {
			fmt.Println(err)
		}
	}
	head, _, _ := strings.Cut(file.String(), "\n")
	fmt.Println(head, strings.Count(file.String(), "\n")-4)
	// Output: #[tidestaff.scheduler.lag.duration, by tidestaff] 2
}

// Five runs of each variant, in turns, and what can be said of them.
func ExampleCompare() {
	run := func(i int, wait time.Duration) *report.Report {
		r := report.Of(reading(wait))
		r.Started = r.Started.Add(time.Duration(i) * time.Minute)
		r.Provenance = report.Provenance{}
		return r
	}
	var before, after []*report.Report
	for i := range 5 {
		before = append(before, run(2*i, time.Duration(900+10*i)*time.Microsecond))
		after = append(after, run(2*i+1, time.Duration(600+10*i)*time.Microsecond))
	}
	c := report.Compare(report.Repeat("before", before...), report.Repeat("after", after...),
		report.CompareOptions{Better: map[string]string{"tidestaff.scheduler.lag.duration": "lower"}})
	for _, one := range c.Changes {
		fmt.Printf("%s %s: %s, %s\n", one.Metric, one.Stat, one.Verdict, one.Reason)
	}
	fmt.Println("worse:", c.Worse())
	// Output:
	// tidestaff.scheduler.lag.duration p50: improved, p = 0.0079
	// tidestaff.scheduler.lag.duration p95: improved, p = 0.0079
	// worse: false
}

// A bound, and what came of it. A time over its bound is not judged here: nobody
// looked at how busy the machine was.
func ExampleReport_AtMost() {
	rep := report.Of(reading(time.Millisecond))
	row := report.Row{Label: "lag p95", Metric: "tidestaff.scheduler.lag.duration", Attrs: []probe.Attr{total}, Stat: "p95"}
	fmt.Println(rep.AtMost(row, 0.100))
	fmt.Println(rep.AtMost(row, 0.010))
	rep.Unmeasured("100,000 repositories", "there is no object store")
	for _, t := range rep.Targets {
		fmt.Println(strings.TrimSuffix(t.Name+": "+string(t.Outcome)+", "+t.Reason, ", "))
	}
	fmt.Println("failed:", rep.Failed())
	// Output:
	// pass
	// not judged
	// lag p95: pass
	// lag p95: not judged, noise: how busy the machine was is not known
	// 100,000 repositories: not measured, there is no object store
	// failed: false
}

// Two runs of one variant in one column.
func ExampleRepeat() {
	first, second := report.Of(reading(690*time.Microsecond)), report.Of(reading(670*time.Microsecond))
	first.Provenance, second.Provenance = report.Provenance{}, report.Provenance{}
	t := report.Table{
		Columns: []report.Column{{Report: report.Repeat("after", first, second)}},
		Rows:    []report.Row{{Label: "lag", Metric: "tidestaff.scheduler.lag.duration", Attrs: []probe.Attr{total}, Stat: "p50/max", Unit: "ms"}},
	}
	if err := t.WriteMarkdown(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// |  | n | after (host load –, –) |
	// | :-- | --: | --: |
	// | lag p50 / max | 100, 100 | 35 / 69, 34 / 67 ms |
}
