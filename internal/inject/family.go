package inject

import (
	"errors"
	"os/exec"
	"time"
)

// A Family is a kind of stall.
type Family struct {
	// Name is short and for a table.
	Name string
	// Cause is the first cause that a probe should name.
	Cause string
	// Holder is the operation of the child's that stalls its loop, which a probe should
	// show in flight; empty where it is not a loop that is stalled.
	Holder string

	// inside prepares, which is not measured, and returns what stalls the child
	// for about d, or what the child does while it is stalled from outside.
	inside func() (stall func(d time.Duration))
	// loop is set where it is a loop that is stalled and not the scheduler: it
	// makes the loop, and returns what is done to that.
	loop func() (through func(beat func()), stall func(d time.Duration))
	// outside prepares to stall a child that has not been started, and returns
	// what does it once it runs, and what cleans up. No stall means that what the
	// child does stalls it, where it has been put.
	outside func(child *exec.Cmd) (stall func(pid int, d time.Duration) error, clean func(), err error)
	// check is asked after the stall whether it has happened as it should; nil
	// where it cannot fail to.
	check func(d time.Duration) bool
	// enter is done by the child before anything else.
	enter func() error
}

// Families are all families, those from inside first.
func Families() []Family {
	return []Family{
		{Name: "gc pause", Cause: "GC stop-the-world", inside: gcPause, check: stoppedBy("/sched/pauses/stopping/gc:seconds")},
		{Name: "other pause", Cause: "stop-the-world", inside: otherPause, check: stoppedBy("/sched/pauses/stopping/other:seconds")},
		{Name: "gc work", Cause: "GC work", inside: gcWork},
		{Name: "run queue", Cause: "run queue", inside: runQueue},
		{Name: "cpu", Cause: "CPU-bound goroutines", inside: spin},
		{Name: "memory", Cause: "non-preemptible work", inside: wipe},
		{Name: "lock", Cause: "waiting in the application", Holder: "compact", loop: lockedLoop},
		{Name: "dispatcher", Cause: "waiting in the application", Holder: "rebuild", loop: busyDispatcher},
		{Name: "sigstop", Cause: "process stopped", outside: stopped},
		{Name: "host", Cause: "other processes on the host", inside: busy, outside: starved, enter: yieldToAll},
		{Name: "quota", Cause: "CPU quota", inside: spin, outside: throttled},
		{Name: "quota above", Cause: "CPU quota", inside: spin, outside: throttledAbove},
	}
}

// ErrMissed says that an injection did not happen as it should: the world was
// stopped in the instant between two passes over the memory. It is to be repeated.
var ErrMissed = errors.New("the injection missed")

// errNotHere is the reason why a family cannot be injected on this machine.
var errNotHere = errors.ErrUnsupported
