package report

import (
	"bytes"
	"runtime/pprof"

	"github.com/tidestaff/tidestaff/internal/cpuprof"
	"github.com/tidestaff/tidestaff/probe"
)

// The metrics that a CPU profile becomes. They are metrics like any other, so
// that tables, pivots, charts and files need to know nothing of profiles.
var (
	descProfileLabel = &probe.Desc{Name: "tidestaff.profile.cpu.time", Unit: "s", Kind: probe.KindCounter,
		Help: "CPU time by method and role, from the labels of the sampled goroutines; runtime work and what has no label has the role (unlabelled). " +
			"The samples' shares of the process's CPU time."}
	descProfileFunction = &probe.Desc{Name: "tidestaff.profile.function.cpu.time", Unit: "s", Kind: probe.KindCounter, Detail: true,
		Help: "CPU time in a function itself, without what it calls. The samples' shares of the process's CPU time."}
)

const (
	attrFunction = "code.function.name"
	unlabelled   = "(unlabelled)"
	otherRows    = "(other)"

	mostFunctions = 20
	mostLabels    = 100
)

// A cpuProfile is the runtime's profile of the window, in memory: about 100 KB a
// minute. There is one profiler in a process, so it may be taken.
type cpuProfile struct {
	out bytes.Buffer
	err error // why there is no profile
}

// startProfile begins a profile. That another one is running is not the run's
// failure; it has no profile then, and says why.
func startProfile() *cpuProfile {
	p := new(cpuProfile)
	p.err = pprof.StartCPUProfile(&p.out)
	return p
}

// stop ends the profile if it is ours to end, and waits until it is written. That
// takes up to 200 ms, for which the runtime's writer sleeps.
func (p *cpuProfile) stop() {
	if p != nil && p.err == nil {
		pprof.StopCPUProfile()
	}
}

// addTo puts what the profile found into the reading, or why there is nothing.
func (p *cpuProfile) addTo(r *probe.Reading) {
	if p == nil {
		return
	}
	samples, err := []cpuprof.Sample(nil), p.err
	if err == nil {
		samples, err = cpuprof.Decode(&p.out)
	}
	reason := ""
	count, cpu := cpuprof.Total(samples)
	switch {
	case err != nil:
		reason = err.Error()
	case count == 0 || cpu == 0:
		reason = "the profile has no samples: there was less than a tick (10 ms) of CPU time"
	}
	if reason != "" {
		for _, d := range []*probe.Desc{descProfileLabel, descProfileFunction} {
			r.Absent = append(r.Absent, probe.Absent{Name: d.Name, Reason: reason})
		}
		return
	}
	addProfile(r, samples, profileScale(r, cpu))
}

// profileScale is the seconds that a sampled nanosecond stands for. Samples come
// by a clock of 10 ms that ticks as the process computes and drops some when many
// threads do, so their sum is a few per cent off the process's CPU time, which is
// known on Linux. Elsewhere they are taken as they are.
func profileScale(r *probe.Reading, sampled int64) float64 {
	if self, ok := total(r, descSelf); ok && self > 0 {
		return self / float64(sampled)
	}
	return 1e-9
}

// addProfile makes the metrics, the largest first.
func addProfile(r *probe.Reading, samples []cpuprof.Sample, scale float64) {
	type words struct{ method, role string }
	byKey := map[string]words{}
	labels := cpuprof.By(samples, func(s *cpuprof.Sample) string {
		w := words{s.Labels["method"], s.Labels["role"]}
		if w == (words{}) {
			w.role = unlabelled
		}
		key := w.method + "\x00" + w.role
		byKey[key] = w
		return key
	})
	for _, s := range topSamples(labels, mostLabels) {
		w, ok := byKey[s.Function]
		if !ok {
			w = words{otherRows, otherRows}
		}
		var attrs []probe.Attr
		if w.method != "" {
			attrs = append(attrs, probe.Attr{Key: probe.AttrMethod, Value: w.method})
		}
		if w.role != "" {
			attrs = append(attrs, probe.Attr{Key: probe.AttrRole, Value: w.role})
		}
		r.Metrics = append(r.Metrics, profileMetric(descProfileLabel, attrs, s, scale))
	}
	functions := cpuprof.By(samples, func(s *cpuprof.Sample) string { return s.Function })
	for _, s := range topSamples(functions, mostFunctions) {
		name := s.Function
		if name == "" {
			name = "(unknown)"
		}
		r.Metrics = append(r.Metrics, profileMetric(descProfileFunction, []probe.Attr{{Key: attrFunction, Value: name}}, s, scale))
	}
}

// topSamples are the first n, and the rest as one.
func topSamples(list []cpuprof.Sample, n int) []cpuprof.Sample {
	if len(list) <= n {
		return list
	}
	rest := cpuprof.Sample{Function: otherRows}
	rest.Count, rest.CPU = cpuprof.Total(list[n:])
	return append(list[:n:n], rest)
}

// profileMetric is an estimate, and says from how many samples.
func profileMetric(d *probe.Desc, attrs []probe.Attr, s cpuprof.Sample, scale float64) probe.Metric {
	return probe.Metric{Desc: d, Attrs: attrs, Value: float64(s.CPU) * scale,
		Prov: probe.Provenance{How: probe.Sampled, Method: "CPU profile", Samples: uint64(s.Count)}}
}
