package cgroup

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/tidestaff/tidestaff/internal/proc"
	"github.com/tidestaff/tidestaff/probe"
)

// The time between two looks at a command without a peak of its own. Its mark is
// the maximum up to a look, so that only what it grew by between the last one and
// its end is missed: much of what a command of some milliseconds took, so that
// looks begin close together, and little of a longer one's.
const (
	firstLook = time.Millisecond
	lookEvery = 10 * time.Millisecond
)

// mostLooked bounds how many processes of a command are looked at.
const mostLooked = 64

// Looks poll the high-water marks of a command's processes. The largest of
// them is a lower bound of what the command took: the sum would count shared
// pages several times, and the parts at different instants.
type looks struct {
	list func([]int) []int // the processes
	quit chan struct{}
	done sync.WaitGroup

	mu      sync.Mutex
	pids    []int // scratch
	files   map[int]*proc.File
	peak    uint64
	samples uint64
	last    int64 // probe.Now of the last look
	gap     int64
}

// startLooks takes a first look and begins to poll.
func startLooks(c *cell, pid int) *looks {
	l := &looks{files: map[int]*proc.File{}, quit: make(chan struct{}), last: probe.Now()}
	l.list = func(dst []int) []int { return descendants(dst, pid) }
	if c != nil {
		l.list = c.processes
	}
	l.look()
	l.done.Go(l.poll)
	return l
}

// poll looks until stop, or until there is nothing left to look at.
func (l *looks) poll() {
	for d := firstLook; ; d = min(2*d, lookEvery) {
		select {
		case <-l.quit:
			return
		case <-time.After(d):
			if !l.look() {
				return
			}
		}
	}
}

// look reads the mark of every process; false if all have ended. The descriptors
// are kept: a number in /proc may be another process's tomorrow, a descriptor
// never is.
func (l *looks) look() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pids = l.list(l.pids[:0])
	if len(l.pids) > mostLooked {
		l.pids = l.pids[:mostLooked]
	}
	for pid, f := range l.files {
		if !slices.Contains(l.pids, pid) {
			l.drop(pid, f)
		}
	}
	seen := false
	for _, pid := range l.pids {
		if v, ok := l.mark(pid); ok {
			l.peak, seen = max(l.peak, v), true
		}
	}
	if seen {
		now := probe.Now()
		l.samples, l.gap, l.last = l.samples+1, max(l.gap, now-l.last), now
	}
	return seen
}

// mark is the high-water mark of a process; false if it has ended.
func (l *looks) mark(pid int) (uint64, bool) {
	f := l.files[pid]
	if f == nil {
		var err error
		if f, err = proc.Open(processFile(pid, "status")); err != nil {
			return 0, false
		}
		l.files[pid] = f
	}
	b, err := f.Read()
	if err != nil {
		l.drop(pid, f)
		return 0, false
	}
	s, err := proc.ParseStatus(b)
	return s.HWM.V, err == nil && s.HWM.OK
}

func (l *looks) drop(pid int, f *proc.File) {
	_ = f.Close() // opened for reading
	delete(l.files, pid)
}

// stop ends the polling and gives the peak.
func (l *looks) stop() Value {
	close(l.quit)
	l.done.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	for pid, f := range l.files {
		l.drop(pid, f)
	}
	if l.samples == 0 {
		return Value{Reason: noLooks()}
	}
	gap := max(l.gap, probe.Now()-l.last)
	return Value{V: float64(l.peak), OK: true, Prov: probe.Provenance{
		How: probe.Sampled, Method: "VmHWM polled", Samples: l.samples, MaxGap: time.Duration(gap),
	}}
}

// noLooks is why a command was never seen.
func noLooks() string {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		return reason(err)
	}
	return "the command ended before it could be looked at"
}

// descendants appends a process and those that descend from it. A kernel
// without CONFIG_PROC_CHILDREN tells of none, and one whose parent has ended is
// not found.
func descendants(dst []int, pid int) []int {
	dst = append(dst, pid)
	for i := len(dst) - 1; i < len(dst) && len(dst) < mostLooked; i++ {
		threads, err := os.ReadDir(processFile(dst[i], "task"))
		if err != nil {
			continue
		}
		for _, t := range threads { // each has the children that it forked itself
			b, _ := proc.ReadFile(processFile(dst[i], filepath.Join("task", t.Name(), "children")))
			for field := range bytes.FieldsSeq(b) {
				if child, err := strconv.Atoi(string(field)); err == nil {
					dst = append(dst, child)
				}
			}
		}
	}
	return dst
}

func processFile(pid int, name string) string { return fmt.Sprintf("/proc/%d/%s", pid, name) }
