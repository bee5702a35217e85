package lag

import (
	"math"
	"slices"
	"sync"
	"time"
)

const (
	floorLooks = 64 // the floor is the median of so many wake-ups
	floorFirst = 16 // and is known after so many
	idleShare  = 20 // a process is idle if it used less than one part in so many of one processor
)

// A floor is the idle lateness of this machine: how late the timer wakes a
// process that has nothing else to do. It says from where on a lag means
// anything; nothing is subtracted.
type floor struct {
	cpu func() (time.Duration, error) // the process's CPU time so far; tests replace it

	mu      sync.Mutex // the ticker looks, and whoever reads a window asks
	late    [floorLooks]int64
	n       int
	lastCPU time.Duration
	lastAt  int64
	err     error
}

// look takes a wake-up into account, if the process has been idle since the
// one before, and reports whether it has.
func (f *floor) look(late, woke int64) (idle bool) {
	cpu, err := f.cpu()
	f.mu.Lock()
	defer f.mu.Unlock()
	// Without its CPU time a process cannot be told to be idle, and then it is not.
	used, passed := int64(cpu-f.lastCPU), woke-f.lastAt
	known := f.lastAt != 0 && err == nil && f.err == nil
	f.lastCPU, f.lastAt, f.err = cpu, woke, err
	if idle = known && used*idleShare < passed; idle {
		f.late[f.n%floorLooks] = late
		f.n++
	}
	return idle
}

// value is the floor in nanoseconds, or the reason why it is not known.
func (f *floor) value() (int64, string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return 0, "whether the process is idle is not known: " + f.err.Error()
	}
	if f.n < floorFirst {
		return 0, "the process has not been idle at 16 slots so far"
	}
	// The median, since an idle machine has its own interrupts, which make some late.
	late := slices.Clone(f.late[:min(f.n, floorLooks)])
	slices.Sort(late)
	return late[len(late)/2], ""
}

// gauge publishes the floor, in seconds.
func (p *Probe) gauge() float64 {
	tr := p.running.Load()
	if tr == nil {
		return math.NaN()
	}
	ns, reason := tr.ticker.floor.value()
	p.core.Absent(idleFloor.Name, reason)
	if reason != "" {
		return math.NaN()
	}
	return float64(ns) / 1e9
}
