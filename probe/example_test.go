package probe_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// A user's own numbers join a Set through a Core.
func Example() {
	var app probe.Core
	hits := app.Counter(&probe.Desc{Name: "app.cache.hits", Unit: "{hit}", Help: "Look-ups that the cache answered."})

	set := probe.NewSet(&app) // beside lag, sqlitetrace, …
	window, err := set.Watch()
	if err != nil {
		fmt.Println(err)
		return
	}
	hits.Add(3)
	for m := range window.Close().Find("app.cache.hits") {
		fmt.Println(m.Name, m.Value, m.Unit)
	}
	// Output: app.cache.hits 3 {hit}
}

// Next tiles time: every count is in exactly one interval.
func ExampleWindow() {
	var app probe.Core
	jobs := app.Counter(&probe.Desc{Name: "app.jobs", Unit: "{job}", Help: "Jobs done."})
	window, _ := app.Watch()
	defer window.Close()

	var r probe.Reading // reused from interval to interval
	for _, n := range []int64{3, 0, 4} {
		jobs.Add(n)
		window.Next(&r)
		fmt.Println(r.Metrics[0].Value)
	}
	// Output:
	// 3
	// 0
	// 4
}

// A probe of one's own holds a Core and forwards two methods to it.
func ExampleCore() {
	core := &probe.Core{
		Start: func() error { return fmt.Errorf("disk: /proc/diskstats: %w", probe.ErrUnsupported) },
	}
	window, err := probe.NewSet(core).Watch()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, a := range window.Close().Absent { // absent, never zero
		fmt.Println(a.Reason)
	}
	// Output: disk: /proc/diskstats: not supported here
}

// A Peak is exact in each window if the kernel's maximum is set back at every
// boundary.
func ExamplePeak() {
	var core probe.Core
	peak := core.Peak(&probe.Desc{Name: "app.memory.peak", Unit: "By", Help: "Highest memory."})
	peak.Reset(900, "reset")
	window, _ := core.Watch()
	peak.Reset(300, "reset")
	for m := range window.Close().Find("app.memory.peak") {
		fmt.Println(m.Value, m.Prov.How, m.Prov.Method)
	}
	// Output: 300 exact reset
}

func ExampleGauge() {
	var core probe.Core
	load := core.Gauge(&probe.Desc{Name: "app.load", Unit: "1", Help: "Share of workers that are busy."})
	window, _ := core.Watch()
	load.Set(0.25)
	fmt.Println(window.Close().Metrics[0].Value)
	// Output: 0.25
}

// A Recorder is a concurrent HDR histogram; a Dist is what was recorded.
func ExampleRecorder() {
	rec := new(probe.Recorder)
	for i := range int64(1000) {
		rec.Record((i + 1) * int64(time.Microsecond))
	}
	var d probe.Dist
	rec.Snapshot(&d)
	fmt.Println(d.Count(), time.Duration(d.Quantile(0.5)), time.Duration(d.Max()))
	fmt.Println(d.HDR().ValueAtQuantile(50) == d.Quantile(0.5))
	// Output:
	// 1000 501.759µs 1ms
	// true
}

// Operations are the service's own units of work.
func ExampleOps() {
	ops := &probe.Ops{}
	window, _ := ops.Watch()

	ctx := probe.WithRole(context.Background(), "request")
	ctx, op := ops.Begin(ctx, "checkout")
	probe.OpOf(ctx).AddQueries(2, 150_000, 41) // what a leaf does
	op.End(errors.New("out of stock"))

	r := window.Close()
	for m := range r.Find("tidestaff.operation.queries") {
		fmt.Println(m.Attr("tidestaff.operation.name"), "on", m.Attr(probe.AttrRole), m.Dist.Max(), "queries")
	}
	for m := range r.Find("tidestaff.operation.failures", probe.Attr{Key: "error.type", Value: "other"}) {
		fmt.Println(m.Value, "failed")
	}
	// Output:
	// checkout on request 2 queries
	// 1 failed
}

