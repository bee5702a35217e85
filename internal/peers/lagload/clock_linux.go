package lagload

import (
	"fmt"
	"math"

	"golang.org/x/sys/unix"

	"github.com/tidestaff/tidestaff/probe"
)

// A clock is CLOCK_MONOTONIC, which all processes of a machine share. The Go
// runtime reads the same one, from a start of its own: the distance is measured
// once, because reading it by a system call would let the goroutine lose its
// processor.
type clock struct{ ahead int64 }

// newClock takes the best of several looks, each between two readings of our own
// clock.
func newClock() (clock, error) {
	var c clock
	best := int64(math.MaxInt64)
	for range 100 {
		var t unix.Timespec
		before := probe.Now()
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
			return c, fmt.Errorf("clock_gettime(CLOCK_MONOTONIC): %w", err)
		}
		after := probe.Now()
		if after-before < best {
			best, c.ahead = after-before, t.Nano()-(before+after)/2
		}
	}
	return c, nil
}

// now is the time in nanoseconds.
func (c clock) now() int64 { return probe.Now() + c.ahead }
