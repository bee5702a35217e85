package cgroup

import (
	"runtime"
	"testing"
	"time"
)

// cpuPerOp reports the thread's CPU time beside the time that passed, which on a
// busy machine is somebody else's.
func cpuPerOp(b *testing.B) func() {
	runtime.LockOSThread()
	before, ok := threadCPU()
	return func() {
		if after, _ := threadCPU(); ok {
			b.ReportMetric(float64(after-before)/float64(b.N), "cpu-ns/op")
		}
		runtime.UnlockOSThread()
	}
}

// BenchmarkTick is the mean of ten ticks of the sampler, with what it takes to
// measure itself.
func BenchmarkTick(b *testing.B) {
	b.Run("by=tidestaff", func(b *testing.B) {
		p := New(Options{NoReset: true, Interval: time.Hour})
		w := watch(b, p)
		defer w.Close()
		b.ReportAllocs()
		defer cpuPerOp(b)()
		for b.Loop() {
			p.tick()
		}
	})
}

// BenchmarkWindow opens and closes a window beside another one.
func BenchmarkWindow(b *testing.B) {
	p := New(Options{})
	w := watch(b, p)
	defer w.Close()
	benchmarkWindow(b, p)
}

// BenchmarkFirstWindow opens and closes one that has to find the files.
func BenchmarkFirstWindow(b *testing.B) { benchmarkWindow(b, New(Options{})) }

func benchmarkWindow(b *testing.B, p *Probe) {
	b.Run("by=tidestaff", func(b *testing.B) {
		b.ReportAllocs()
		defer cpuPerOp(b)()
		for b.Loop() {
			w, err := p.Watch()
			if err != nil {
				b.Fatal(err)
			}
			w.Close()
		}
	})
}
