package cgroup

import "testing"

// BenchmarkReading is everything that a boundary of a window reads.
func BenchmarkReading(b *testing.B) {
	p := New(Options{})
	w := watch(b, p)
	defer w.Close()
	b.ReportAllocs()
	for b.Loop() {
		p.sample()
	}
}

// BenchmarkSample is what the sampler does between boundaries.
func BenchmarkSample(b *testing.B) {
	p := New(Options{NoReset: true})
	w := watch(b, p)
	defer w.Close()
	b.ReportAllocs()
	for b.Loop() {
		p.tick()
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
