package otelexport

import (
	"cmp"
	"fmt"

	"go.opentelemetry.io/otel/metric"

	"github.com/tidestaff/tidestaff/probe"
)

// newInstrument makes the instrument that a metric is observed through.
func newInstrument(meter metric.Meter, d *probe.Desc, conventions bool) (metric.Float64Observable, error) {
	name, kind := d.Name, d.Kind
	if c, ok := conventional[d.Name]; ok && conventions {
		name, kind = c.name, cmp.Or(c.kind, kind)
	}
	unit, help := metric.WithUnit(d.Unit), metric.WithDescription(d.Help)
	switch kind {
	case probe.KindCounter:
		return meter.Float64ObservableCounter(name, unit, help)
	case probe.KindUpDownCounter:
		return meter.Float64ObservableUpDownCounter(name, unit, help)
	case probe.KindGauge, probe.KindPeak:
		return meter.Float64ObservableGauge(name, unit, help)
	}
	return nil, fmt.Errorf("metric %s is described without a kind", d.Name)
}

// conventional are the metrics that the semantic conventions have under names of
// their own: those of a process and of a container, which a collector may report
// too. The attributes are the same. A kind is given where it is another one.
var conventional = map[string]struct {
	name string
	kind probe.Kind
}{
	"tidestaff.process.memory.usage":      {name: "process.memory.usage", kind: probe.KindUpDownCounter},
	"tidestaff.process.cpu.time":          {name: "process.cpu.time"},
	"tidestaff.process.disk.io":           {name: "process.disk.io"},
	"tidestaff.process.paging.faults":     {name: "process.paging.faults"},
	"tidestaff.cgroup.memory.usage":       {name: "container.memory.usage", kind: probe.KindUpDownCounter},
	"tidestaff.cgroup.memory.working_set": {name: "container.memory.working_set", kind: probe.KindUpDownCounter},
	"tidestaff.cgroup.cpu.time":           {name: "container.cpu.time"},
	"tidestaff.cgroup.disk.io":            {name: "container.disk.io"},
	"tidestaff.cgroup.paging.faults":      {name: "container.paging.faults"},
}
