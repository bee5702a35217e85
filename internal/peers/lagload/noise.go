package lagload

import (
	"math"
	"time"

	"github.com/tidestaff/tidestaff/internal/peers/cputime"
	"github.com/tidestaff/tidestaff/internal/proc"
)

// A noise meter tells how much of the time in which the process wanted a
// processor another process had it: the sender, the clients, and whatever else
// the machine does.
type noise struct {
	threads *proc.Threads
	cpu     time.Duration
}

// newNoise begins to measure.
func newNoise() *noise {
	n := &noise{}
	n.cpu, _ = cputime.Now()
	n.threads, _ = proc.OpenThreads("/") // nil if the kernel does not tell
	return n
}

// end is the share so far, 0 to 1; NaN if it is not known.
func (n *noise) end() float64 {
	if n.threads == nil {
		return math.NaN()
	}
	defer n.threads.Close()
	w, err := n.threads.Read()
	cpu, ok := cputime.Now()
	if err != nil || !ok {
		return math.NaN()
	}
	return float64(w.Waited) / float64(w.Waited+cpu-n.cpu)
}
