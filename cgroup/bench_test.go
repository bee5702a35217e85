package cgroup

import (
	"runtime"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/internal/proc"
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

// BenchmarkReading is everything that a boundary of a window reads.
func BenchmarkReading(b *testing.B) {
	p := New(Options{Interval: time.Hour})
	w := watch(b, p)
	defer w.Close()
	b.ReportAllocs()
	defer cpuPerOp(b)()
	for b.Loop() {
		p.sample()
	}
}

// BenchmarkCheap is what the sampler reads at nine of ten ticks, and BenchmarkTick
// the mean of ten, with what the sampler takes to measure itself.
func BenchmarkCheap(b *testing.B) { benchmarkTick(b, func(p *Probe) { p.look(false) }) }

// BenchmarkTick: see BenchmarkCheap.
func BenchmarkTick(b *testing.B) { benchmarkTick(b, (*Probe).tick) }

func benchmarkTick(b *testing.B, f func(*Probe)) {
	p := New(Options{NoReset: true, Interval: time.Hour})
	w := watch(b, p)
	defer w.Close()
	b.ReportAllocs()
	defer cpuPerOp(b)()
	for b.Loop() {
		f(p)
	}
}

// BenchmarkFloor reads the cheap tier's two files and parses nothing: what is
// left of BenchmarkCheap is ours, and on a busy machine the two are compared.
func BenchmarkFloor(b *testing.B) {
	files := []string{"/proc/self/statm"}
	if groups, err := proc.Detect("/"); err == nil {
		if g, err := groups.LookupOwn("memory"); err == nil {
			files = append(files, usageFile(g))
		}
	}
	var kept []*proc.File
	for _, name := range files {
		f, err := proc.Open(name)
		if err != nil {
			b.Skip(err)
		}
		defer f.Close()
		kept = append(kept, f)
	}
	defer cpuPerOp(b)()
	for b.Loop() {
		for _, f := range kept {
			if _, err := f.Read(); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkWindow opens and closes a window beside another one, and
// BenchmarkFirstWindow one that has to find the files.
func BenchmarkWindow(b *testing.B) {
	p := New(Options{})
	w := watch(b, p)
	defer w.Close()
	benchmarkWindow(b, p)
}

// BenchmarkFirstWindow: see BenchmarkWindow.
func BenchmarkFirstWindow(b *testing.B) { benchmarkWindow(b, New(Options{})) }

func benchmarkWindow(b *testing.B, p *Probe) {
	b.ReportAllocs()
	for b.Loop() {
		w, err := p.Watch()
		if err != nil {
			b.Fatal(err)
		}
		w.Close()
	}
}
