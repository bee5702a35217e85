package schema

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/probe/report"
)

const file = "../../../probe/report/schema/report-v1.json"

// compile also checks the schema itself against the draft's own.
func compile(t *testing.T) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	s, err := c.Compile(file)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// measured runs a real window over every kind of metric, an event and
// something that is absent, with parts and conditions, and returns what Write
// made of it.
func measured(t *testing.T) []byte {
	t.Helper()
	core := &probe.Core{Name: "mine"}
	ops := &probe.Ops{}
	run, err := report.Start(probe.NewSet(core, ops), report.Options{Name: "server", Interval: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	work(core, ops)
	<-time.After(50 * time.Millisecond) // for a curve of more than one slice
	server := run.Close()
	load := report.Of(new(probe.Reading))
	load.Name = "load"
	all := report.Join("schema", server, load)
	all.Conditions.Add("sandboxes", 20_000, "{row}")
	all.Conditions.Set("mode", "WAL")
	if err := all.Conditions.Tree("."); err != nil {
		t.Error(err)
	}
	if err := all.Conditions.FileSystem("."); err != nil && !errors.Is(err, probe.ErrUnsupported) {
		t.Error(err)
	}
	all.Deviations = []string{"there is no load"}
	all.Operations = 1
	all.AtMost(report.Row{Label: "wait", Part: "server", Metric: "my.wait", Stat: "p99"}, 0.001)
	all.Exactly(report.Row{Label: "nothing", Part: "server", Metric: "my.nothing"}, 1)
	all.Unmeasured("a full disk", "the disk is not full")
	again, out := report.Of(new(probe.Reading)), report.Of(new(probe.Reading))
	out.Excluded = "nothing was run"
	repeats := report.Repeat("repeats", again, out)
	repeats.AtMost(report.Row{Label: "of repeats", Metric: "my.cpu"}, 1)
	all.Parts = append(all.Parts, repeats)
	var b bytes.Buffer
	if err := all.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func work(core *probe.Core, ops *probe.Ops) {
	d := core.Recorder(&probe.Desc{Name: "my.wait", Unit: "s", Help: "Wait.",
		Bench: []probe.Bench{{Unit: "p99-wait-ns", Stat: "p99", Better: "lower"}}})
	for i := range int64(200) {
		d.Record(i * 1000)
	}
	d.Record(math.MaxInt64)
	core.Recorder(&probe.Desc{Name: "my.size", Unit: "By", Help: "Sizes.", Digits: 3})
	core.Counter(&probe.Desc{Name: "my.cpu", Unit: "s", Help: "CPU time."}).Add(1_500_000)
	core.Counter(&probe.Desc{Name: "my.level", Unit: "{thing}", Kind: probe.KindUpDownCounter, Help: "Level."}).Add(-3)
	core.Gauge(&probe.Desc{Name: "my.share", Unit: "1", Help: "Share."}).Set(0.25)
	core.Gauge(&probe.Desc{Name: "my.nothing", Unit: "1", Help: "Never set."})
	peak := core.Peak(&probe.Desc{Name: "my.peak", Unit: "By", Help: "Peak."})
	peak.Sample(1 << 20)
	core.Counter(&probe.Desc{Name: "my.reads", Unit: "{read}", Detail: true, Help: "Reads."},
		probe.Attr{Key: "path", Value: "a|b\n<c>\xff"}).Add(1)
	core.Emit(probe.Event{Name: "my.stall", Start: time.Now(), Duration: time.Millisecond,
		Cause: "gc", Text: "stopped", Attrs: []probe.Attr{{Key: "k", Value: "v"}}})
	core.Absent("my.psi", "no such file")
	ctx, op := ops.Begin(probe.WithRole(context.Background(), "request"), "list")
	probe.OpOf(ctx).AddQueries(1, 1000, 20)
	op.End(errors.New("refused"))
}

func decode(t *testing.T, b []byte) map[string]any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return v.(map[string]any)
}

func TestRealOutputIsValid(t *testing.T) {
	b := measured(t)
	if err := compile(t).Validate(decode(t, b)); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	rep, err := report.Read(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[probe.Kind]bool{}
	for _, m := range rep.Part("server").Reading().Metrics {
		kinds[m.Kind] = true
	}
	if len(kinds) != int(probe.KindDistribution) {
		t.Errorf("the report has metrics of %d kinds, want all %d", len(kinds), probe.KindDistribution)
	}
}

// A report without anything is valid too.
func TestEmptyReportIsValid(t *testing.T) {
	var b bytes.Buffer
	if err := report.Of(new(probe.Reading)).Write(&b); err != nil {
		t.Fatal(err)
	}
	if err := compile(t).Validate(decode(t, b.Bytes())); err != nil {
		t.Errorf("%v\n%s", err, b.Bytes())
	}
}

// TestDamage breaks one thing at a time. What the schema refuses and what the
// reader refuses should differ only where the table says so: the reader cannot
// miss what only informs people, the schema cannot look into a histogram.
func TestDamage(t *testing.T) {
	good := measured(t)
	s := compile(t)
	for _, tt := range damages {
		t.Run(tt.name, func(t *testing.T) {
			v := decode(t, good)
			server := v["parts"].([]any)[0].(map[string]any)
			tt.do(v, server)
			b, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Validate(v); (err != nil) != tt.schema {
				t.Errorf("schema says %v, want an error: %v", err, tt.schema)
			}
			_, err = report.Read(bytes.NewReader(b))
			if (err != nil) != (tt.reader != "") || err != nil && !strings.Contains(err.Error(), tt.reader) {
				t.Errorf("reader says %v, want %q", err, tt.reader)
			}
		})
	}
}

type object = map[string]any

// metric is the first metric of that name.
func metric(server object, name string) object {
	for _, m := range server["metrics"].([]any) {
		if m := m.(object); m["name"] == name {
			return m
		}
	}
	panic("no metric " + name)
}

var damages = []struct {
	name   string
	do     func(root, server object)
	schema bool   // whether the schema refuses it
	reader string // what the reader's error names, "" if it reads it
}{
	{"nothing", func(_, _ object) {}, false, ""},
	{"an unknown field", func(r, s object) { r["later"], s["later"] = 1, object{} }, false, ""},
	{"a newer minor version", func(r, _ object) { r["version"] = "1.7" }, false, ""},
	{"a newer major version", func(r, _ object) { r["version"] = "2.0" }, true, `version: "2.0" is newer`},
	{"no version", func(r, _ object) { delete(r, "version") }, true, "version"},
	{"another schema", func(r, _ object) { r["schema"] = "else" }, true, "schema"},
	{"no metrics", func(r, _ object) { delete(r, "metrics") }, true, "metrics"},
	{"a negative duration", func(r, _ object) { r["duration_ns"] = -1 }, true, "duration_ns"},
	{"a fractional duration", func(r, _ object) { r["duration_ns"] = 1.5 }, true, "duration_ns"},
	{"a start that is no time", func(r, _ object) { r["started"] = "noon" }, true, "started"},
	{"a share over one", func(r, _ object) { r["host"].(object)["steal_share"] = 1.5 }, true, ""},
	{"an unnamed part", func(_, s object) { s["name"] = "" }, true, "parts[0].name"},
	{"a condition without a value", func(r, _ object) { delete(r["conditions"].([]any)[0].(object), "value") }, true, "conditions[0].value"},
	{"a metric without a name", func(_, s object) { delete(metric(s, "my.cpu"), "name") }, true, "].name"},
	{"a kind that is none", func(_, s object) { metric(s, "my.cpu")["kind"] = "sum" }, true, "].kind"},
	{"a value that is text", func(_, s object) { metric(s, "my.cpu")["value"] = "1" }, true, "].value"},
	{"a value that is absent", func(_, s object) { delete(metric(s, "my.cpu"), "value") }, false, ""},
	{"a time in seconds", func(_, s object) { metric(s, "my.cpu")["unit"] = "s" }, true, "].unit"},
	{"an attribute that is a number", func(_, s object) { metric(s, "my.cpu")["attrs"] = object{"a": 1} }, true, "].attrs"},
	{"a provenance that is none", func(_, s object) { metric(s, "my.peak")["prov"] = object{"how": "guessed"} }, true, "].prov.how"},
	{"a counter with a distribution", func(_, s object) { metric(s, "my.cpu")["dist"] = object{"count": 0, "sum": 0} }, true, "].dist"},
	{"a distribution without one", func(_, s object) { delete(metric(s, "my.wait"), "dist") }, true, "].dist"},
	{"a distribution without buckets", func(_, s object) { delete(metric(s, "my.wait")["dist"].(object), "hdr") }, true, "].dist.hdr"},
	{"a negative maximum", func(_, s object) { metric(s, "my.wait")["dist"].(object)["max"] = -1 }, true, "].dist.max"},
	{"buckets that are no histogram", func(_, s object) { metric(s, "my.wait")["dist"].(object)["hdr"] = "HISTFAAA" }, false, "].dist.hdr"},
	{"a count that is not the buckets'", func(_, s object) { metric(s, "my.wait")["dist"].(object)["count"] = 7 }, false, "].dist.hdr"},
	{"an event without a name", func(_, s object) { delete(s["events"].([]any)[0].(object), "name") }, true, "events[0].name"},
	{"an absence without a reason", func(_, s object) { delete(s["absent"].([]any)[0].(object), "reason") }, true, "absent[0].reason"},
	{"a target without an outcome", func(r, _ object) { delete(r["targets"].([]any)[0].(object), "outcome") }, true, "targets[0].outcome"},
	{"a target in seconds", func(r, _ object) { r["targets"].([]any)[0].(object)["unit"] = "s" }, true, "targets[0].unit"},
	{"a target without a bound", func(r, _ object) { delete(r["targets"].([]any)[0].(object), "bound") }, true, "targets[0].bound"},
	{"a run without metrics", func(r, _ object) {
		delete(r["parts"].([]any)[2].(object)["runs"].([]any)[1].(object), "metrics")
	}, true, "parts[2].runs[1].metrics"},
	{"a number of operations that is negative", func(r, _ object) { r["operations"] = -1 }, true, "operations"},
	{"a curve that is too short", func(_, s object) { s["curve"].(object)["for_ns"] = []any{} }, false, "curve.for_ns"},
	{"a curve of text", func(_, s object) { s["curve"].(object)["at_ns"] = []any{"0"} }, true, "curve.at_ns"},
}
