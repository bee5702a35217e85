package report

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"runtime"
	"runtime/pprof"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidestaff/tidestaff/internal/cpuprof"
	"github.com/tidestaff/tidestaff/probe"
)

// TestProfileMetrics divides 2 s of the process's CPU time by samples of 1 s.
func TestProfileMetrics(t *testing.T) {
	var samples []cpuprof.Sample
	for i := range 30 {
		samples = append(samples, cpuprof.Sample{Function: fmt.Sprintf("f%02d", i), Count: 1, CPU: 10_000_000, Labels: map[string]string{"role": "request", "method": "Get"}})
	}
	samples = append(samples, cpuprof.Sample{Function: "runtime.gc", Count: 60, CPU: 600_000_000},
		cpuprof.Sample{Count: 10, CPU: 100_000_000, Labels: map[string]string{"role": "main"}})
	r := &probe.Reading{Metrics: []probe.Metric{{Desc: descSelf, Value: 2}}}
	_, cpu := cpuprof.Total(samples)
	addProfile(r, samples, profileScale(r, cpu))

	got := map[string]string{}
	sums := map[string]float64{}
	for _, m := range r.Metrics[1:] {
		got[m.Name+" "+attrsText(m.Attrs)] = fmt.Sprintf("%.2f %d", m.Value, m.Prov.Samples)
		sums[m.Name] += m.Value
		if m.Prov.How != probe.Sampled {
			t.Errorf("%s %v is not said to be sampled", m.Name, m.Attrs)
		}
	}
	for name, want := range map[string]string{
		"tidestaff.profile.cpu.time method=Get role=request":      "0.60 30",
		"tidestaff.profile.cpu.time role=(unlabelled)":            "1.20 60",
		"tidestaff.profile.cpu.time role=main":                    "0.20 10",
		"tidestaff.profile.function.cpu.time function=runtime.gc": "1.20 60",
		"tidestaff.profile.function.cpu.time function=(unknown)":  "0.20 10",
		"tidestaff.profile.function.cpu.time function=f17":        "0.02 1",
		"tidestaff.profile.function.cpu.time function=(other)":    "0.24 12",
		"tidestaff.profile.function.cpu.time function=f18":        "",
	} {
		if got[name] != want {
			t.Errorf("%s: got %q, want %q", name, got[name], want)
		}
	}
	for name, sum := range sums {
		if math.Abs(sum-2) > 1e-9 {
			t.Errorf("%s: %v s in all, want the process's 2", name, sum)
		}
	}
	if len(r.Metrics) != 1+3+mostFunctions+1 {
		t.Errorf("got %d metrics, want %d", len(r.Metrics)-1, 3+mostFunctions+1)
	}
}

// work computes for a while.
//
//go:noinline
func work(n int64) {
	var x uint64
	for i := range n {
		x = x*6364136223846793005 + uint64(i)
	}
	runtime.KeepAlive(x)
}

// TestProfileOfARun runs until the profile must have seen the work, however fast
// the machine is.
func TestProfileOfARun(t *testing.T) {
	for n := int64(50_000_000); n < 10_000_000_000; n *= 4 {
		run, err := Start(nil, Options{CPUProfile: true})
		if err != nil {
			t.Fatal(err)
		}
		probe.Do(probe.WithMethod(context.Background(), "(*Store).Work"), "request", func(context.Context) { work(n) })
		rep := run.Close()
		for _, a := range rep.Reading().Absent {
			if a.Name == descProfileLabel.Name && !strings.Contains(a.Reason, "no samples") {
				t.Skipf("the test itself is profiled: %s", a.Reason)
			}
		}
		var b bytes.Buffer
		if err := rep.Write(&b); err != nil {
			t.Fatal(err)
		}
		if rep, err = Read(&b); err != nil {
			t.Fatal(err)
		}
		for m := range rep.Reading().Find(descProfileFunction.Name) {
			if m.Value > 0 && strings.HasSuffix(m.Attr(attrFunction), "report.work") {
				checkRole(t, rep)
				return
			}
		}
	}
	t.Error("no sample of the work, however long it was")
}

func checkRole(t *testing.T, rep *Report) {
	t.Helper()
	for m := range rep.Reading().Find(descProfileLabel.Name, probe.Attr{Key: probe.AttrRole, Value: "request"}) {
		if m.Value > 0 && m.Attr(probe.AttrMethod) == "(*Store).Work" {
			return
		}
	}
	t.Error("the work has a sample and its labels have none")
}

// There is one profiler in a process, and its owner keeps it.
func TestProfileThatIsTaken(t *testing.T) {
	var mine bytes.Buffer
	if err := pprof.StartCPUProfile(&mine); err != nil {
		t.Skipf("the test itself is profiled: %v", err)
	}
	run, err := Start(nil, Options{CPUProfile: true, Interval: -1})
	if err != nil {
		t.Fatal(err)
	}
	rep := run.Close()
	pprof.StopCPUProfile()
	if _, err := cpuprof.Decode(&mine); err != nil {
		t.Errorf("the owner's profile: %v", err)
	}
	var why []string
	for _, a := range rep.Reading().Absent {
		if strings.HasPrefix(a.Name, "tidestaff.profile.") {
			why = append(why, a.Reason)
		}
	}
	const taken = "cpu profiling already in use"
	if diff := cmp.Diff([]string{taken, taken}, why); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
}

// Nobody asked for one.
func TestNoProfile(t *testing.T) {
	run, err := Start(nil, Options{Interval: -1})
	if err != nil {
		t.Fatal(err)
	}
	for m := range run.Close().Reading().Find(descProfileLabel.Name) {
		t.Errorf("got %v", m)
	}
}
