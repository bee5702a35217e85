package otelexport

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/tidestaff/tidestaff/probe"
)

// The metrics of the tests' probes, one of each kind.
var (
	descCalls = &probe.Desc{Name: "test.calls", Unit: "{call}", Help: "Calls.", Kind: probe.KindCounter}
	descTime  = &probe.Desc{Name: "test.time", Unit: "s", Help: "Time in calls.", Kind: probe.KindCounter}
	descOpen  = &probe.Desc{Name: "test.open", Unit: "{call}", Help: "Calls under way.", Kind: probe.KindUpDownCounter}
	descLevel = &probe.Desc{Name: "test.level", Unit: "By", Help: "Level.", Kind: probe.KindGauge}
	descPeak  = &probe.Desc{Name: "test.peak", Unit: "By", Help: "Highest level.", Kind: probe.KindPeak}
	descPath  = &probe.Desc{Name: "test.path", Unit: "{call}", Help: "Calls by path.", Kind: probe.KindCounter, Detail: true}
	descWait  = &probe.Desc{Name: "test.wait", Unit: "s", Help: "Waits.", Kind: probe.KindDistribution, Bounds: []float64{0.001, 0.01, 0.1, 1}}
	descRows  = &probe.Desc{Name: "test.rows", Unit: "{row}", Help: "Rows.", Kind: probe.KindDistribution, Digits: 3}
)

func newCore(name string) *probe.Core {
	return &probe.Core{Name: name, Descs: []*probe.Desc{descCalls, descTime, descOpen, descLevel, descPeak, descPath, descWait, descRows}}
}

func register(t *testing.T, p probe.Probe, o Options) *Registration {
	t.Helper()
	r, err := Register(p, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func produce(t *testing.T, p probe.Probe, o ProducerOptions) *Producer {
	t.Helper()
	q, err := NewProducer(p, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { q.Close() })
	return q
}

// provider is a provider and its reader.
func provider(t *testing.T, o ...sdk.ManualReaderOption) (*sdk.MeterProvider, *sdk.ManualReader) {
	t.Helper()
	reader := sdk.NewManualReader(o...)
	mp := sdk.NewMeterProvider(sdk.WithReader(reader))
	t.Cleanup(func() { mp.Shutdown(context.Background()) })
	return mp, reader
}

// collect is everything that a reader gets, by name; a name that comes twice is a
// fault.
func collect(t testing.TB, reader sdk.Reader) map[string]metricdata.Metrics {
	t.Helper()
	var data metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &data); err != nil {
		t.Fatal(err)
	}
	all := map[string]metricdata.Metrics{}
	for _, s := range data.ScopeMetrics {
		if s.Scope != scope {
			t.Errorf("got scope %+v, want %+v", s.Scope, scope)
		}
		for _, m := range s.Metrics {
			if _, ok := all[m.Name]; ok {
				t.Errorf("got %s twice", m.Name)
			}
			all[m.Name] = m
		}
	}
	return all
}

// text is a metric in a line for each point: kind, unit, attributes and value.
func text(m metricdata.Metrics) string {
	var lines []string
	line := func(kind string, attrs attribute.Set, format string, args ...any) {
		lines = append(lines, fmt.Sprintf("%s %s {%s} ", kind, m.Unit, attrs.Encoded(attribute.DefaultEncoder()))+fmt.Sprintf(format, args...))
	}
	switch d := m.Data.(type) {
	case metricdata.Sum[float64]:
		for _, p := range d.DataPoints {
			line(map[bool]string{true: "counter", false: "updown"}[d.IsMonotonic], p.Attributes, "%.6g", p.Value)
		}
	case metricdata.Gauge[float64]:
		for _, p := range d.DataPoints {
			line("gauge", p.Attributes, "%v", p.Value)
		}
	case metricdata.Histogram[float64]:
		for _, p := range d.DataPoints {
			line("histogram", p.Attributes, "n %d sum %.4g %v %v", p.Count, p.Sum, p.Bounds, p.BucketCounts)
		}
	case metricdata.ExponentialHistogram[float64]:
		for _, p := range d.DataPoints {
			line("exponential", p.Attributes, "n %d sum %.4g scale %d", p.Count, p.Sum, p.Scale)
		}
	default:
		lines = append(lines, fmt.Sprintf("%T", m.Data))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// want compares everything that came with what should have.
func want(t *testing.T, got map[string]metricdata.Metrics, wants map[string]string) {
	t.Helper()
	for name, m := range got {
		if w, ok := wants[name]; !ok || text(m) != w {
			t.Errorf("%s: got\n%s\nwant\n%s", name, text(m), w)
		}
	}
	for name, w := range wants {
		if _, ok := got[name]; !ok {
			t.Errorf("%s: got nothing, want\n%s", name, w)
		}
	}
}
