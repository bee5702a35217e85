package cgroup

import (
	"runtime/metrics"

	"github.com/tidestaff/tidestaff/probe"
)

// openGo measures what the Go runtime holds of the process's memory. It does
// not stop the world. The live bytes include objects that are dead but not yet
// swept. Released memory is no longer resident, unless GODEBUG has
// madvdontneed=0, with which the kernel takes it back only when it needs it.
func (p *Probe) openGo() (*source, error) {
	samples := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
		{Name: "/memory/classes/heap/stacks:bytes"},
		{Name: "/memory/classes/os-stacks:bytes"},
	}
	of := func(kind string) *probe.Gauge {
		return p.core.Gauge(descGo, probe.Attr{Key: attrGoMemory, Value: kind})
	}
	live, free, released, stack := of("live"), of("free"), of("released"), of("stack")
	live.Course(descGoCourse)
	return &source{
		metrics: []*probe.Desc{descGo, descGoCourse},
		rich:    true,
		sample: func() error {
			metrics.Read(samples)
			live.Set(sum(samples[:1]))
			free.Set(sum(samples[1:3])) // whole spans, and the gaps in used ones
			released.Set(sum(samples[3:4]))
			stack.Set(sum(samples[4:]))
			return nil
		},
	}, nil
}

// sum adds samples. One that a later Go release no longer knows adds nothing.
func sum(samples []metrics.Sample) float64 {
	var v uint64
	for _, s := range samples {
		if s.Value.Kind() == metrics.KindUint64 {
			v += s.Value.Uint64()
		}
	}
	return float64(v)
}
