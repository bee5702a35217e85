package lag

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"time"

	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

// A sampler reads the evidence. Tests script it.
type sampler interface {
	// sample fills a snapshot. It is called at each slot and must not allocate.
	sample(s *snapshot)
	// facts are read once an episode.
	facts() facts
	close()
}

// facts are levels at the end of an episode, for the person who reads of it. A
// number that could not be read is 0.
type facts struct {
	rss     uint64  // bytes
	load    float64 // tasks that run or want to, mean of a minute
	missing []string
}

// The runtime's metrics, by their place in the samples.
const (
	stoppingGC = iota
	stoppingOther
	totalGC
	totalOther
	gcCycles
	gcCPU
	gcAssist
	goroutineCount
	runnableCount
	metricCount
)

var metricNames = [metricCount]string{
	stoppingGC: "/sched/pauses/stopping/gc:seconds", stoppingOther: "/sched/pauses/stopping/other:seconds",
	totalGC: "/sched/pauses/total/gc:seconds", totalOther: "/sched/pauses/total/other:seconds",
	gcCycles: "/gc/cycles/total:gc-cycles", gcCPU: "/cpu/classes/gc/total:cpu-seconds",
	gcAssist: "/cpu/classes/gc/mark/assist:cpu-seconds", goroutineCount: "/sched/goroutines:goroutines",
	runnableCount: "/sched/goroutines/runnable:goroutines",
}

// stealEvery is how often /proc/stat is read: it counts in steps of 10 ms, and
// costs hundreds of microseconds on a large machine.
const stealEvery = time.Second

// A systemSampler reads the runtime's metrics and the kernel's files, whose
// descriptors it keeps.
type systemSampler struct {
	samples   []metrics.Sample // reused, with the histograms in them, which would be 5 KB each time
	cycles    uint64           // at the last snapshot
	starts    uint64           // GC pauses when the last cycle ended
	threads   *proc.Threads
	throttle  *proc.Throttlings
	throttled proc.Taken // at the last reading that succeeded
	pressure  *proc.File
	stat      *proc.File
	statm     *proc.File
	loadavg   *proc.File
	stolen    time.Duration
	stolenAt  int64
	hasSteal  measure
	most      time.Duration // the machine was suspended
	missing   []string
}

// newSampler opens what there is; what there is not is listed as missing.
func newSampler() sampler {
	s := &systemSampler{samples: make([]metrics.Sample, metricCount)}
	for i := range s.samples {
		s.samples[i].Name = metricNames[i]
	}
	metrics.Read(s.samples)
	for i := range s.samples {
		if s.samples[i].Value.Kind() == metrics.KindBad {
			s.lack(metricNames[i], fmt.Errorf("not in %s", runtime.Version()))
		}
	}
	s.openKernel("/")
	return s
}

// openKernel opens the kernel's files under root, which is "/" but for tests. A
// file that opens may still refuse to be read (pressure files where the kernel was
// booted with psi=0), so that each is read once.
func (s *systemSampler) openKernel(root string) {
	if _, err := proc.ReadUsage(); err != nil {
		s.lack("CPU time", err)
	}
	if _, err := proc.ReadSuspended(); err != nil {
		s.lack("suspended time", err)
	}
	var err error
	if s.threads, err = proc.OpenThreads(root); err != nil {
		s.lack("run delay", err)
	}
	if s.throttle, err = proc.OpenOwnThrottlings(root); err != nil {
		s.lack("throttling", err)
	}
	for _, f := range []struct {
		dst        **proc.File
		name, what string
	}{
		{&s.pressure, "proc/pressure/cpu", "CPU pressure"}, {&s.stat, "proc/stat", "steal"},
		{&s.statm, "proc/self/statm", "RSS"}, {&s.loadavg, "proc/loadavg", "load"},
	} {
		if *f.dst, err = proc.Open(filepath.Join(root, f.name)); err == nil {
			_, err = (*f.dst).Read()
		}
		if err != nil {
			s.lack(f.what, err)
			_ = (*f.dst).Close()
			*f.dst = nil
		}
	}
}

func (s *systemSampler) lack(what string, err error) {
	s.missing = append(s.missing, fmt.Sprintf("%s: %v", what, err))
}

// sample reads everything. What cannot be read this time (a thread that ended
// between two system calls, a group without a quota so far) is absent from this
// snapshot, and so from the evidence that would need it.
func (s *systemSampler) sample(dst *snapshot) {
	*dst = snapshot{at: probe.Now(), procs: runtime.GOMAXPROCS(0)}
	s.sampleKernel(dst)
	s.sampleRuntime(dst)
}

