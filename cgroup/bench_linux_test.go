package cgroup

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/internal/proc"
)

// What is read, and by how much it costs more than the bare system calls: the same
// files through kept descriptors, of which nothing is parsed.

// BenchmarkCheap is what the sampler reads at nine of ten ticks.
func BenchmarkCheap(b *testing.B) {
	benchmarkReads(b, cheapFiles(), func(p *Probe) { p.look(false) })
}

// BenchmarkRich is what it reads at the tenth.
func BenchmarkRich(b *testing.B) {
	benchmarkReads(b, richFiles(), func(p *Probe) { p.look(true) })
}

// BenchmarkReading is everything that a boundary of a window reads, but for what
// is looked at every 100 ms only, and sets back.
func BenchmarkReading(b *testing.B) { benchmarkReads(b, readingFiles(), (*Probe).sample) }

func benchmarkReads(b *testing.B, names []string, ours func(*Probe)) {
	var kept []*proc.File
	for _, name := range names {
		f, err := proc.Open(name)
		if err != nil {
			continue // nor does the probe have it
		}
		b.Cleanup(func() { f.Close() })
		kept = append(kept, f)
	}
	b.Run("by=kernel", func(b *testing.B) {
		b.ReportAllocs()
		defer cpuPerOp(b)()
		for b.Loop() {
			for _, f := range kept {
				if _, err := f.Read(); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("by=tidestaff", func(b *testing.B) {
		p := New(Options{Interval: time.Hour})
		w := watch(b, p)
		defer w.Close()
		p.limitsEvery = time.Hour
		p.sample() // after which none of those is due
		if got := readCalls(b)(func() { ours(p) }); got != uint64(len(kept)) {
			b.Skipf("cannot be compared: %d files, and the probe reads %d", len(kept), got)
		}
		b.ReportAllocs()
		defer cpuPerOp(b)()
		for b.Loop() {
			ours(p)
		}
	})
}

func cheapFiles() []string {
	return append(groupFiles("memory", "memory.usage_in_bytes", "memory.current"), "/proc/self/statm")
}

func richFiles() []string {
	return append(cheapFiles(), moreFiles()...)
}

// moreFiles are those that both a rich sample and a reading have.
func moreFiles() []string {
	return append(groupFiles("memory", "memory.stat memory.oom_control memory.failcnt memory.memsw.failcnt",
		"memory.stat memory.events memory.swap.current"), groupFiles("pids", "pids.current", "pids.current")...)
}

func readingFiles() []string {
	names := append(moreFiles(), "/proc/self/status", "/proc/self/io")
	for _, of := range [][3]string{
		{"memory", "memory.usage_in_bytes memory.max_usage_in_bytes", "memory.current memory.peak memory.swap.peak"},
		{"pids", "pids.peak", "pids.peak"},
		{"cpuacct", "cpuacct.usage cpuacct.stat", "cpu.stat"},
		{"cpu", "cpu.stat", ""}, // which is the same file in version 2
		{"blkio", "blkio.throttle.io_service_bytes_recursive blkio.throttle.io_serviced_recursive", ""},
		{"io", "", "io.stat"},
		{"", "", "cpu.pressure memory.pressure io.pressure"},
	} {
		names = append(names, groupFiles(of[0], of[1], of[2])...)
	}
	return names
}

// groupFiles are the named files of this process's group of a controller, by what
// they are called in each version; none if that group is not measured.
func groupFiles(controller, v1, v2 string) (names []string) {
	groups, err := proc.Detect("/")
	if err != nil {
		return nil
	}
	g, err := groups.LookupOwn(controller)
	if err != nil {
		return nil
	}
	list := v2
	if g.Version == 1 {
		list = v1
	}
	for name := range strings.FieldsSeq(list) {
		names = append(names, filepath.Join(g.Dir, name))
	}
	return names
}
