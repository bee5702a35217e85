package memory

import (
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/cgroup"
	"github.com/tidestaff/tidestaff/internal/peers/cputime"
	"github.com/tidestaff/tidestaff/probe"
)

// One benchmark per answer, each with all who have it.

func BenchmarkRSS(b *testing.B)        { bench(b, answerRSS()) }
func BenchmarkRSSSplit(b *testing.B)   { bench(b, answerStatus()) }
func BenchmarkProcessIO(b *testing.B)  { bench(b, answerIO()) }
func BenchmarkGroupUsage(b *testing.B) { bench(b, answerUsage()) }
func BenchmarkGroupSplit(b *testing.B) { bench(b, answerSplit()) }
func BenchmarkGroupCPU(b *testing.B)   { bench(b, answerCPU()) }
func BenchmarkSample(b *testing.B) {
	b.Run("by=tidestaff", sampler)
	bench(b, answerSample())
}

// sampler is what a sample costs the probe's own sampler, by its own account: it
// reads more than the level at one in ten. Its time is all that there is, since the
// wall time is that of waiting for it.
func sampler(b *testing.B) {
	const every = time.Millisecond
	needGroup(b)
	w, err := cgroup.New(cgroup.Options{Interval: every}).Watch()
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	var r probe.Reading
	b.ReportAllocs()
	for b.Loop() {
		time.Sleep(every)
	}
	w.Read(&r)
	var cpu, samples float64
	for m := range r.Find("tidestaff.sampler.cpu.time") {
		cpu = m.Value * 1e9
	}
	for m := range r.Find("tidestaff.sampler.interval") {
		samples = float64(m.Dist.Count())
	}
	if samples == 0 || cpu == 0 {
		b.Skipf("no samples, or their CPU time is not known: %v", r.Absent)
	}
	b.ReportMetric(cpu/samples, "ns/op")
	b.ReportMetric(cpu/samples, "cpu-ns/op")
}

func BenchmarkEverything(b *testing.B) { bench(b, answerAll()) }

func bench(b *testing.B, a answer) {
	for _, who := range a.askers {
		b.Run("by="+who.by, func(b *testing.B) {
			needGroup(b)
			ask := opened(b, who)
			var got amounts
			b.ReportAllocs()
			before, ok := cputime.Now()
			for b.Loop() {
				if err := ask(&got); err != nil {
					b.Fatal(err)
				}
			}
			if after, _ := cputime.Now(); ok {
				b.ReportMetric(float64(after-before)/float64(b.N), "cpu-ns/op")
			}
		})
	}
}

// opened opens an asker for the length of a test.
func opened(t testing.TB, who asker) ask {
	t.Helper()
	ask, end, err := who.open()
	if err != nil {
		t.Fatalf("%s: %v", who.by, err)
	}
	t.Cleanup(end)
	return ask
}
