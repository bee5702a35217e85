package lag

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/internal/proc/proctest"
)

// Evidence at each slot allocates nothing, whatever the machine has.
func TestSampleAllocs(t *testing.T) {
	h := &history{sampler: newSampler()}
	defer h.sampler.close()
	h.look()
	if n := testing.AllocsPerRun(200, func() { h.look() }); n >= 1 { // a thread that has come since may cost one
		t.Errorf("got %v allocations a snapshot, want 0", n)
	}
}

// The counters of this process move as they should.
func TestSystemSampler(t *testing.T) {
	s := newSampler()
	defer s.close()
	var before, after snapshot
	s.sample(&before)
	runtime.GC()
	runtime.GC()
	var sink []byte
	for limit := time.Now().Add(time.Minute); ; {
		sink = append(sink[:0], make([]byte, 1<<16)...)
		s.sample(&after)
		if after.cpu > before.cpu+5*ms || after.has&hasCPU == 0 || time.Now().After(limit) {
			break
		}
	}
	_ = sink
	if after.at <= before.at || after.procs != runtime.GOMAXPROCS(0) || after.goroutines < 1 {
		t.Errorf("got %+v after %+v", after, before)
	}
	if after.has&hasCPU != 0 && after.cpu <= before.cpu+5*ms {
		t.Errorf("got CPU time %v after %v", after.cpu, before.cpu)
	}
	if after.has&hasGC == 0 || after.cycles < before.cycles+2 || after.gcCPU <= before.gcCPU {
		t.Errorf("got %d cycles, %v, after %d, %v, want two more", after.cycles, after.gcCPU, before.cycles, before.gcCPU)
	}
	if after.has&hasPauses == 0 || after.totalGC.n < before.totalGC.n+4 || after.totalGC.sum <= before.totalGC.sum {
		t.Errorf("got pauses %+v after %+v, want four more", after.totalGC, before.totalGC)
	}
	if runtime.GOOS == "linux" && after.has&(hasCPU|hasSuspended) != hasCPU|hasSuspended {
		t.Errorf("got %b, want CPU time and suspended time", after.has)
	}
}

// What is not there is a reason and not a number.
func TestSamplerLacks(t *testing.T) {
	root := t.TempDir()
	s := newSampler().(*systemSampler)
	s.close()
	s.missing, s.threads, s.throttle = nil, nil, nil
	s.openKernel(root)
	defer s.close()
	var got snapshot
	s.sample(&got)
	if got.has&(hasRunDelay|hasThrottled|hasPressure|hasSteal) != 0 {
		t.Errorf("got %b of an empty root", got.has)
	}
	missing := strings.Join(s.facts().missing, "\n")
	for _, want := range []string{"run delay: ", "throttling: ", "CPU pressure: ", "steal: ", "RSS: ", "load: "} {
		if !strings.Contains(missing, want) {
			t.Errorf("got missing %q, want %q in it", missing, want)
		}
	}
}

// Metrics that a release of Go does not have are absent.
func TestSamplerOtherGo(t *testing.T) {
	s := newSampler().(*systemSampler)
	defer s.close()
	for i := range s.samples {
		s.samples[i].Name = "/none:seconds"
	}
	var got snapshot
	s.sample(&got)
	if got.has&(hasPauses|hasGC|hasRunnable) != 0 || got.goroutines != 0 || got.gcCPU != 0 {
		t.Errorf("got %+v of metrics that do not exist", got)
	}
}

// The kernel's numbers are taken from where they stand, in their units.
func TestSamplerFiles(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the kernel's files are Linux's")
	}
	root := t.TempDir()
	for _, f := range proctest.Parse(samplerFixture) {
		name := filepath.Join(root, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(f.Data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s := newSampler().(*systemSampler)
	s.close()
	s.missing = nil
	s.openKernel(root)
	defer s.close()
	var got snapshot
	s.sample(&got)
	if got.throttled != 3*time.Second || got.periods != 100 || got.exhausted != 30 || got.pressure != 70*ms || got.steal != 420*ms || got.threads != 1 {
		t.Errorf("got throttled %v in %d of %d periods, pressure %v, steal %v, %d threads, want 3s, 30 of 100, 70ms, 420ms, 1",
			got.throttled, got.exhausted, got.periods, got.pressure, got.steal, got.threads)
	}
	f := s.facts()
	if f.rss != uint64(200*os.Getpagesize()) || f.load != 1.5 || len(f.missing) != 0 {
		t.Errorf("got %+v, want an RSS of 200 pages, a load of 1.5", f)
	}
}

// A service without the cpu controller is bound by the quota of the slice that it is
// in.
func TestSamplerQuotaAbove(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the kernel's files are Linux's")
	}
	root := t.TempDir()
	if err := proctest.Write(root, sliceFixture); err != nil {
		t.Fatal(err)
	}
	s := newSampler().(*systemSampler)
	s.close()
	s.openKernel(root)
	defer s.close()
	var got snapshot
	s.sample(&got)
	if got.has&hasThrottled == 0 || got.throttled != 3*time.Second || got.above != 3*time.Second || got.exhausted != 30 {
		t.Errorf("got throttled %v, %v of it above, in %d periods, want 3s, all of it, 30; missing %q",
			got.throttled, got.above, got.exhausted, s.missing)
	}
}

const sliceFixture = `
-- proc/self/cgroup --
0::/limited.slice/app.service
-- proc/self/mountinfo --
30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw
-- sys/fs/cgroup/limited.slice/cpu.max --
50000 100000
-- sys/fs/cgroup/limited.slice/cpu.stat --
usage_usec 100
nr_periods 100
nr_throttled 30
throttled_usec 3000000
-- sys/fs/cgroup/limited.slice/app.service/cgroup.procs --
1
-- sys/fs/cgroup/limited.slice/app.service/cgroup.events --
populated 1
-- sys/fs/cgroup/limited.slice/app.service/cgroup.controllers --
memory pids
-- sys/fs/cgroup/limited.slice/app.service/cpu.stat --
usage_usec 100
`

const samplerFixture = `
-- proc/self/cgroup --
0::/app
-- proc/self/mountinfo --
30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw
-- sys/fs/cgroup/app/cgroup.procs --
1
-- sys/fs/cgroup/app/cgroup.events --
populated 1
-- sys/fs/cgroup/app/cgroup.controllers --
cpu
-- sys/fs/cgroup/app/cpu.stat --
usage_usec 100
nr_periods 100
nr_throttled 30
throttled_usec 3000000
-- proc/self/task/7/schedstat --
100 200 3
-- proc/pressure/cpu --
some avg10=0.00 avg60=0.00 avg300=0.00 total=70000
full avg10=0.00 avg60=0.00 avg300=0.00 total=0
-- proc/stat --
cpu  1 2 3 4 5 6 7 42 0 0
-- proc/self/statm --
1000 200 50 1 0 300 0
-- proc/loadavg --
1.50 0.70 0.20 1/100 4242
`

func BenchmarkEvidence(b *testing.B) {
	h := &history{sampler: newSampler()}
	defer h.sampler.close()
	b.ReportAllocs()
	for b.Loop() {
		h.look()
	}
}