// An event has a start, a duration, a cause and evidence.
func ExampleEvent() {
	var core probe.Core
	window, _ := core.Watch()
	core.Emit(probe.Event{Name: "app.stall", Duration: 412 * time.Millisecond, Cause: "lock", Text: "stall 412 ms: lock"})
	for _, e := range window.Close().Events {
		fmt.Println(e.Text)
	}
	// Output: stall 412 ms: lock
}

// A label says who does the work; Do also labels the goroutine, so that a CPU
// profile shows the same words.
func ExampleDo() {
	probe.Do(context.Background(), "background:retention", func(ctx context.Context) {
		ctx = probe.WithMethod(ctx, "(*Store).Archive")
		l := probe.LabelOf(ctx)
		fmt.Println(l.Method, "on", l.Role)
	})
	// Output: (*Store).Archive on background:retention
}

// A Table bounds series whose keys come from data.
func ExampleTable() {
	var core probe.Core
	desc := &probe.Desc{Name: "app.reads", Unit: "{read}", Help: "Reads.", Detail: true}
	reads := probe.NewTable(2, "(other)", func(path string) *probe.Counter {
		return core.Counter(desc, probe.Attr{Key: "path", Value: path})
	})
	window, _ := core.Watch()
	for _, path := range []string{"a", "b", "c", "d"} {
		reads.Get(path).Add(1)
	}
	for m := range window.Close().Find("app.reads") {
		fmt.Println(m.Attr("path"), m.Value)
	}
	// Output:
	// a 1
	// b 1
	// (other) 2
}

// A Series is a table by label; the label carries what was resolved.
func ExampleSeries() {
	var core probe.Core
	calls := probe.NewSeries(0, func(l *probe.Label) *probe.Counter {
		return core.Counter(&probe.Desc{Name: "app.calls", Unit: "{call}", Help: "Calls."},
			probe.Attr{Key: probe.AttrRole, Value: l.Role})
	})
	window, _ := core.Watch()
	calls.Of(probe.LabelOf(probe.WithMethod(probe.WithRole(context.Background(), "request"), "Get"))).Add(1)
	m := window.Close().Metrics[0]
	fmt.Println(m.Attr(probe.AttrRole), m.Value)
	// Output: request 1
}

// What ran during the last second: the question that a stall asks.
func ExampleOverlap() {
	core := probe.Core{Activity: "statement"}
	window, _ := core.Watch()
	defer window.Close()
	span := core.Begin(probe.LabelOf(probe.WithMethod(probe.WithRole(context.Background(), "request"), "(*Store).List")))
	defer core.End(span)
	for _, o := range core.Overlapping(nil, time.Second) {
		fmt.Println(o.Activity, o.Name, "on", o.Role, "running:", o.Running)
	}
	// Output: statement (*Store).List on request running: true
}

// A description is the single source of a metric's name, kind, unit and of the
// units under which a benchmark reports it.
func ExampleDesc() {
	lookups := &probe.Desc{
		Name: "app.lookup.duration", Unit: "s", Kind: probe.KindDistribution,
		Help:  "Time to answer a look-up.",
		Bench: []probe.Bench{{Unit: "p99-lookup-ns", Stat: "p99", Better: "lower"}},
	}
	var core probe.Core
	rec := core.Recorder(lookups)
	window, _ := core.Watch()
	rec.Record(2_500_000) // nanoseconds, since the unit is seconds
	for _, m := range window.Close().Metrics {
		fmt.Println(m.Kind, m.Value, m.Unit, m.Bench[0].Unit, m.Dist.Quantile(0.99) <= m.Dist.Max())
	}
	// Output: distribution 0.0025 s p99-lookup-ns true
}

// The kinds say what a window does with a number.
func ExampleKind() {
	for k := probe.KindCounter; k <= probe.KindDistribution; k++ {
		fmt.Println(k)
	}
	// Output:
	// counter
	// updowncounter
	// gauge
	// peak
	// distribution
}

// A unit of a benchmark, as benchstat reads it.
func ExampleBench() {
	b := probe.Bench{Unit: "queries/op", Stat: "mean", Better: "lower", Exact: true}
	fmt.Println(b.Unit, b.Better)
	// Output: queries/op lower
}
