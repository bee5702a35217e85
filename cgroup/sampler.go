package cgroup

import (
	"runtime"
	"sync"
	"time"

	"github.com/tidestaff/tidestaff/probe"
)

// richEvery is how many ticks there are to one that also reads the dear files.
const richEvery = 10

// A sampler calls a function at a fixed interval from a goroutine of its own.
// When the process gets no CPU for a while, calls are late or left out: what is
// sampled knows its longest gap, and so does the sampler's own distribution.
type sampler struct {
	quit chan struct{}
	done sync.WaitGroup
}

func startSampler(every time.Duration, f func()) *sampler {
	s := &sampler{quit: make(chan struct{})}
	s.done.Go(func() {
		t := time.NewTicker(every)
		defer t.Stop()
		for {
			select {
			case <-s.quit:
				return
			case <-t.C:
				f()
			}
		}
	})
	return s
}

// stop ends the goroutine and waits for it.
func (s *sampler) stop() {
	close(s.quit)
	s.done.Wait()
}

// A timekeeper is what the sampler reports of itself.
type timekeeper struct {
	interval *probe.Recorder
	cpu      *probe.Counter
	last     int64 // probe.Now of the last sample, or of the sampler's start
}

// openTimekeeper makes the sampler's own metrics.
func (p *Probe) openTimekeeper() {
	p.self = timekeeper{interval: p.core.Recorder(descInterval), cpu: p.core.Counter(descSamplerCPU), last: probe.Now()}
	_, ok := threadCPU()
	p.offer(descInterval, p.opts.Interval > 0, "Options.Interval is negative: there are no samples between readings")
	p.offer(descSamplerCPU, ok && p.opts.Interval > 0, "there are no samples, or the CPU time of a thread is not known")
}

// begin counts a sample and gives what end needs. Between the two, the goroutine
// keeps its thread, so that the thread's time is the sample's: other goroutines
// run on it only while the sample waits, which a read of a kernel file does not.
func (k *timekeeper) begin() time.Duration {
	now := probe.Now()
	k.interval.Record(now - k.last)
	k.last = now
	runtime.LockOSThread()
	cpu, _ := threadCPU()
	return cpu
}

func (k *timekeeper) end(before time.Duration) {
	if now, ok := threadCPU(); ok {
		k.cpu.Add(int64(now - before))
	}
	runtime.UnlockOSThread()
}
