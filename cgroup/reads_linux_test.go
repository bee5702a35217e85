package cgroup

import (
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/internal/proc"
)

// readCalls makes a function that counts the read system calls of another one,
// which the kernel does for each thread by itself. The test keeps its thread
// until it ends.
func readCalls(t testing.TB) func(f func()) uint64 {
	t.Helper()
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	file, err := proc.Open("/proc/thread-self/io")
	if err != nil {
		t.Skipf("needs the kernel's count of a thread's reads: %v", err)
	}
	t.Cleanup(func() { file.Close() })
	count := func() uint64 {
		b, err := file.Read()
		if err != nil {
			t.Fatal(err)
		}
		io, err := proc.ParseIO(b)
		if err != nil || !io.ReadCalls.OK {
			t.Fatalf("got %q, %v, want a number of reads", b, err)
		}
		return io.ReadCalls.V
	}
	count() // whose buffer is as large as it will be
	own := count()
	own = count() - own
	return func(f func()) uint64 {
		before := count()
		f()
		return count() - before - own
	}
}

// TestReads holds the system calls that a sample and a reading cost, which is
// most of what they cost: each file that has something to say is read once, and
// limits and the process's place only when they are due. A file more here is a
// microsecond more for everybody.
func TestReads(t *testing.T) {
	for _, tt := range []struct {
		fixture                    string
		cheap, rich, reading, full uint64
	}{
		// Cheap is statm and memory.current. Rich adds memory.stat, memory.events,
		// memory.swap.current and pids.current. A reading has status instead of
		// statm, and adds io, both peaks of memory, pids.peak, cpu.stat, io.stat
		// and three files of pressure. Full are /proc/self/cgroup, and memory.max,
		// memory.high, pids.max and cpu.max of two levels.
		{"v2", 2, 6, 15, 9},
		// Nobody tells of kills in a copy of version 1's files, so that a cheap
		// sample reads memory.oom_control and memory.failcnt as well. Rich adds
		// memory.stat and pids.current. A reading adds max_usage_in_bytes, both
		// files of cpuacct, cpu.stat and two of blkio. Full are cgroup, pids.max
		// and the two files of the quota.
		{"v1", 4, 6, 12, 4},
		// No events, no tasks, no io and no pressure: statm and usage_in_bytes;
		// memory.stat; cpu.stat of version 2.
		{"hybrid", 2, 3, 4, 1},
		// Of a machine without groups: statm; status.
		{"sandbox", 1, 1, 1, 1},
	} {
		t.Run(tt.fixture, func(t *testing.T) {
			calls := readCalls(t)
			p := New(Options{Root: fixture(t, tt.fixture), Interval: time.Hour}) // the samples are the test's
			p.limitsEvery = time.Hour
			defer watch(t, p).Close()
			for _, s := range []struct {
				what string
				f    func()
				want uint64
			}{
				{"a cheap sample", func() { p.look(false) }, tt.cheap},
				{"a rich sample", func() { p.look(true) }, tt.rich},
				{"a reading", p.sample, tt.reading},
				{"a reading with what is due", func() { due(p); p.sample() }, tt.reading + tt.full},
			} {
				if got := calls(s.f); got != s.want {
					t.Errorf("%s: got %d reads, want %d", s.what, got, s.want)
				}
			}
		})
	}
}

// due makes everything due that is looked at now and then only.
func due(p *Probe) {
	p.place.due = 0
	for _, s := range p.sources {
		s.due = 0
	}
}

// TestRealRemovedReads: the files of a group that has been removed are not read
// again and again; somebody would have to make the group anew first. Only the mark
// of its peak is tried at each rich sample.
func TestRealRemovedReads(t *testing.T) {
	const rich = 2
	g := ownMemoryGroup(t)
	calls := readCalls(t)
	p := New(Options{Path: g.Path, Interval: time.Hour})
	defer watch(t, p).Close()
	ticks := func() {
		for range rich * richEvery {
			p.tick()
		}
	}
	if n := calls(ticks); n < rich*richEvery {
		t.Errorf("got %d reads of a group that is there", n)
	}
	if err := os.Remove(g.Dir); err != nil {
		t.Fatal(err)
	}
	p.sample() // finds out
	if n := calls(ticks); n > rich {
		t.Errorf("got %d reads of a group that is gone", n)
	}
}