func (s *systemSampler) sampleKernel(dst *snapshot) {
	if u, err := proc.ReadUsage(); err == nil {
		dst.cpu, dst.faults, dst.has = u.CPU, u.MajorFaults, dst.has|hasCPU
	}
	if d, err := proc.ReadSuspended(); err == nil {
		// A reading may be too small; the time never shrinks.
		s.most = max(s.most, d)
		dst.suspended, dst.has = s.most, dst.has|hasSuspended
	}
	// The sum over the threads, because any of them may be the one that holds a
	// processor and was not let on a CPU.
	if s.threads != nil {
		if w, err := s.threads.Read(); err == nil {
			dst.runDelay, dst.threads, dst.has = w.Waited, w.Exist, dst.has|hasRunDelay
		}
	}
	if s.throttle != nil {
		// Groups that have had no quota so far have counters that stand at zero,
		// which is what the first period is counted from.
		if t, err := s.throttle.Read(); err == nil {
			s.throttled, dst.has = t, dst.has|hasThrottled
		}
		dst.throttled, dst.above = s.throttled.Time, s.throttled.Above
		dst.periods, dst.exhausted = s.throttled.Periods, s.throttled.Throttled
	}
	// That of the whole machine, for the person. No rule goes by it: it is added late,
	// and not the process's.
	if s.pressure != nil {
		if b, err := s.pressure.Read(); err == nil {
			if p, err := proc.ParsePressure(b); err == nil && p.Some.Total.OK {
				dst.pressure = time.Duration(p.Some.Total.V) * time.Microsecond
				dst.has |= hasPressure
			}
		}
	}
	s.sampleSteal(dst)
}

// sampleSteal carries the last reading on until it is a second old; the snapshot
// says from when it is.
func (s *systemSampler) sampleSteal(dst *snapshot) {
	if s.stat != nil && (s.hasSteal == 0 || dst.at-s.stolenAt >= int64(stealEvery)) {
		s.stolenAt, s.hasSteal = dst.at, 0
		if b, err := s.stat.Read(); err == nil {
			if c, err := proc.ParseHostCPU(b); err == nil {
				s.stolen, s.hasSteal = c.Steal, hasSteal
			}
		}
	}
	dst.steal, dst.stealAt, dst.has = s.stolen, s.stolenAt, dst.has|s.hasSteal
}

// sampleRuntime reads the runtime's metrics, all of one instant, in 2 µs. A metric
// that this release of Go does not have has the kind KindBad.
func (s *systemSampler) sampleRuntime(dst *snapshot) {
	metrics.Read(s.samples)
	if s.is(stoppingGC, metrics.KindFloat64Histogram) && s.is(stoppingOther, metrics.KindFloat64Histogram) &&
		s.is(totalGC, metrics.KindFloat64Histogram) && s.is(totalOther, metrics.KindFloat64Histogram) {
		dst.stoppingGC, dst.stoppingOther = s.pauses(stoppingGC), s.pauses(stoppingOther)
		dst.totalGC, dst.totalOther = s.pauses(totalGC), s.pauses(totalOther)
		dst.has |= hasPauses
	}
	if s.is(gcCycles, metrics.KindUint64) && s.is(gcCPU, metrics.KindFloat64) && s.is(gcAssist, metrics.KindFloat64) {
		dst.cycles, dst.has = s.samples[gcCycles].Value.Uint64(), dst.has|hasGC
		dst.gcCPU, dst.assist = s.seconds(gcCPU), s.seconds(gcAssist)
		// A cycle stops the world twice, and is counted at its end. Of those that came
		// and went between two snapshots nothing is left to be told.
		if dst.cycles != s.cycles {
			s.cycles, s.starts = dst.cycles, dst.stoppingGC.n
		}
		dst.marking = dst.stoppingGC.n > s.starts // stopped once to begin, not yet to end
	}
	if s.is(goroutineCount, metrics.KindUint64) {
		dst.goroutines = int(s.samples[goroutineCount].Value.Uint64())
	}
	if s.is(runnableCount, metrics.KindUint64) {
		dst.runnable, dst.has = int(s.samples[runnableCount].Value.Uint64()), dst.has|hasRunnable
	}
}

// is tells whether a metric has the kind that is expected of it.
func (s *systemSampler) is(i int, k metrics.ValueKind) bool { return s.samples[i].Value.Kind() == k }

// seconds is a metric in CPU seconds. The classes are sums over processors.
func (s *systemSampler) seconds(i int) time.Duration {
	return time.Duration(s.samples[i].Value.Float64() * 1e9)
}

// pauses adds up a histogram of the runtime's, whose buckets are a quarter of
// their values wide.
func (s *systemSampler) pauses(i int) pauses {
	h := s.samples[i].Value.Float64Histogram()
	var p pauses
	sum := 0.0
	for i, n := range h.Counts {
		if n == 0 {
			continue
		}
		low, high := max(h.Buckets[i], 0), h.Buckets[i+1]
		if math.IsInf(high, 1) { // the last bucket: at least that
			high = low
		}
		p.n += n
		sum += float64(n) * (low + high) / 2
	}
	p.sum = time.Duration(sum * 1e9)
	return p
}

// facts are for the reader of the event, and no rule needs them. They are two more files, which would cost more than they say at every slot.
func (s *systemSampler) facts() facts {
	f := facts{missing: s.missing}
	if s.statm != nil {
		if b, err := s.statm.Read(); err == nil {
			if m, err := proc.ParseStatm(b, os.Getpagesize()); err == nil {
				f.rss = m.RSS
			}
		}
	}
	if s.loadavg != nil {
		if b, err := s.loadavg.Read(); err == nil {
			if l, err := proc.ParseLoadAvg(b); err == nil {
				f.load = l.One
			}
		}
	}
	return f
}

func (s *systemSampler) close() {
	s.threads.Close()
	s.throttle.Close()
	for _, f := range []*proc.File{s.pressure, s.stat, s.statm, s.loadavg} {
		_ = f.Close() // opened for reading
	}
}
