package probetest

import (
	"fmt"
	"time"

	"github.com/tidestaff/tidestaff/internal/proc"
)

// A look is what the machine and the process had done at an instant.
type look struct {
	busy, steal, capacity, own time.Duration // CPU time
	err                        error         // why nothing is known
}

// A noise is what else happened on the machine while something was measured.
type noise struct {
	others, steal float64 // shares of the CPU time that the machine had
	throttled     uint64  // periods in which a CPU quota ran out
	err           error
}

// What a machine may be busy with and still pass for quiet.
const (
	quietOthers = 0.15
	quietSteal  = 0.02
	// leastCapacity is the CPU time below which the kernel's steps of 10 ms, one
	// on each CPU, would be a large part of the shares.
	leastCapacity = 500 * time.Millisecond
)

// between is the noise from one look to a later one.
func between(from, to look) noise {
	capacity := to.capacity - from.capacity
	switch {
	case from.err != nil:
		return noise{err: from.err}
	case to.err != nil:
		return noise{err: to.err}
	case capacity <= 0:
		return noise{err: fmt.Errorf("the window was too short to tell")}
	}
	share := func(d time.Duration) float64 { return min(max(float64(d)/float64(capacity), 0), 1) }
	return noise{
		others: share((to.busy - from.busy) - (to.own - from.own)),
		steal:  share(to.steal - from.steal),
	}
}

// sinceLook is the noise since from. If that is too short to tell, it waits for as
// long as it takes, in which the process itself does nothing.
func sinceLook(from look) noise {
	to := lookAtHost()
	for end := time.Now().Add(time.Second); from.err == nil && to.err == nil &&
		to.capacity-from.capacity < leastCapacity && time.Now().Before(end); to = lookAtHost() {
		time.Sleep(20 * time.Millisecond)
	}
	return between(from, to)
}

// A quotaWatch counts the periods in which the CPU quota of the process's group, or
// of one above it that can be seen, runs out.
type quotaWatch struct {
	quota *proc.Throttlings // nil without control groups, in the root group, without quotas
	from  uint64
}

func watchQuota() *quotaWatch {
	q, err := proc.OpenOwnThrottlings("/")
	if err != nil {
		return &quotaWatch{}
	}
	t, _ := q.Read() // without a quota so far it stands at zero
	return &quotaWatch{q, t.Throttled}
}

// ranOut says in how many periods one has run out.
func (w *quotaWatch) ranOut() uint64 {
	if w.quota == nil {
		return 0
	}
	t, err := w.quota.Read()
	if err != nil { // still no quota
		return 0
	}
	return t.Throttled - w.from
}

func (w *quotaWatch) close() { w.quota.Close() }

// disturbs says why times are not to be judged, "" if the machine was quiet.
func (n noise) disturbs() string {
	switch {
	case n.err != nil:
		return "the noise of the machine is not known: " + n.err.Error()
	case n.throttled > 0:
		return fmt.Sprintf("the process ran out of its CPU quota in %d periods", n.throttled)
	case n.others >= quietOthers, n.steal >= quietSteal:
		return "the machine was noisy: " + n.text()
	}
	return ""
}

func (n noise) text() string {
	return fmt.Sprintf("others used %.0f %% of the CPUs, %.0f %% was stolen", 100*n.others, 100*n.steal)
}
