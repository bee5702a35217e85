package lag

import (
	"testing"
	"time"

	"github.com/tidestaff/tidestaff/probe"
	"github.com/tidestaff/tidestaff/probe/probetest"
)

func TestConform(t *testing.T) {
	const interval = 2 * ms
	probetest.Conform(t, func() probe.Probe {
		p := New(Options{Interval: interval})
		// A clock of whole milliseconds, so that the thousands of windows are
		// over a few different values and not over as many as there are slots:
		// reading those is slow under the race detector.
		p.now = func() int64 { return probe.Now() / int64(ms) * int64(ms) }
		return p
	}, func(probe.Probe) {
		time.Sleep(2 * interval) // time is what the probe measures
	})
}
