package probetest

import (
	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

// What a benchmark measures by itself.
var (
	descCPU = &probe.Desc{Name: "tidestaff.benchmark.cpu.time", Unit: "s", Kind: probe.KindCounter,
		Help:  "CPU time of the process, all threads together, from CLOCK_PROCESS_CPUTIME_ID.",
		Bench: []probe.Bench{{Unit: "cpu-ns/op", Stat: "value", PerOp: true, Better: "lower"}}}
	descLatency = &probe.Desc{Name: "tidestaff.benchmark.latency", Unit: "s", Kind: probe.KindDistribution, Digits: 3,
		Help: "Time of each operation of a benchmark, from the end of the one before.",
		Bench: []probe.Bench{
			{Unit: "p50-latency-ns", Stat: "p50", Better: "lower"},
			{Unit: "p95-latency-ns", Stat: "p95", Better: "lower"},
			{Unit: "p99-latency-ns", Stat: "p99", Better: "lower"},
			{Unit: "max-latency-ns", Stat: "max", Better: "lower"},
		}}
	descProcs = &probe.Desc{Name: "tidestaff.benchmark.gomaxprocs", Unit: "1", Kind: probe.KindGauge,
		Help:  "GOMAXPROCS while the benchmark ran; only where -cpu lists several, since its label may be wrong.",
		Bench: []probe.Bench{{Unit: "gomaxprocs", Stat: "value", Better: "higher", Exact: true}}}
	descHeap = &probe.Desc{Name: "tidestaff.benchmark.heap", Unit: "By", Kind: probe.KindGauge,
		Help:  "Live heap of one item, after two collections.",
		Bench: []probe.Bench{{Unit: "heap-bytes/item", Stat: "value", Better: "lower"}}}
	descAlloc = &probe.Desc{Name: "tidestaff.benchmark.alloc", Unit: "By", Kind: probe.KindGauge,
		Help:  "Bytes allocated to make one item.",
		Bench: []probe.Bench{{Unit: "alloc-bytes/item", Stat: "value", Better: "lower"}}}

	ownDescs = []*probe.Desc{descCPU, descLatency, descProcs, descHeap, descAlloc}
)

// A meter is the probe of what a benchmark measures by itself. It forwards only
// what a probe must have: were it to say what overlapped a stall, each lag probe
// would keep every benchmark's meter for good.
type meter struct {
	core    probe.Core
	latency *probe.Recorder // nil if it was not asked for
}

// newMeter makes the series that there will be data for.
func newMeter(latency, procs bool) *meter {
	m := new(meter)
	if latency {
		m.latency = m.core.Recorder(descLatency)
	}
	if procs {
		m.core.GaugeFunc(descProcs, gomaxprocs)
	}
	m.core.Sample = m.sample
	return m
}

// sample reads the process's clock. It is read at both ends of a window after the
// other probes have settled and been sampled.
func (m *meter) sample() {
	spent, err := proc.ReadCPUClock()
	if err != nil {
		m.core.Absent(descCPU.Name, err.Error())
		return
	}
	m.core.Counter(descCPU).Set(int64(spent))
}

// Watch implements [probe.Probe].
func (m *meter) Watch() (*probe.Window, error) { return m.core.Watch() }

// Describe implements [probe.Probe].
func (m *meter) Describe() []*probe.Desc { return ownDescs }
